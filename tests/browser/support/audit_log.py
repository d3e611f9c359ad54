"""An audit log that is made up, with more entries than anybody makes in a test."""

import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Route

from .notifications import ago

BEGINNING = 50


def entry(number: int, action: str, actor: dict[str, Any] | None = None, subject: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """What was done so many hours ago."""
    made = {"id": f"e{number}", "at": ago(hours=number), "actor": actor or {"kind": "linklet"}, "action": action, "subject": subject, "from": None, "to": None}
    return made | {"address_hash": None, "correlation_id": f"019adcb1-5a4e-7c11-9d2f-0b6c8f3e{number:04}"} | more


def person(user_id: str, name: str | None = None) -> dict[str, Any]:
    return {"kind": "person", "user_id": user_id, "name": name}


@dataclass
class AuditLog:
    """Answers what the application asks about it, and notes what that was. The newest entry is first."""

    rows: list[dict[str, Any]]
    path: str = "**/api/workspace/audit"
    asked: list[dict[str, str]] = field(default_factory=list)

    @property
    def answers(self) -> dict[str, Any]:
        return {self.path: self.answer, f"{self.path}?*": self.answer}

    def answer(self, route: Route) -> None:
        url = urllib.parse.urlsplit(route.request.url)
        query = dict(urllib.parse.parse_qsl(url.query))
        self.asked.append(query)
        found = [row for row in self.rows if fits(row, query)]
        # New entries don't move what follows an old one.
        begin = next((at + 1 for at, row in enumerate(found) if row["id"] == query.get("after")), 0)
        end = begin + BEGINNING
        following = found[end - 1]["id"] if end < len(found) else None
        if query.get("format") != "csv":
            return route.fulfill(json={"entries": found[begin:end], "next_cursor": following})
        head = {"Link": f'<?{urllib.parse.urlencode(query | {"after": following})}>; rel="next"'} if following else {}
        lines = ["id,action", *(f"{row['id']},{row['action']}" for row in found[begin:end])]
        return route.fulfill(body="".join(f"{line}\r\n" for line in lines), content_type="text/csv", headers=head)


def fits(row: dict[str, Any], query: dict[str, str]) -> bool:
    action, actor = query.get("action", ""), query.get("actor", "")
    is_of_kind = action in ("", row["action"], row["action"].split(".")[0])
    return is_of_kind and actor in ("", *row["actor"].values()) and query.get("from", "") <= row["at"] <= query.get("to", "9")
