"""Notifications that are made up: the API’s part of them, in memory."""

import datetime
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Route

KINDS = {
    "problem": ["target.down", "target.up", "url.expired", "url.exhausted"],
    "milestone": ["milestone.reached"],
    "deletion": ["url.deleted", "url.purged"],
    "change": ["url.updated", "url.activated", "url.deactivated"],
    "creation": ["url.created"],
    "job": ["job.finished"],
}


def ago(**before: float) -> str:
    """As the API writes times."""
    when = datetime.datetime.now(datetime.UTC) - datetime.timedelta(**before)
    return when.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def notification(event_type: str, about: str, message: str, status: str = "sent", **before: float) -> dict[str, Any]:
    """One notification about a link, a monitored URL, whose id begins with `t_`, or a job."""
    created_at = ago(**before)
    subject = {"job_id" if event_type == "job.finished" else "target_id" if about.startswith("t_") else "short_code": about}
    return {"id": f"{event_type}:{about}:{created_at}", "event_type": event_type, "status": status, "created_at": created_at, "sent_at": None, "message": message} | subject


@dataclass
class Feed:
    """Answers what the application asks about notifications, and notes it."""

    rows: list[dict[str, Any]]
    seen_at: str | None = None
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)

    @property
    def answers(self) -> dict[str, Any]:
        return {"**/api/notifications?*": self.list, "**/api/notifications/seen": self.mark}

    def list(self, route: Route) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(route.request.url).query)
        self.asked.append(query)
        types = [each for kind in query.get("kind", KINDS) for each in KINDS[kind]]
        rows = sorted((row for row in self.rows if row["event_type"] in types), key=lambda row: row["created_at"], reverse=True)
        begin, limit = int(query.get("after", ["0"])[0]), int(query["limit"][0])
        end = begin + limit
        body = {"notifications": rows[begin:end], "next_cursor": str(end) if end < len(rows) else None}
        route.fulfill(json=body | ({} if begin else {"seen_at": self.seen_at}))

    def mark(self, route: Route) -> None:
        self.seen_at = route.request.post_data_json["seen_at"]
        self.marked.append(self.seen_at)
        route.fulfill(status=204)
