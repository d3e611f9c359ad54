"""A workspace that seems to be closed, until somebody brings it back."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Route

from .api import Account
from .notifications import ago

NAME = "Harbour Lamps"


@dataclass
class Closed:
    """Another workspace of the account, which only these answers call closed."""

    account: Account
    role: str = "admin"
    # How long it can still be brought back.
    hours: float = 160
    name: str = NAME
    is_closed: bool = True
    # How often it is not yet known to be open, once it was brought back.
    unknown: int = 0

    def __post_init__(self) -> None:
        self.made = self.account.call("POST", "/api/workspaces", {"name": self.name})

    @property
    def slug(self) -> str:
        return self.made["slug"]

    @property
    def row(self) -> dict[str, Any]:
        times = {"closed_at": ago(hours=168 - self.hours), "restorable_until": ago(hours=-self.hours)}
        row = {"workspace_id": self.made["workspace_id"], "name": self.name, "slug": self.slug, "role": self.role, "joined_at": self.made["created_at"]}
        return row | (times if self.is_closed else {})

    @property
    def answers(self) -> dict[str, Any]:
        return {"**/api/me/workspaces": self.mine, "**/api/workspaces/*/restore": self.restore, "**/api/auth/switch": self.switch}

    def mine(self, route: Route) -> None:
        others = [one for one in self.account.call("GET", "/api/me/workspaces")["workspaces"] if one["slug"] != self.slug]
        route.fulfill(json={"workspaces": [*others, self.row]})

    def restore(self, route: Route) -> None:
        assert route.request.method == "POST" and f"/{self.made['workspace_id']}/" in route.request.url
        self.is_closed = False
        route.fulfill(json=self.made)

    def switch(self, route: Route) -> None:
        is_unknown = self.slug in (route.request.post_data or "") and (self.is_closed or self.unknown > 0)
        if not is_unknown:
            return route.continue_()
        self.unknown -= 0 if self.is_closed else 1
        problem = {"status": 404, "code": "workspace_not_found", "detail": "there is no such workspace"}
        return route.fulfill(status=404, json=problem, content_type="application/problem+json")
