"""Fills a workspace with links, to see lists, filters and pages at work: `make seed LINKS=1000`.

It goes through the API like any client, so it works against every system, and events flow as always. It registers an
account for the links and prints how to log in.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import random
import sys
import time
import urllib.request
import uuid

PASSWORD = "correct horse battery"
WORDS = ["spring", "sale", "rust", "news", "docs", "launch", "team", "summer"]


def call(method: str, url: str, body: object, token: str | None = None) -> dict[str, object]:
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def shorten(api: str, token: str, number: int) -> None:
    dice = random.Random(number)  # the same links in every run
    link = {
        "url": f"https://example.com/{dice.choice(WORDS)}/{number}",
        "title": f"{dice.choice(WORDS).title()} {number}",
        "tags": dice.sample(WORDS, dice.randrange(3)),
    }
    call("POST", f"{api}/api/shorten", link, token)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("links", type=int, nargs="?", default=1000)
    arguments = parser.parse_args()
    api = os.environ.get("API_URL", "").rstrip("/")
    if not api:
        sys.exit("API_URL names the system to fill; `make seed` sets it to the local one")

    account = {"email": f"seed-{uuid.uuid4().hex[:8]}@example.com", "password": PASSWORD}
    call("POST", f"{api}/api/auth/register", account)
    token = str(call("POST", f"{api}/api/auth/login", account)["token"])
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        for done, _ in enumerate(pool.map(lambda number: shorten(api, token, number), range(arguments.links)), start=1):
            if done % 500 == 0:
                print(f"{done} links after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    print(json.dumps(account))


if __name__ == "__main__":
    main()
