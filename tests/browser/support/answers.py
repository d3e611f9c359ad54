"""Answers of the API that are made up, where the real ones would take long to come about."""

import datetime
import random
import urllib.parse
from typing import Any

from playwright.sync_api import Route

HOSTS = ["doc.rust-lang.org", "www.example.com", "news.example.net", "xn--mgbh0fb.example", "shop.example.co.uk"]
TAGS = ["spring", "sale", "docs", "newsletter-august-2026", "launch", "فصل"]
ARABIC = ("الإصدار الجديد من دليل المستخدم للمطورين " * 13)[:500]
THAI = ("คู่มือผู้ใช้สำหรับนักพัฒนา " * 20)[:500]
TITLES = ["Spring sale", None, "Release notes", ARABIC, THAI, "<b>Bold</b>", None, "Quarterly report"]
LETTERS = "abcdefghkmnpqrstuvwxyzABCDEFG23456789"


def ago(**before: float) -> str:
    """As the API writes times."""
    when = datetime.datetime.now(datetime.UTC) - datetime.timedelta(**before)
    return when.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def query_of(route: Route) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(route.request.url).query))


def made_up_links(count: int) -> list[dict[str, Any]]:
    """The same in every run."""
    dice = random.Random(1)
    return [made_up_link(dice, number) for number in range(count)]


def made_up_link(dice: random.Random, number: int) -> dict[str, Any]:
    code = "".join(dice.choices(LETTERS, k=7))
    status = "active" if dice.random() < 0.9 else dice.choice(["inactive", "expired", "deleted"])
    path = f"articles/{dice.randrange(10**6)}/how-we-made-everything-faster-{number}?ref=mail&x={dice.randrange(10**9)}"
    return {
        "short_code": code,
        "short_url": f"https://go.example.com/{code}",
        "original_url": f"https://{HOSTS[number % len(HOSTS)]}/{path}",
        "title": TITLES[number % len(TITLES)],
        "description": None,
        "tags": dice.sample(TAGS, dice.randrange(5)),
        "watch": number % 9 == 0,
        "archived": False,
        "created_at": f"2026-{dice.randrange(1, 11):02}-{dice.randrange(1, 28):02}T10:00:00.000Z",
        "updated_at": "2026-10-01T10:00:00.000Z",
        "target_id": None,
        "expires_at": None,
        "max_clicks": None,
        "used": None,
        "is_active": status == "active",
        "status": status,
        "suspended_for": [],
        "total_clicks": dice.choice([0, 1, 17, 842, 1204, 12403, 1830221]),
        "created_by": "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a21",
        "created_by_name": None,
    }


def listed(links: list[dict[str, Any]]) -> dict[str, Any]:
    """The list of links consists of these, page by page."""

    def answer(route: Route) -> None:
        query = query_of(route)
        size, start = int(query.get("per_page", 20)), int(query.get("after", 0))
        end = start + size
        body = {"links": links[start:end], "total": None if start else len(links), "page": 1, "per_page": size}
        body |= {"total_pages": -(-len(links) // size), "next_cursor": str(end) if end < len(links) else None, "has_more": end < len(links)}
        route.fulfill(json=body)

    return {"**/api/links?*": answer}
