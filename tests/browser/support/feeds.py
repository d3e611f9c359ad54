"""Parts of the API that are made up, in memory, so that they have and take as much as a test wants: notifications, jobs, an audit log."""

import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Route

from .answers import ago, query_of

Row = dict[str, Any]


def part_after(rows: list[Row], last: str | None, size: int) -> tuple[list[Row], str | None]:
    """So many rows behind one, and the cursor behind them. New rows don't move what follows an old one."""
    begin = next((at + 1 for at, row in enumerate(rows) if row["id"] == last), 0)
    return rows[begin : begin + size], rows[begin + size - 1]["id"] if begin + size < len(rows) else None


KINDS = {
    "problem": ["target.down", "target.up", "url.expired", "url.exhausted"],
    "milestone": ["milestone.reached"],
    "deletion": ["url.deleted", "url.purged"],
    "change": ["url.updated", "url.activated", "url.deactivated"],
    "creation": ["url.created"],
    "job": ["job.finished"],
}


def notification(event_type: str, about: str, message: str, status: str = "sent", **before: float) -> Row:
    """One notification about a link, a monitored URL, whose id begins with `t_`, or a job."""
    created_at = ago(**before)
    subject = {"job_id" if event_type == "job.finished" else "target_id" if about.startswith("t_") else "short_code": about}
    return {"id": f"{event_type}:{about}:{created_at}", "event_type": event_type, "status": status, "created_at": created_at, "sent_at": None, "message": message} | subject


@dataclass
class Feed:
    """Answers what the application asks about notifications, and notes it."""

    rows: list[Row]
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
        last = query.get("after", [None])[0]
        part, following = part_after(rows, last, int(query["limit"][0]))
        route.fulfill(json={"notifications": part, "next_cursor": following, "has_more": following is not None} | ({} if last else {"seen_at": self.seen_at}))

    def mark(self, route: Route) -> None:
        self.seen_at = route.request.post_data_json["seen_at"]
        self.marked.append(self.seen_at)
        route.fulfill(status=204)


OVER = ("done", "failed", "cancelled")


def job(number: int, kind: str, state: str, *, by: str, name: str = "Ada Lovelace", **more: Any) -> Row:
    """One that was begun so many minutes ago."""
    made = {"id": f"019adcb1-5a4e-7c11-9d2f-0b6c8f3e7c{number:02}", "kind": kind, "state": state, "expected": 8, "seen": 0, "changed": 0, "failed": 0, "failures": [], "reason": None}
    made |= {"created_by": by, "created_by_name": name, "created_at": ago(minutes=number), "started_at": None if state == "queued" else ago(minutes=number)}
    return made | {"ended_at": ago(seconds=1) if state in OVER else None} | more


@dataclass
class Jobs:
    """Answers what the application asks about jobs, and notes which it stops. The newest is first."""

    rows: list[Row]
    stopped: list[str] = field(default_factory=list)

    @property
    def answers(self) -> dict[str, Any]:
        return {"**/api/jobs?*": self.list, "**/api/jobs/*": self.one}

    def change(self, number: int, **more: Any) -> None:
        """What has become of the one at this place."""
        row = self.rows[number]
        row |= more | ({"ended_at": ago()} if more.get("state") in OVER else {})
        row["seen"] = max(row["seen"], row["changed"] + row["failed"])

    def list(self, route: Route) -> None:
        query = query_of(route)
        part, following = part_after(self.rows, query.get("after"), int(query["limit"]))
        route.fulfill(json={"jobs": part, "next_cursor": following, "has_more": following is not None})

    def one(self, route: Route) -> None:
        row = next(row for row in self.rows if row["id"] == route.request.url.rsplit("/", 1)[1])
        if route.request.method == "DELETE":
            self.stopped.append(row["id"])
            row["state"] = {"queued": "cancelled", "running": "cancelling"}.get(row["state"], row["state"])
        route.fulfill(json=row)


BEGINNING = 50


def entry(number: int, action: str, actor: Row | None = None, subject: Row | None = None, **more: Any) -> Row:
    """What was done so many hours ago."""
    made = {"id": f"e{number}", "at": ago(hours=number), "actor": actor or by("linklet"), "action": action, "subject": subject, "from": None, "to": None}
    return made | {"device": None, "country": None, "address_hash": None, "correlation_id": f"019adcb1-5a4e-7c11-9d2f-0b6c8f3e{number:04}"} | more


def person(user_id: str, name: str | None = None) -> Row:
    return by("person", user_id=user_id, name=name)


def by(kind: str, **more: Any) -> Row:
    """Who has done something."""
    return {"kind": kind, "user_id": None, "name": None, "key_prefix": None} | more


@dataclass
class AuditLog:
    """Answers what the application asks about it, and notes what that was. The newest entry is first."""

    rows: list[Row]
    path: str = "**/api/workspace/audit"
    asked: list[dict[str, str]] = field(default_factory=list)

    @property
    def answers(self) -> dict[str, Any]:
        return {self.path: self.answer, f"{self.path}?*": self.answer}

    def answer(self, route: Route) -> None:
        query = query_of(route)
        self.asked.append(query)
        part, following = part_after([row for row in self.rows if fits(row, query)], query.get("after"), BEGINNING)
        if query.get("format") != "csv":
            return route.fulfill(json={"entries": part, "next_cursor": following, "has_more": following is not None})
        head = {"Link": f'<?{urllib.parse.urlencode(query | {"after": following})}>; rel="next"'} if following else {}
        lines = ["id,action", *(f"{row['id']},{row['action']}" for row in part)]
        return route.fulfill(body="".join(f"{line}\r\n" for line in lines), content_type="text/csv", headers=head)


def fits(row: Row, query: dict[str, str]) -> bool:
    action, actor = query.get("action", ""), query.get("actor", "")
    is_of_kind = action in ("", row["action"], row["action"].split(".")[0])
    return is_of_kind and actor in ("", *row["actor"].values()) and query.get("from", "") <= row["at"] <= query.get("to", "9")
