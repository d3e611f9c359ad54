"""What a user does first, with the client that was generated of docs/openapi.yaml: `tour.py URL ODD-LINK…`. `clients.py` runs it."""

import sys
import time
import uuid

import httpx
from linklet_client import AuthenticatedClient, Client
from linklet_client.api.accounts import log_in, register
from linklet_client.api.links import list_urls, shorten_url
from linklet_client.api.statistics import show_statistics
from linklet_client.models.credentials import Credentials
from linklet_client.models.new_account import NewAccount
from linklet_client.models.new_link import NewLink

DESTINATION = "https://doc.rust-lang.org/book/"
WAIT_SECONDS = 60


def main(url: str, *odd_links: str) -> None:
    # An answer that the document lacks ends the tour with an error.
    strict = {"base_url": url, "raise_on_unexpected_status": True, "timeout": httpx.Timeout(30)}
    stranger = Client(**strict)
    email, password = f"tour-{uuid.uuid4()}@example.com", "correct horse battery"
    account = register.sync(client=stranger, body=NewAccount(email=email, password=password))
    assert account.email == email, account
    login = log_in.sync(client=stranger, body=Credentials(email=email, password=password))
    ada = AuthenticatedClient(token=login.token, **strict)

    link = shorten_url.sync(client=ada, body=NewLink(url=DESTINATION, tags=["book"]))
    assert (link.original_url, link.tags, link.reused) == (DESTINATION, ["book"], False), link
    urls = list_urls.sync(client=ada).urls
    assert [(listed.short_code, listed.total_clicks) for listed in urls] == [(link.short_code, 0)], urls

    assert follow(link.short_url) == DESTINATION, link
    for odd in odd_links:
        location = follow(odd)
        assert httpx.URL(location).host == "example.com", location
    deadline = time.monotonic() + WAIT_SECONDS
    while (statistics := show_statistics.sync(link.short_code, client=stranger)).total_clicks != 1:
        assert time.monotonic() < deadline, statistics
        time.sleep(0.5)
    print("contract: the generated client has signed up, shortened, listed and read statistics")


def follow(url: str) -> str:
    return httpx.get(url, follow_redirects=False).headers["location"]


if __name__ == "__main__":
    main(*sys.argv[1:])
