"""Jobs that are made up: the API's part of them, in memory, so that they take as long as a test wants."""

import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Route

from .notifications import ago

OVER = ("done", "failed", "cancelled")


def job(number: int, kind: str, state: str, *, by: str, name: str = "Ada Lovelace", **more: Any) -> dict[str, Any]:
    """One that was begun so many minutes ago."""
    made = {"id": f"019adcb1-5a4e-7c11-9d2f-0b6c8f3e7c{number:02}", "kind": kind, "state": state, "expected": 8, "seen": 0, "changed": 0, "failed": 0, "failures": []}
    made |= {"created_by": by, "created_by_name": name, "created_at": ago(minutes=number), "started_at": None if state == "queued" else ago(minutes=number)}
    return made | {"ended_at": ago(seconds=1) if state in OVER else None} | more


@dataclass
class Jobs:
    """Answers what the application asks about jobs, and notes which it stops. The newest is first."""

    rows: list[dict[str, Any]]
    stopped: list[str] = field(default_factory=list)

    @property
    def answers(self) -> dict[str, Any]:
        return {"**/api/jobs?*": self.list, "**/api/jobs/*": self.one}

    def find(self, identity: str) -> dict[str, Any]:
        return next(row for row in self.rows if row["id"] == identity)

    def change(self, number: int, **more: Any) -> None:
        """What has become of the one at this place."""
        self.rows[number] |= more | ({"ended_at": ago()} if more.get("state") in OVER else {})
        self.rows[number]["seen"] = max(self.rows[number]["seen"], self.rows[number]["changed"] + self.rows[number]["failed"])

    def list(self, route: Route) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(route.request.url).query)
        after = query.get("after", [""])[0]
        # New jobs don't move what follows an old one.
        begin = next((at + 1 for at, row in enumerate(self.rows) if row["id"] == after), 0)
        end = begin + int(query["limit"][0])
        route.fulfill(json={"jobs": self.rows[begin:end], "next_cursor": self.rows[end - 1]["id"] if end < len(self.rows) else None})

    def one(self, route: Route) -> None:
        row = self.find(route.request.url.rsplit("/", 1)[1])
        if route.request.method == "DELETE":
            self.stopped.append(row["id"])
            row["state"] = {"queued": "cancelled", "running": "cancelling"}.get(row["state"], row["state"])
        route.fulfill(json=row)
