"""Fills a workspace, so that each page has something to show."""

from typing import Any

from .answers import ago
from .api import FIREFOX, Account

PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
RULES = [
    {"name": "iPhones", "url": "https://apps.example.com/sale", "conditions": [{"type": "device", "value": "ios"}, {"type": "language", "value": "nb"}]},
    {"url": "https://shop.example.com/mail", "conditions": [{"type": "query-param", "key": "ref", "value": "mail"}, {"type": "after-date", "value": "2026-05-03T10:00:00Z"}]},
]
# Who comes, from which page and country, and with which parameters.
VISITS = [
    (FIREFOX, "https://news.example/today", "NO", ""),
    (CHROME, "https://www.search.example/?q=linklet", "DE", "?utm_source=news&utm_medium=email&utm_campaign=spring"),
    (PHONE, "", "NO", "?qr=1"),
    (BOT, "", "", ""),
]


def fill(ada: Account) -> Account:
    ada.call("PATCH", "/api/workspace", {"destinations": "editable"})
    for number in range(12):
        ada.shorten(f"https://example.com/articles/{number}/how-we-made-everything-faster?ref=mail", tags=["news"] if number % 2 else [])
    ada.shorten("https://doc.rust-lang.org/std/", title="The standard library", tags=["rust", "docs", "guide"], watch=True)
    sale = ada.shorten("https://shop.example.com/sale", title="Spring sale", tags=["spring", "sale"])
    off = ada.shorten("https://example.org/winter", title="Winter sale", tags=["sale"])
    ada.call("PATCH", f"/api/links/{off}", {"is_active": False})
    for agent, referer, country, path in VISITS * 2:
        ada.api.click(sale, agent=agent, referer=referer, country=country, path=path)
    ada.call("POST", "/v1/targets", {"url": "https://status.example.com/health"})
    ada.call("POST", "/api/keys", {"name": "Nightly export", "scopes": ["links:read"]})
    ada.call("PATCH", "/api/tags/guide", {"name": "reference"})
    ada.wait_for_clicks(sale, len(VISITS) * 2)
    # Each page would say that the tag has its new name.
    ada.wait_for("/api/jobs", lambda answer: all(job["state"] not in ("queued", "running") for job in answer["jobs"]))
    ada.call("PUT", f"/api/links/{sale}/rules", {"rules": RULES, "variants": [{"name": "B", "url": "https://shop.example.com/sale/b", "weight": 30}]})
    return ada


def sale_of(ada: Account) -> str:
    """The code of the link that people follow."""
    return next(link["short_code"] for link in ada.links if "/sale" in link["original_url"])


def aged(ada: Account, code: str) -> dict[str, Any]:
    """Answers with which a link seems to be half a year old, so that ranges don't begin with it."""
    return {f"**/api/links/{code}": ada.call("GET", f"/api/links/{code}") | {"created_at": ago(days=180)}}
