"""A workspace that is made up as a whole, with months of history, for the pictures. Each request to the API is answered here."""

from __future__ import annotations

import datetime
import json
import math
import random
import re
import urllib.parse
import zoneinfo
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, Route

from .told import KINDS

@dataclass(frozen=True)
class Csv:
    """An answer that is a table."""

    text: str


# The same in each picture, so that they change only if the application does.
NOW = datetime.datetime(2026, 11, 12, 14, 25, tzinfo=datetime.UTC)
SHORT = "https://go.fjord.example"
SITE, SHOP = "https://www.fjord.example", "https://shop.fjord.example"
MAYA, JONAS, LIN = (f"019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a2{number}" for number in range(3))
WORKSPACE = "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7b00"
INVITATION_ID = "67b5dee7-8515-856f-99c4-a40f93940dfa"
SESSION = {"token": "eyJ.made.up", "expires_at": "2030-01-01T00:00:00.000Z", "email": "maya@fjord.example"}


def at(**ago: float) -> str:
    """As the API writes times."""
    return stamp(NOW - datetime.timedelta(**ago))


def stamp(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def link(code: str, url: str, title: str | None, clicks: int, days: float, tags: str = "", **more: Any) -> dict[str, Any]:
    made = {"short_code": code, "short_url": f"{SHORT}/{code}", "original_url": url, "title": title, "description": None}
    made |= {"tags": tags.split(), "watch": False, "archived": False, "created_at": at(days=days), "updated_at": at(days=days), "expires_at": None}
    return made | {"is_active": True, "status": "active", "total_clicks": clicks, "created_by": MAYA} | more


CAMPAIGN = "utm_source=newsletter&utm_medium=email&utm_campaign=winter-2026"
LINKS = [
    link("R7kPq2m", f"{SITE}/journal/how-we-photograph-glass", "How we photograph glass", 842, 0.05, "journal"),
    link("hTz4wVb", "https://www.example.org/awards/2026/shortlist/studios/fjord?year=2026", None, 276, 2, "press"),
    link("pX9cL3d", "https://docs.example.com/d/price-list-2027", "Price list 2027 (draft)", 17, 3, "internal", is_active=False, status="inactive", created_by=JONAS),
    link("wD6rF1e", f"{SITE}/ar/winter/gifts", "مجموعة الشتاء: دليل الهدايا", 661, 9, "winter press", created_by=LIN),
    link("Qm5tY7a", "https://video.example.com/watch?v=glassblowing-90", "Glassblowing in ninety seconds", 3178, 17, "journal social"),
    link("winter26", f"{SHOP}/collections/winter?{CAMPAIGN}", "Winter collection", 12403, 76, "winter newsletter", watch=True),
    link("openday", "https://tickets.example.com/e/fjord-open-day", "Open day tickets", 2204, 44, "event", expires_at=at(days=4), status="expired"),
    link("spring27", f"{SHOP}/collections/spring", "Spring collection", 0, 6, "spring newsletter", valid_from=at(days=-96), status="scheduled"),
    link("tasting", "https://tickets.example.com/e/tasting-menu", "Tasting menu, first hundred", 100, 12, "event café", max_clicks=100, used=100, exhausted_at=at(hours=5), status="exhausted", created_by=JONAS),
    link(
        "glass-app",
        f"{SITE}/app",
        "The app for collectors",
        2874,
        63,
        "app print",
        fallback_url=f"{SITE}/app/waiting-list",
        max_clicks=5000,
        used=2874,
        valid_from=at(days=60),
        expires_at=at(days=-120),
        is_protected=True,
        forward_query=True,
        has_rules=True,
        preview={"title": "Fjord for collectors", "description": "All pieces, their makers and their prices, in your pocket.", "image": f"{SITE}/app/card.png"},
    ),
    link("menu", "https://cafe.fjord.example/menu", "Café menu (table cards)", 5310, 96, "print café", watch=True, created_by=JONAS),
    link("jobs", f"{SITE}/jobs", "Jobs", 1930, 121, "hiring", watch=True),
    link("returns", f"{SHOP}/help/returns", "Returns and repairs", 412, 158, "print support", created_by=JONAS),
    link("map", "https://maps.example.com/place/fjord-studio", "How to find us", 980, 190, "print"),
    link("press", f"{SITE}/press/kit.zip", "Press kit", 731, 214, "press"),
    link("lamp", f"{SHOP}/products/harbour-lamp", "Harbour lamp", 6627, 240, "newsletter"),
    link("b4NvK8s", "https://www.example.net/reviews/design/harbour-lamp-one-year-later", None, 388, 245, "press", created_by=LIN),
]
LINKS.sort(key=lambda one: one["created_at"], reverse=True)
ARCHIVED = [
    link("summer25", f"{SHOP}/collections/summer-2025", "Summer collection 2025", 9871, 402, "summer newsletter", archived=True),
    link("xmas25", f"{SITE}/winter/gifts-2025", "Gifts 2025", 4410, 330, "winter", archived=True, created_by=LIN),
    link("k3PwT9c", "https://tickets.example.com/e/harbour-market-2025", None, 1206, 371, "event", archived=True, is_active=False, status="inactive"),
]
APP = next(one for one in LINKS if one["short_code"] == "glass-app")
STAR = next(one for one in LINKS if one["short_code"] == "winter26")
TAGS = [("newsletter", 41), ("press", 26), ("journal", 22), ("print", 19), ("winter", 14), ("social", 12), ("event", 9), ("café", 4)]
TAGGED_CLICKS = {"newsletter": 61_204, "press": 4_187, "journal": 9_310, "print": 27_466, "winter": 23_075, "social": 8_020, "event": 3_512, "café": 5_410}
MEMBERS = [
    {"user_id": MAYA, "email": "maya@fjord.example", "full_name": "Maya Lindqvist", "role": "admin", "joined_at": at(days=395)},
    {"user_id": JONAS, "email": "jonas@fjord.example", "full_name": "Jonas Weber", "role": "member", "joined_at": at(days=310)},
    {"user_id": LIN, "email": "lin@fjord.example", "full_name": "Lin Haddad", "role": "member", "joined_at": at(days=96)},
    {"user_id": LIN[:-1] + "9", "email": "press@agency.example", "role": "viewer", "joined_at": at(days=31)},
]
KEYS = [
    {"prefix": "sk_live_Tq8ZbR2m", "name": "Shop: receipts", "scopes": ["links:read", "links:write"], "created_by": MAYA, "created_at": at(days=201), "last_used_at": at(minutes=4), "is_active": True},
    {"prefix": "sk_live_h3KdW9xa", "name": "Weekly report", "scopes": ["analytics:read"], "created_by": JONAS, "created_at": at(days=88), "last_used_at": at(days=3), "is_active": True},
    {"prefix": "sk_live_0pLm7VcE", "name": "Newsletter import", "scopes": ["links:write"], "created_by": MAYA, "created_at": at(days=20), "last_used_at": None, "is_active": True, "expires_at": at(days=-40)},
]
# With the link or the monitored URL that each is about.
NOTIFICATIONS = [
    ("target.down", 0.03, "https://cafe.fjord.example/menu", "https://cafe.fjord.example/menu is down: it answered 503."),
    ("url.created", 0.05, "R7kPq2m", f"Your short link R7kPq2m to {SITE}/journal/how-we-photograph-glass was created."),
    ("milestone.reached", 0.22, "winter26", "Your short link winter26 has reached 10,000 clicks."),
    ("target.up", 1.1, f"{SITE}/jobs", f"{SITE}/jobs is up again. It was down since {at(days=1.12)}."),
    ("target.down", 1.12, f"{SITE}/jobs", f"{SITE}/jobs is down: it did not answer in time."),
    ("url.created", 2.1, "hTz4wVb", "Your short link hTz4wVb to https://www.example.org/awards/2026/shortlist/studios/fjord?year=2026 was created."),
    ("url.deleted", 2.9, "pX9cL3d", "Your short link pX9cL3d to https://docs.example.com/d/price-list-2027 was deleted."),
    ("url.exhausted", 0.21, "tasting", "Your short link tasting was used 100 times, as often as it may be."),
    ("job.finished", 3.4, "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7c02", "Your job to archive links has ended: 312 links were changed, 2 were not."),
    ("url.expired", 4.02, "openday", "Your short link openday has expired."),
    ("milestone.reached", 6.3, "menu", "Your short link menu has reached 5,000 clicks."),
]
# How long ago each became what it is, in days, and how fast it answers.
TARGETS = [
    ("https://cafe.fjord.example/menu", "down", 0.03, 240),
    (f"{SITE}/", "up", 41, 92),
    (f"{SITE}/jobs", "up", 1.1, 118),
    (f"{SHOP}/collections/winter", "up", 76, 164),
    (f"{SHOP}/checkout/health", "up", 180, 71),
    ("https://tickets.example.com/e/fjord-open-day", "up", 12, 310),
]
SHARES: dict[str, list[tuple[str, float]]] = {
    "country": [("NO", 0.31), ("SE", 0.15), ("DE", 0.11), ("DK", 0.08), ("GB", 0.06), ("US", 0.06), ("AE", 0.05), ("FR", 0.04), ("NL", 0.04), ("unknown", 0.1)],
    "device": [("mobile", 0.55), ("desktop", 0.26), ("bot", 0.14), ("tablet", 0.05)],
    "browser": [("Mobile Safari", 0.34), ("Chrome", 0.21), ("Chrome Mobile", 0.18), ("Firefox", 0.09), ("Googlebot", 0.08), ("Edge", 0.06), ("Samsung Internet", 0.04)],
    "os": [("iOS", 0.36), ("Android", 0.23), ("Windows", 0.17), ("Mac OS X", 0.1), ("unknown", 0.1), ("Linux", 0.04)],
    "destination": [("iPhones", 0.41), ("target", 0.22), ("Android", 0.2), ("B", 0.11), ("rule 3", 0.06)],
    "source": [("campaign", 0.42), ("link", 0.27), ("direct", 0.2), ("qr", 0.11)],
    "campaign": [("newsletter / email / winter-2026", 0.29), ("shop / banner / winter-2026", 0.08), ("poster / print / -", 0.05)],
    "referer": [
        ("https://newsletter.fjord.example/", 0.27),
        ("https://www.search.example/", 0.13),
        ("https://photos.example/", 0.08),
        ("https://news.example/design", 0.06),
        (f"{SITE}/journal", 0.05),
    ],
}
VISITORS = [
    ("mobile", "Mobile Safari", "18.5", "iOS", "NO", "Bergen", "https://newsletter.fjord.example/"),
    ("desktop", "Firefox", "145.0", "Linux", "DE", "Hamburg", "https://www.search.example/"),
    ("mobile", "Chrome Mobile", "141.0", "Android", "SE", "Göteborg", None),
    ("desktop", "Chrome", "141.0", "Windows", "NO", "Oslo", "https://newsletter.fjord.example/"),
    ("bot", "Googlebot", "2.1", "unknown", "US", None, None),
    ("tablet", "Mobile Safari", "18.5", "iOS", "GB", "Leeds", "https://photos.example/"),
]


# How many days ago one was sent, or read a day late, and by how much it lifted the clicks.
NEWSLETTERS = {4: 2.2, 3: 1.5, 18: 1.9, 17: 1.3, 39: 1.9, 38: 1.3, 53: 1.7}


def clicks_on(day: datetime.date) -> int:
    """More on working days, growing over the weeks, with a newsletter now and then."""
    dice = random.Random(day.toordinal())
    age = (NOW.date() - day).days
    base = 190 * math.exp(-age / 55) * (0.62 if day.weekday() >= 5 else 1) * dice.uniform(0.85, 1.15)
    base *= NEWSLETTERS.get(age, 1)
    return round(base * (0.6 if age == 0 else 1)) if age <= 76 else 0


def people_of(clicks: int) -> int:
    return round(clicks * 0.86)


ZONE = zoneinfo.ZoneInfo("Europe/Zurich")
# How much more or less often than the star, whose numbers all have.
GROWTH = {"winter26": 1.0, "menu": 0.55, "lamp": 0.72, "Qm5tY7a": 0.4, "jobs": 0.22, "glass-app": 0.6}
PARAMETERS = {"country": "country", "device": "device", "browser": "browser", "os": "os", "destination": "destination", "referrer": "referer", "source": "source", "campaign": "campaign"}
# What answers call breakdowns, and their values.
MEMBERS_OF_ANSWERS = {
    "countries": ("country", "country"),
    "devices": ("device", "device"),
    "browsers": ("browser", "browser"),
    "operating_systems": ("os", "os"),
    "destinations": ("destination", "destination"),
    "referers": ("referer", "referer"),
    "sources": ("source", "source"),
    "campaigns": ("campaign", "campaign"),
}


def parted(total: int, kind: str) -> list[tuple[str, int]]:
    return [(name, round(total * share)) for name, share in SHARES[kind]]


def counted(total: int, kind: str, name: str) -> list[dict[str, Any]]:
    return [{name: value, "count": count} for value, count in parted(total, kind)]


def moment(text: str, is_end: bool = False) -> datetime.datetime:
    """A moment, or a date for the beginning or the end of that day."""
    if len(text) > 10:
        return datetime.datetime.fromisoformat(text)
    start = datetime.datetime.fromisoformat(text).replace(tzinfo=ZONE)
    return start + datetime.timedelta(days=int(is_end))


def clicks_at(code: str, hour: datetime.datetime) -> int:
    """More by day than by night."""
    if hour > NOW or code not in GROWTH:
        return 0
    curve = max(0.05, math.sin((hour.hour - 5) / 24 * 2 * math.pi) * 0.5 + 0.6)
    dice = random.Random(f"{code} {hour.toordinal()} {hour.hour}")
    return round(GROWTH[code] * clicks_on(hour.date()) / 14 * curve * dice.uniform(0.7, 1.3))


def share_of(query: dict[str, str]) -> float:
    """How many of all clicks fit."""
    audiences = query["audience"].split(",")
    share = (0.86 if "human" in audiences else 0) + (0.14 if "bot" in audiences else 0)
    for parameter, kind in PARAMETERS.items():
        shares = dict(SHARES[kind])
        share *= sum(shares.get(value, 0.2) for value in query[parameter].split(",")) if parameter in query else 1
    return share


def points_of(code: str, start: datetime.datetime, end: datetime.datetime, query: dict[str, str]) -> tuple[list[dict[str, Any]], list[list[int]]]:
    share, is_hourly = share_of(query), query["interval"] == "hour"
    people = 1.0 if query["audience"] == "human" else 0.86 if "human" in query["audience"] else 0.0
    counts: dict[str, int] = {}
    week = [[0] * 24 for _ in range(7)]
    hour = start.astimezone(datetime.UTC)
    while hour < end:
        local = hour.astimezone(ZONE)
        clicks = round(clicks_at(code, local) * share)
        period = hour.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:00:00Z") if is_hourly else str(local.date())
        counts[period] = counts.get(period, 0) + clicks
        week[local.weekday()][local.hour] += clicks
        hour += datetime.timedelta(hours=1)
    return [{"period": period, "clicks": clicks, "people": round(clicks * people)} for period, clicks in counts.items() if clicks], week


def sums(points: list[dict[str, Any]]) -> dict[str, Any]:
    people = sum(point["people"] for point in points)
    return {"total_clicks": sum(point["clicks"] for point in points), "human_clicks": people, "unique_visitors": round(people * 0.71), "points": points}


def answer_of(code: str, query: dict[str, str]) -> dict[str, Any] | Csv:
    """The numbers of a time."""
    start, end = moment(query["from"]), moment(query["to"], is_end=True)
    before = start - (end - start)
    points, week = points_of(code, start, end, query)
    if "format" in query:
        return Csv("period,clicks,people\n" + "".join(f"{point['period']},{point['clicks']},{point['people']}\n" for point in points))
    total = sum(point["clicks"] for point in points)
    earlier = {"from": stamp(before), "to": stamp(start)} | sums(points_of(code, before, start, query)[0])
    shown = {"short_code": code, "from": stamp(start), "to": stamp(end), "tz": query["tz"], "interval": query["interval"], "as_of": stamp(NOW.replace(second=0))}
    parts = {member: counted(total, kind, name) for member, (kind, name) in MEMBERS_OF_ANSWERS.items()}
    for member, (kind, name) in MEMBERS_OF_ANSWERS.items():
        parameter = next(one for one, other in PARAMETERS.items() if other == kind)
        if parameter in query:
            parts[member] = [{name: value, "count": total // len(query[parameter].split(","))} for value in query[parameter].split(",")]
    destinations = parts["destinations"] if code == APP["short_code"] else []
    return shown | sums(points) | parts | {"destinations": destinations, "week": week, "before": earlier}


def latest_clicks(query: dict[str, str]) -> dict[str, Any]:
    dice = random.Random(3)
    ago, clicks = 24.0, []
    wanted = query.get("audience", "human,bot").split(",")
    visitors = [one for one in VISITORS if ("bot" if one[0] == "bot" else "human") in wanted and one[4] in query.get("country", one[4]).split(",")]
    for number in range(min(int(query["limit"]), 100) if visitors else 0):
        device, browser, version, system, country, city, referer = dice.choice(visitors)
        click = {"id": f"c{number:04}", "clicked_at": at(seconds=ago), "audience": "bot" if device == "bot" else "human"}
        click |= {"device": device, "browser": browser, "browser_version": version, "os": system, "country": country, "city": city}
        campaign = "newsletter / email / winter-2026" if referer and "newsletter" in referer else None
        source = "campaign" if campaign else "link" if referer else "direct"
        clicks.append(click | {"referer": referer, "source": source, "campaign": campaign, "user_agent": "Mozilla/5.0"})
        ago += dice.expovariate(1 / 400)
    return {"clicks": clicks}


# How much more a whole workspace is followed than its star, and the links with a tag.
WHOLE, TAGGED = 2.6, 0.8


def factor_of(query: dict[str, str]) -> float:
    return TAGGED if "tag" in query else WHOLE


def compared(days: Iterable[int], before: Iterable[int], factor: float) -> dict[str, int]:
    """Of the whole workspace, which has more than one link."""
    clicks, clicks_before = (round(factor * sum(clicks_of_age(age) for age in ages)) for ages in (days, before))
    return {"clicks": clicks, "people": people_of(clicks), "clicks_before": clicks_before, "people_before": round(0.97 * people_of(clicks_before))}


def ages_of(query: dict[str, str]) -> range:
    """How long ago the days of a time are, the latest first."""
    first, last = ((NOW.date() - datetime.date.fromisoformat(query[name])).days for name in ("from", "to"))
    return range(last, first + 1)


def clicks_of_age(age: int) -> int:
    return clicks_on(NOW.date() - datetime.timedelta(days=age))


def period(query: dict[str, str], ages: range) -> dict[str, Any]:
    """A time beside the one before it, which nobody knows if it is long ago."""
    before = range(ages.stop, ages.stop + len(ages))
    counts = compared(ages, before, factor_of(query))
    if before.stop <= 60:
        return {"from": query["from"], "to": query["to"]} | counts
    return {"from": query["from"], "to": query["to"]} | counts | {"clicks_before": None, "people_before": None}


def overview(query: dict[str, str]) -> dict[str, Any]:
    factor, tag = factor_of(query), query.get("tag", "")
    ages = ages_of(query) if "from" in query else range(60)
    clicks = {"today": compared([0], [1], factor), "last_7_days": compared(range(7), range(7, 14), factor), "last_30_days": compared(range(30), range(30, 60), factor)}
    days = [(NOW.date() - datetime.timedelta(days=age), round(factor * clicks_of_age(age))) for age in reversed(ages)]
    top = sorted((one for one in LINKS if one["status"] == "active" and tag in ["", *one["tags"]]), key=lambda one: -one["total_clicks"])[:8]
    names = ("short_code", "short_url", "title", "original_url")
    tops = [{name: one[name] for name in names} | {"clicks": one["total_clicks"] // 5, "people": people_of(one["total_clicks"] // 5)} for one in top]
    down = [{"id": target_id(number), "url": url, "since": at(days=days)} for number, (url, status, days, _) in enumerate(TARGETS) if status == "down" and tag in ["", "print"]]
    counts = {"total": 148, "active": 137, "inactive": 3, "scheduled": 1, "exhausted": 1, "expired": 6, "suspended": 0, "deleted": 0, "archived": 23}
    tagged = dict.fromkeys(counts, 0) | {"total": dict(TAGS).get(tag, 0), "active": dict(TAGS).get(tag, 0)}
    about = ({"tag": tag} if tag else {}) | ({"period": period(query, ages)} if "from" in query else {})
    return about | {
        "as_of": at(seconds=20),
        "links": tagged if tag else counts,
        "clicks": clicks,
        "days": [{"date": str(day), "clicks": count, "people": people_of(count)} for day, count in days],
        "top_links": tops,
        "down": down,
    }


def breakdowns(query: dict[str, str]) -> dict[str, Any]:
    share = share_of(query)
    total = round(share * factor_of(query) * sum(clicks_of_age(age) for age in ages_of(query)))
    people = total if query["audience"] == "human" else round(0.86 * total) if "human" in query["audience"] else 0
    parts = {member: counted(total, kind, name) for member, (kind, name) in MEMBERS_OF_ANSWERS.items() if member != "destinations"}
    about = {name: query[name] for name in ("tag", "from", "to") if name in query}
    return {"as_of": at(seconds=20), "total_clicks": total, "human_clicks": people} | about | parts


def links(query: dict[str, str]) -> dict[str, Any]:
    wanted = [one for one in LINKS + ARCHIVED if query.get("status", one["status"]) == one["status"] and query.get("tag", "") in ["", *one["tags"]]]
    archived = query.get("archived", "false")
    found = [one for one in wanted if archived in ["all", str(one["archived"]).lower()]]
    total = 148 if found == LINKS else len(found)
    page = {"total": total, "page": 1, "per_page": 50, "total_pages": -(-total // 50), "next_cursor": None}
    return {"links": found, "archived_left_out": len(wanted) - len(found) if archived == "false" else 0} | page


def target_id(number: int) -> str:
    return f"t_2hxlieh6rcTXYNb8u8Fu2{number}"


def target(number: int) -> dict[str, Any]:
    url, status, days, _ = TARGETS[number]
    return listed(number) | {"status": status, "status_since": at(days=days)} | {"url": url}


def listed(number: int) -> dict[str, Any]:
    url = TARGETS[number][0]
    host = urllib.parse.urlsplit(url).hostname
    return {"id": target_id(number), "url": url, "canonical_url": url, "host": host, "created_at": at(days=180)}


def with_health(number: int) -> dict[str, Any]:
    return target(number) | {"latest": results(number, {"limit": "1"})["items"][0]}


def results(number: int, query: dict[str, str]) -> dict[str, Any]:
    dice = random.Random(number)
    _, status, days, latency = TARGETS[number]
    checks = []
    for check in range(int(query.get("limit", "100"))):
        is_down = status == "down" and check * 5 / 1440 < days
        slow = 3 if dice.random() < 0.03 else 1
        took = round(latency * slow * dice.uniform(0.8, 1.3) * (1 + 0.25 * math.sin(check / 18)))
        checks.append({"checked_at": at(minutes=2 + 5 * check), "status_code": 503 if is_down else 200, "latency_ms": took, "error": None})
    return {"items": checks}


def notifications(query: dict[str, str]) -> dict[str, Any]:
    targets = {url: target_id(number) for number, (url, *_) in enumerate(TARGETS)}
    shown = [
        {"id": f"n{number}", "event_type": kind, "status": "sent", "created_at": at(days=days), "sent_at": at(days=days), "message": text}
        | ({"target_id": targets[about]} if about in targets else {"job_id" if kind == "job.finished" else "short_code": about})
        for number, (kind, days, about, text) in enumerate(NOTIFICATIONS)
    ]
    types = [each for kind in (query["kind"].split(",") if "kind" in query else KINDS) for each in KINDS[kind]]
    return {"notifications": [one for one in shown if one["event_type"] in types], "next_cursor": None, "seen_at": at(hours=8)}


def one_link(code: str) -> dict[str, Any] | None:
    found = next((one for one in LINKS + ARCHIVED if one["short_code"] == code), None)
    if found is None:
        return None
    health = {"status": "up", "checked_at": at(minutes=2), "status_code": 200, "latency_ms": 164}
    return found | ({"health": health} if found["watch"] else {})


RULES = [
    {"name": "iPhones", "url": "https://apps.example.com/fjord-for-collectors/id6448311069", "conditions": [{"type": "device", "value": "ios"}]},
    {"name": "Android", "url": "https://play.example.com/store/apps/details?id=example.fjord.collectors", "conditions": [{"type": "device", "value": "android"}]},
    {"url": f"{SITE}/no/app", "conditions": [{"type": "language", "value": "nb"}, {"type": "before-date", "value": at(days=-50)}]},
]
ROUTING = {"rules": RULES, "variants": [{"name": "B", "url": f"{SITE}/app/short", "weight": 30}], "countries_known": False}
HISTORY: list[tuple[float, str, dict[str, Any]]] = [
    (0.2, "Maya Lindqvist", {"max_clicks": {"from": 2000, "to": 5000}}),
    (3, "Jonas Weber", {"routing": {"from": {"rules": RULES[:2], "variants": []}, "to": {"rules": RULES, "variants": ROUTING["variants"]}}}),
    (11, "Maya Lindqvist", {"original_url": {"from": f"{SITE}/app/beta?utm_source=print", "to": f"{SITE}/app"}, "fallback_url": {"from": None, "to": f"{SITE}/app/waiting-list"}}),
    (19, "Lin Haddad", {"is_protected": {"from": False, "to": True}, "expires_at": {"from": at(days=-30), "to": at(days=-120)}}),
    (40, "Jonas Weber", {"is_active": {"from": False, "to": True}}),
]


def history() -> dict[str, Any]:
    return {"history": [{"at": at(days=days), "by": MAYA, "by_name": name, "changes": changes} for days, name, changes in HISTORY], "next_cursor": "20"}


def job(number: int, kind: str, state: str, minutes: float, *, by: str = MAYA, name: str | None = "Maya Lindqvist", **more: Any) -> dict[str, Any]:
    """One that was begun so long ago."""
    is_over = state in ("done", "failed", "cancelled")
    made = {"id": f"019adcb1-5a4e-7c11-9d2f-0b6c8f3e7c{number:02}", "kind": kind, "state": state, "expected": None, "seen": 0, "changed": 0, "failed": 0, "failures": []}
    made |= {"created_by": by, "created_by_name": name, "created_at": at(minutes=minutes)}
    made |= {"started_at": None if state == "queued" else at(minutes=minutes), "ended_at": at(minutes=minutes - 1.5) if is_over else None}
    return made | more


FAILURES = [{"short_code": code, "code": "invalid_input", "detail": "a link has at most 20 tags"} for code in ("menu", "Qm5tY7a")]
JOBS = [
    job(1, "rename_tag", "done", 130, **{"from": "Café", "to": "café"}, expected=4, changed=4),
    job(2, "archive", "done", 4_900, filter={"tag": ["summer"], "created_before": at(days=300)}, expected=314, changed=312, failed=2, failures=[failure | {"detail": "the link was changed at the same time"} for failure in FAILURES]),
    job(3, "switch_off", "cancelled", 11_800, by=JONAS, name="Jonas Weber", filter={"search": "autumn", "tag": ["event", "-press"]}, expected=1_840, changed=655),
    job(4, "set_expiry", "failed", 19_000, by=LIN, name="Lin Haddad", filter={"created_by": LIN}, expires_at=at(days=-49), expected=96, changed=12, reason={"code": "rights_lost", "detail": "the role was taken away"}),
]
RUNNING_JOBS = [
    job(6, "tag", "queued", 0.2, by=JONAS, name="Jonas Weber", tag="outlet", filter={"tag": ["winter"], "archived": "all"}, expected=14),
    job(5, "rename_tag", "running", 0.6, **{"from": "print", "to": "on paper"}, expected=4_213, seen=1_200, changed=1_150, failed=2, failures=FAILURES),
    *JOBS,
]


def one_job(identity: str) -> dict[str, Any]:
    return next(one for one in RUNNING_JOBS if one["id"] == identity)


def entry(number: int, days: float, who: str | None, action: str, subject: tuple[str, str, str | None] | None = None, **more: Any) -> dict[str, Any]:
    """Of the workspace's trail: what a person has done, or else a key, whose prefix begins with `sk_`, or Linklet itself."""
    people = {member["user_id"]: member.get("full_name") for member in MEMBERS}
    actor = {"kind": "linklet"} if who is None else {"kind": "key", "key_prefix": who} if who.startswith("sk_") else {"kind": "person", "user_id": who, "name": people.get(who)}
    about = subject and dict(zip(("kind", "id", "name"), subject, strict=True))
    made = {"id": f"e{number}", "at": at(days=days), "actor": actor, "action": action, "subject": about, "from": None, "to": None}
    return made | {"address_hash": f"{number:016x}", "correlation_id": WORKSPACE[:-2] + f"{number:02}"} | more


GONE = "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a99"
TRAIL = [
    entry(1, 0.02, MAYA, "member.role_changed", ("member", JONAS, "Jonas Weber"), **{"from": "viewer", "to": "member"}),
    entry(2, 0.11, MAYA, "link.changed", ("link", "tasting", None), **{"from": "max_clicks", "to": "max_clicks"}),
    entry(3, 0.9, "sk_live_Tq8ZbR2m", "link.deleted", ("link", "openday", None)),
    entry(4, 2, MAYA, "key.created", ("key", "sk_live_0pLm7VcE", "Newsletter import")),
    entry(5, 3.4, None, "job.finished", ("job", JOBS[1]["id"], None), to="done"),
    entry(6, 5, MAYA, "invitation.created", ("invitation", INVITATION_ID, None), to="member"),
    entry(7, 9, GONE, "member.left", ("member", GONE, None)),
    entry(8, 12, MAYA, "member.removed", ("member", GONE[:-1] + "8", None)),
    entry(9, 31, LIN[:-1] + "9", "member.joined", ("member", LIN[:-1] + "9", None), to="viewer"),
    entry(10, 40, MAYA, "workspace.changed", ("workspace", WORKSPACE, "Fjord Studio"), **{"from": "name: Fjord", "to": "name: Fjord Studio"}),
    entry(11, 60, GONE, "link.purged", ("link", "xmas24", None)),
    entry(12, 88, JONAS, "key.created", ("key", "sk_live_h3KdW9xa", "Weekly report")),
    entry(13, 120, GONE, "target.deleted", ("target", "t_2hxlieh6rcTXYNb8u8Fu29", "https://www.fjord.example/sale")),
    entry(14, 395, MAYA, "workspace.founded", ("workspace", WORKSPACE, "Fjord Studio")),
]


def trail(query: dict[str, str]) -> dict[str, Any] | Csv:
    """What fits, by its beginning."""
    if "format" in query:
        return Csv("id,at,actor,action\r\n" + "".join(f"{one['id']},{one['at']},{one['actor']['kind']},{one['action']}\r\n" for one in TRAIL))
    fits = [one for one in TRAIL if one["action"].startswith(query.get("action", "")) and query.get("actor", "") in ["", *one["actor"].values()]]
    return {"entries": fits, "next_cursor": "14" if fits == TRAIL else None}


ME = {"email": SESSION["email"], "full_name": "Maya Lindqvist", "role": "admin", "user_id": MAYA, "verified": True, "last_login_at": "2026-03-02T08:12:44.310Z", "updated_at": "2026-01-12T09:30:00.000Z", "workspace_id": WORKSPACE, "pending_email": None, "undeliverable": False}
MINE = {"workspace_id": WORKSPACE, "name": "Fjord Studio", "slug": "fjord", "role": "admin", "joined_at": at(days=395)}
OTHER = {"workspace_id": WORKSPACE[:-1] + "1", "name": "Harbour Lamps", "slug": "harbour", "role": "member", "joined_at": at(days=70)}
THIRD = {"workspace_id": WORKSPACE[:-1] + "2", "name": "Nordic Ceramics Fair 2026", "slug": "ceramics-fair", "role": "viewer", "joined_at": at(days=61)}
PAUSED = {"paused_at": at(hours=3)}
CLOSED = {"closed_at": at(hours=3), "restorable_until": at(days=-7, hours=3)}
SPACE = {"workspace_id": WORKSPACE, "name": "Fjord Studio", "slug": "fjord", "destinations": "editable", "settings": {}, "created_at": at(days=395), "updated_at": at(days=395)}
def own_entry(number: int, days: float, action: str, device: str = "Firefox on Linux", country: str = "NO", **more: Any) -> dict[str, Any]:
    """Of the person's own trail."""
    made = entry(number, days, MAYA, action, (action.split(".")[0], MAYA, None))
    return made | {"device": device, "country": country} | more


OWN_TRAIL = [
    own_entry(1, 0.2, "session.began"),
    own_entry(2, 1.4, "account.mail_changed", **{"from": "all", "to": "important"}),
    own_entry(3, 6, "session.guessed", "Chrome on Windows", "DE"),
    own_entry(4, 9, "session.began", "Mobile Safari on iOS"),
    own_entry(5, 30, "account.password_changed"),
    own_entry(6, 30.01, "session.ended", "Edge on Windows", "SE"),
    own_entry(7, 71, "account.undeliverable", "", "") | {"actor": {"kind": "linklet"}},
    own_entry(8, 120, "account.password_reset", "", "") | {"actor": {"kind": "operator"}},
    own_entry(9, 213, "account.address_changed"),
    own_entry(10, 395, "account.registered"),
]
SESSIONS = [
    {"id": f"s{number}", "began_at": at(days=days), "renewed_at": None if renewed is None else at(days=renewed), "expires_at": at(days=days - 90 if remembered else days - 1), "device": device, "country": country, "is_current": number == 2, "remembered": remembered}
    for number, (days, renewed, device, country, remembered) in enumerate([(0.1, None, "Chrome on Windows", "DE", False), (9, 0.3, "Mobile Safari on iOS", "NO", True), (62, 0.01, "Firefox on Linux", "NO", True), (75, 31, None, None, True)])
]
REGISTRATION = {"registration": "open", "domains": None, "takes_password": True, "sends_mail": True}
BY_DOMAIN = {"registration": "domains", "domains": ["fjord.example", "fjord-studio.example"], "takes_password": False}
BY_INVITATION = {"registration": "invited", "takes_password": False, "sends_mail": False}
INVITATION = {"id": INVITATION_ID, "email": "sofia@fjord.example", "role": "member", "created_at": at(days=1), "expires_at": at(days=-6), "invited_by": MAYA, "mailed_at": at(days=1)}


@dataclass(frozen=True)
class Refusal:
    """An answer that is a problem document."""

    status: int
    code: str


Answer = Callable[[list[str], dict[str, str]], Any]


def made(code: str, url: str, **more: Any) -> dict[str, Any]:
    link = {"short_code": code, "short_url": f"{SHORT}/{code}", "original_url": url, "created_at": at(), "tags": ["summer"], "reused": False}
    return {"status": 200 if more.get("reused") else 201, "link": link | more}


def refused(status: int, code: str, detail: str) -> dict[str, Any]:
    return {"status": status, "problem": {"type": f"urn:linklet:problem:{code}", "title": "No", "status": status, "code": code, "detail": detail, "error": detail, "correlation_id": WORKSPACE}}


# What somebody pastes from a spreadsheet, and what becomes of it.
PASTED = [
    f"{SHOP}/collections/summer?utm_source=newsletter&utm_medium=email&utm_campaign=summer-2027\tsummer27",
    f"{SHOP}/products/harbour-lamp",
    f"{SITE}/journal/a-summer-on-the-pier",
    "https://tickets.example.com/e/midsummer-dinner\tmidsummer",
    f"{SITE}/jobs\tjobs",
    f"{SHOP}/products/sea-glass-carafe",
]
MADE = [
    made("summer27", PASTED[0].split("\t")[0]),
    made("lamp", PASTED[1], tags=["newsletter"], reused=True, ignored=["tags"]),
    made("Vx8dK2n", PASTED[2]),
    made("midsummer", PASTED[3].split("\t")[0]),
    refused(409, "short_code_taken", "this code is taken"),
    made("c5TyQ9w", PASTED[5]),
]


def several(results: list[dict[str, Any]]) -> Answer:
    return lambda path, query: {"results": [{"index": index} | result for index, result in enumerate(results)]}


ANSWERS: dict[str, Answer] = {
    r"/api/auth/registration": lambda path, query: REGISTRATION,
    r"/api/me": lambda path, query: ME,
    r"/api/me/workspaces": lambda path, query: {"workspaces": [MINE]},
    r"/api/me/sessions": lambda path, query: {"sessions": SESSIONS},
    r"/api/me/notifications": lambda path, query: {"mail": "important"},
    r"/api/me/audit": lambda path, query: {"entries": OWN_TRAIL, "next_cursor": "10"},
    r"/api/me/export": lambda path, query: {"items": [{"kind": "account"} | ME], "next_cursor": None},
    r"/api/auth/switch": lambda path, query: {"token": SESSION["token"], "expires_at": SESSION["expires_at"]},
    r"/api/auth/address/keep": lambda path, query: {},
    r"/api/unsubscribe": lambda path, query: {},
    r"/api/workspace": lambda path, query: SPACE,
    r"/api/workspace/members": lambda path, query: {"members": MEMBERS},
    r"/api/workspace/audit": lambda path, query: trail(query),
    r"/api/workspace/invitations": lambda path, query: {"invitations": [INVITATION]},
    r"/api/invitations/look": lambda path, query: {"workspace": "Fjord Studio", "invited_by": "Maya Lindqvist", "role": "member", "email": INVITATION["email"], "expires_at": INVITATION["expires_at"]},
    r"/api/keys": lambda path, query: {"keys": KEYS},
    r"/api/jobs": lambda path, query: {"jobs": JOBS, "next_cursor": None},
    r"/api/jobs/([\w-]+)": lambda path, query: one_job(path[0]),
    r"/api/links": lambda path, query: links(query),
    r"/api/links/bulk": several(MADE),
    r"/api/links/([\w-]+)": lambda path, query: one_link(path[0]),
    r"/api/links/[\w-]+/rules": lambda path, query: ROUTING,
    r"/api/links/[\w-]+/rules/test": lambda path, query: {"url": RULES[0]["url"], "name": "iPhones", "rule": 1, "variant": None},
    r"/api/links/[\w-]+/history": lambda path, query: history(),
    r"/api/codes/[\w-]+": lambda path, query: {"available": True},
    r"/api/tags": lambda path, query: {"as_of": at(seconds=20), "tags": [{"tag": tag, "links": count, "clicks": TAGGED_CLICKS[tag]} for tag, count in TAGS], "total": len(TAGS)},
    r"/api/overview": lambda path, query: overview(query),
    r"/api/overview/breakdowns": lambda path, query: breakdowns(query),
    r"/api/stats/([\w-]+)": lambda path, query: answer_of(path[0], query),
    r"/api/stats/[\w-]+/clicks": lambda path, query: latest_clicks(query),
    r"/api/notifications": lambda path, query: notifications(query),
    r"/api/notifications/seen": lambda path, query: {},
    r"/v1/targets": lambda path, query: {"items": [with_health(number) for number in range(len(TARGETS))], "next_page_token": None},
    r"/v1/targets/t_\w+(\d)": lambda path, query: target(int(path[0])),
    r"/v1/targets/t_\w+(\d)/results": lambda path, query: results(int(path[0]), query),
}

# What is otherwise in another Linklet, or for somebody else in this one.
DOMAINS: dict[str, Answer] = {
    r"/api/auth/registration": lambda path, query: REGISTRATION | BY_DOMAIN,
    r"/api/auth/register": lambda path, query: {"user_id": MAYA, "email": "sofia@fjord.example", "workspace_id": WORKSPACE},
}
# Another address waits, and mail to the present one came back.
PENDING: dict[str, Answer] = {r"/api/me": lambda path, query: ME | {"pending_email": "maya.lindqvist@northern-glass.example", "pending_until": at(hours=-20)}}
BOUNCED: dict[str, Answer] = {r"/api/me": lambda path, query: ME | {"undeliverable": True}}
SPENT: dict[str, Answer] = {path: lambda path, query: Refusal(404, "token_invalid") for path in (r"/api/auth/address/keep", r"/api/unsubscribe")}
TAKEN: dict[str, Answer] = {r"/api/auth/verify": lambda path, query: Refusal(409, "email_taken")}
# Alone in one, with others in another, and the only admin of a third one.
LEAVING: dict[str, Answer] = {
    r"/api/me": lambda path, query: ME | {"workspace_id": OTHER["workspace_id"], "role": "member"},
    r"/api/me/workspaces": lambda path, query: {"workspaces": [OTHER, THIRD | PAUSED]},
}
ALONE: dict[str, Answer] = {r"/api/workspace/members": lambda path, query: {"members": MEMBERS[:1]}}
INVITED: dict[str, Answer] = {r"/api/auth/registration": lambda path, query: REGISTRATION | BY_INVITATION}
NOWHERE: dict[str, Answer] = {
    r"/api/me": lambda path, query: ME | {"workspace_id": None, "role": None},
    r"/api/me/workspaces": lambda path, query: {"workspaces": [MINE | PAUSED]},
    r"/api/workspaces": lambda path, query: Refusal(403, "founding_closed"),
}
# Some minutes after the workspace was brought back.
SUSPENDED: dict[str, Answer] = {
    r"/api/links": lambda path, query: links(query) | {"links": [one | ({"status": "suspended"} if number % 3 else {}) for number, one in enumerate(LINKS)]},
    r"/api/links/([\w-]+)": lambda path, query: (one_link(path[0]) or {}) | {"status": "suspended"},
    r"/api/overview": lambda path, query: overview(query) | {"links": overview(query)["links"] | {"active": 57, "suspended": 80}},
}
CLOSED_LAST: dict[str, Answer] = {
    r"/api/me": lambda path, query: ME | {"workspace_id": None, "role": None},
    r"/api/me/workspaces": lambda path, query: {"workspaces": [MINE | CLOSED]},
}
# One of which the person was an admin, and one of which they were none.
CLOSED_OTHERS: dict[str, Answer] = {
    r"/api/me/workspaces": lambda path, query: {"workspaces": [MINE, OTHER | CLOSED | {"role": "admin"}, THIRD | CLOSED]},
}
RECLAIMED: dict[str, Answer] = {
    r"/api/workspace/members": lambda path, query: {"members": [MEMBERS[0], *(one | PAUSED for one in MEMBERS[2:]), MEMBERS[1]]},
    r"/api/keys": lambda path, query: {"keys": [KEYS[2], KEYS[1] | PAUSED, KEYS[0]]},
    r"/api/me/workspaces": lambda path, query: {"workspaces": [MINE, OTHER | PAUSED]},
}
# Of so many clicks, only the latest are looked at.
PART: dict[str, Answer] = {
    r"/api/stats/([\w-]+)": lambda path, query: answer_of(path[0], query | {"from": str((NOW - datetime.timedelta(days=40)).date())})
    | {"from": stamp(moment(query["from"])), "before": None, "covers": {"clicks": 18_204, "of": 41_960, "since": at(days=40)}},
}
COVERED = {"covers": {"clicks": 40_731, "of": 41_960}}
# Of so many links, only the days of those with most clicks are added up.
LARGE: dict[str, Answer] = {
    r"/api/overview": lambda path, query: overview(query) | ({"period": period(query, ages_of(query)) | COVERED} if "from" in query else {}),
    r"/api/overview/breakdowns": lambda path, query: breakdowns(query) | COVERED,
}
# More links than are read at once.
MORE: dict[str, Answer] = {
    r"/api/links": lambda path, query: links(query) | {"total": 4213, "total_pages": 85, "next_cursor": "eyJjIjo1MH0"},
    # What runs, and how many links would be changed.
    r"/api/jobs": lambda path, query: {"jobs": [], "next_cursor": None} | {"matching": 4213, "is_exact": True},
}
RUNNING: dict[str, Answer] = {r"/api/jobs": lambda path, query: {"jobs": RUNNING_JOBS, "next_cursor": "4"}}
UNTAGGED: dict[str, Answer] = {r"/api/tags": lambda path, query: {"as_of": at(seconds=20), "tags": [], "total": 0}}
MANY_TAGS: dict[str, Answer] = {
    r"/api/tags": lambda path, query: {"as_of": at(minutes=200), "tags": [{"tag": f"campaign {number}", "links": 900 - number, "clicks": 90_000 - 170 * number} for number in range(1, 501)], "total": 1_204},
}
FIXED: dict[str, Answer] = {r"/api/workspace": lambda path, query: SPACE | {"destinations": "fixed"}}
OTHERS_LINK: dict[str, Answer] = {r"/api/auth/verify": lambda path, query: Refusal(403, "forbidden")}


def answer_everything(page: Page, system: str, otherwise: dict[str, Answer] | None = None) -> None:
    """All of it is at `SHORT`. The API's answers are made up; files of the application and QR codes are the system's."""
    answers = ANSWERS | (otherwise or {})

    def answer(route: Route) -> None:
        url = urllib.parse.urlsplit(route.request.url)
        path = url.path
        if not path.startswith(("/api/", "/v1/")):
            return route.fulfill(response=route.fetch(url=system + route.request.url.removeprefix(SHORT)))
        for pattern, answer_of in answers.items():
            found = re.fullmatch(pattern, path)
            if found:
                body = answer_of(list(found.groups()), {name: ",".join(values) for name, values in urllib.parse.parse_qs(url.query).items()})
                if body is None:
                    body = Refusal(404, "short_code_not_found")
                if isinstance(body, Csv):
                    return route.fulfill(body=body.text, content_type="text/csv; charset=utf-8")
                if isinstance(body, Refusal):
                    problem = {"status": body.status, "code": body.code, "detail": "not here"}
                    return route.fulfill(status=body.status, body=json.dumps(problem), content_type="application/problem+json")
                return route.fulfill(body=json.dumps(body), content_type="application/json")
        raise AssertionError(f"Nothing is made up for {path}")

    page.route(f"{SHORT}/**", answer)
