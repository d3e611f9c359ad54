"""Fills a workspace with links, to see lists, filters and pages at work: `make seed LINKS=1000`.

It goes through the API like any client, so it works against every system, and events flow as always. It registers an
account for the links and prints how to log in.

An address may create ten links a minute in the local system, and a person as many as they like. That system believes the
header of an edge about who the client is, so every ten links come from another address. Elsewhere the limits hold, and this
waits as it is told to.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import ipaddress
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

PASSWORD = "correct horse battery"
LINKS_PER_ADDRESS = 10
WORDS = ["spring", "sale", "rust", "news", "docs", "launch", "team", "summer"]


def call(method: str, url: str, body: object = None, token: str = "", **headers: str) -> Any:
    """The answer, after waiting for it as long as a limit says."""
    headers |= {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers, method=method)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 429:
                raise
            time.sleep(int(error.headers.get("Retry-After") or 1))


def shorten(api: str, token: str, first: int, number: int) -> None:
    dice = random.Random(number)  # the same links in every run
    link = {
        "url": f"https://example.com/{dice.choice(WORDS)}/{number}",
        "title": f"{dice.choice(WORDS).title()} {number}",
        "tags": dice.sample(WORDS, dice.randrange(3)),
    }
    address = ipaddress.IPv4Address(first + number // LINKS_PER_ADDRESS)
    call("POST", f"{api}/api/shorten", link, token, **{"CloudFront-Viewer-Address": f"{address}:443"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("links", type=int, nargs="?", default=1000)
    arguments = parser.parse_args()
    api = os.environ.get("API_URL", "").rstrip("/")
    if not api:
        sys.exit("API_URL names the system to fill; `make seed` sets it to the local one")

    account = {"email": f"seed-{uuid.uuid4().hex[:8]}@example.com", "password": PASSWORD}
    call("POST", f"{api}/api/auth/register", account)
    token = call("POST", f"{api}/api/auth/login", account)["token"]
    first = random.SystemRandom().randrange(0xF0000000, 0xFF000000)  # an address of 240.0.0.0/4, where nobody is
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        created = pool.map(lambda number: shorten(api, token, first, number), range(arguments.links))
        for done, _ in enumerate(created, start=1):
            if done % 500 == 0:
                print(f"{done} links after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    print(json.dumps(account))


if __name__ == "__main__":
    main()
