"""Fills a workspace with links, to see lists, filters and pages at work: `make seed LINKS=1000 CLICKS=900`. It prints how to log in first.

It goes through the API like any client, so it works against every system, and events flow as always. Only in the local system, whose
tables and queues it may write, the first links are half a year old and have months of clicks. These go the way of clicks that redirect
could not store, so they are stored and counted like any other.

An address may create ten links a minute in the local system, and a person as many as they like. That system believes the
header of an edge about who the client is, so every ten links come from another address. Elsewhere the limits hold, and this
waits as it is told to.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import ipaddress
import json
import os
import random
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from .client import Unavailable, call

LINKS_PER_ADDRESS = 10
PAUSES = [1, 2, 4, 8, 16]  # seconds after a 503; the same link is made once, since a URL is reused
WORDS = ["spring", "sale", "rust", "news", "docs", "launch", "team", "summer"]
# What is clicked most: titles, where they lead to, and their tags.
CLICKED = [
    ("Winter collection", "shop.example.com/winter?utm_source=newsletter&utm_medium=email&utm_campaign=winter", "winter newsletter"),
    ("Harbour lamp", "shop.example.com/products/harbour-lamp", "newsletter"),
    ("Café menu (table cards)", "cafe.example.com/menu", "print café"),
    ("Glassblowing in ninety seconds", "video.example.com/watch?v=glassblowing-90", "journal social"),
    ("The app for collectors", "www.example.com/app", "app print"),
    ("Open day tickets", "tickets.example.com/e/open-day", "event"),
    ("مجموعة الشتاء: دليل الهدايا", "www.example.com/ar/winter/gifts", "winter press"),
    ("Press kit", "www.example.com/press/kit.zip", "press"),
    ("How to find us", "maps.example.com/place/studio", "print"),
    ("Returns and repairs", "shop.example.com/help/returns", "print support"),
]
DAYS = 180
# Who comes: browser, page before, country, city, and how often of a hundred times.
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile Safari/604.1"
CHROME = "Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 %sSafari/537.36"
VISITORS = [
    (IPHONE, "https://newsletter.example/", "NO", "Bergen", 34),
    (CHROME % ("Linux; Android 15; Pixel 9", "Mobile "), "", "SE", "Göteborg", 20),
    (CHROME % ("Windows NT 10.0; Win64; x64", ""), "https://www.search.example/", "DE", "Hamburg", 18),
    ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "https://news.example/design", "GB", "Leeds", 14),
    ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "", "US", "", 14),
]
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def sign_up(api: str, name: str, **more: str) -> dict[str, Any]:
    """A new account, with how to log in, and a session."""
    account = {"email": f"{name}-{uuid.uuid4().hex[:10]}@example.com", "password": "correct horse battery"}
    return call("POST", f"{api}/api/auth/register", account | more) | account | call("POST", f"{api}/api/auth/login", account)


def link(number: int) -> dict[str, Any]:
    if number < len(CLICKED):
        title, url, tags = CLICKED[number]
        return {"url": f"https://{url}", "title": title, "tags": tags.split()}
    dice = random.Random(number)  # the same links in every run
    url = f"https://example.com/{dice.choice(WORDS)}/{number}"
    return {"url": url, "title": f"{dice.choice(WORDS).title()} {number}", "tags": dice.sample(WORDS, dice.randrange(3))}


def clicks(item: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    """Clicks on a link as redirect sends them to the analytics queue if it can't store them. There are more and more of them, and more
    by day than by night."""
    dice, now = random.Random(item["short_code"]["S"]), datetime.now(UTC)
    identity = {name: item[name]["S"] for name in ("short_code", "generation", "workspace_id", "user_id")}
    for _ in range(count):
        at = now - timedelta(days=dice.expovariate(1 / 40) % DAYS)
        at = min(at.replace(hour=round(dice.triangular(0, 23, 15))), now)
        agent, referer, country, city, _ = dice.choices(VISITORS, [share for *_, share in VISITORS])[0]
        address = hashlib.sha256(str(dice.randrange(count)).encode()).hexdigest()
        where = {name: text for name, text in (("referer", referer), ("city", city)) if text}
        visitor = {"ip_hash": address, "user_agent": agent, "country": country, "has_scanned": dice.random() < 0.1} | where
        yield identity | visitor | {"click_id": click_id(at, dice), "correlation_id": "seed"}


def click_id(at: datetime, dice: random.Random) -> str:
    millis, digits = int(at.timestamp() * 1000), ""
    for _ in range(7):
        millis, digit = divmod(millis, 62)
        digits = BASE62[digit] + digits
    return digits + "".join(dice.choices(BASE62, k=8))


def age_and_click(api: str, codes: list[str], count_of_all: int) -> None:
    """Makes the links half a year old, and has them clicked since: the second half as often as the first, the third a third. shared/dynamodb/src/links/item.rs tells of the attributes."""
    import boto3  # which others that call the API by this module lack

    from ..stack import outputs

    stack, tables, sqs = outputs(), boto3.client("dynamodb"), boto3.client("sqs")
    of_first = count_of_all / sum(1 / number for number in range(1, len(codes) + 1))
    wanted = {code: round(of_first / number) for number, code in enumerate(codes, start=1)}
    for code, count in wanted.items():
        at = f"{datetime.now(UTC) - timedelta(days=DAYS + len(code)):%Y-%m-%dT%H:%M:%S.000Z}"
        item = tables.update_item(
            TableName=stack["LinksTableName"],
            Key={"pk": {"S": f"LINK#{code}"}, "sk": {"S": "LINK"}},
            UpdateExpression="SET created_at = :at, by_workspace_sk = :place, is_news = :no",
            ExpressionAttributeValues={":at": {"S": at}, ":place": {"S": f"{at}#{code}"}, ":no": {"BOOL": False}},
            ReturnValues="ALL_NEW",
        )["Attributes"]
        messages = [{"Id": str(number), "MessageBody": json.dumps(click)} for number, click in enumerate(clicks(item, count))]
        for first in range(0, count, 10):
            sqs.send_message_batch(QueueUrl=stack["AnalyticsQueueUrl"], Entries=messages[first : first + 10])
    while any(call("GET", f"{api}/api/stats/{code}")["total_clicks"] < count for code, count in wanted.items()):
        time.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1000)
    parser.add_argument("--clicks", type=int, default=900)
    arguments, api = parser.parse_args(), os.environ["API_URL"].rstrip("/")
    account = sign_up(api, "seed", full_name="Maya Lindqvist")
    print(json.dumps({name: account[name] for name in ("email", "password")}), flush=True)
    nobody = random.SystemRandom().randrange(0xF0000000, 0xFF000000)  # an address of 240.0.0.0/4, where nobody is
    started = time.monotonic()

    def shorten(number: int) -> str:
        edge = f"{ipaddress.IPv4Address(nobody + number // LINKS_PER_ADDRESS)}:443"
        create = ("POST", f"{api}/api/shorten", link(number), account["token"], {"CloudFront-Viewer-Address": edge})
        for pause in PAUSES:
            with contextlib.suppress(Unavailable):
                return call(*create)["short_code"]
            time.sleep(pause)
        return call(*create)["short_code"]

    codes = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        for code in pool.map(shorten, range(arguments.links)):
            codes.append(code)
            if len(codes) % 500 == 0:
                print(f"{len(codes)} links after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    if "AWS_ENDPOINT_URL" in os.environ:
        age_and_click(api, codes[: len(CLICKED)], arguments.clicks)


if __name__ == "__main__":
    main()
