"""Answers of the API for how a Linklet may be run, and for what is rare in one."""

import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Route

from .answers import ago
from .api import PASSWORD, Account, Api

PAUSED_AT = "2026-11-12T11:25:00.000Z"
# What says of a workspace that it is neither paused nor closed.
OPEN = {"paused_at": None, "closed_at": None, "restorable_until": None}
# The workspace that is paused or closed.
NAME = "Harbour Lamps"

# How people register: `GET /api/auth/registration`.
REGISTRATION = "**/api/auth/registration"
HERE = {"password_login": True, "oidc": []}
DOMAINS = HERE | {"registration": "domains", "domains": ["example.com", "example.org"], "takes_password": False, "sends_mail": True}
INVITED = HERE | {"registration": "invited", "domains": None, "takes_password": False, "sends_mail": False}
ACME, MOCK = {"id": "acme", "name": "Acme"}, {"id": "mock", "name": "Mock"}
# People sign in at providers: only there, or with a password as well.
ONLY_ELSEWHERE = DOMAINS | {"password_login": False, "oidc": [ACME, MOCK]}
ALSO_ELSEWHERE = ONLY_ELSEWHERE | {"registration": "open", "domains": None, "takes_password": True, "password_login": True}

# How somebody signs in: `GET /api/me/identities`.
IDENTITIES = "**/api/me/identities"

# What an invitation is for: `POST /api/invitations/look`.
LOOK = "**/api/invitations/look"
TO_REGISTER = {"workspace": None, "invited_by": None, "role": None, "email": "grace@example.com", "expires_at": "2126-11-28T16:41:12.105Z"}
TO_JOIN = TO_REGISTER | {"workspace": "Analytical Engines", "invited_by": "Ada Lovelace", "role": "member"}


def public_answers(view: str) -> dict[str, Any]:
    """What a view of whoever comes needs, since the tokens in the tests' addresses are made up."""
    return {LOOK: TO_REGISTER if "email=" in view else TO_JOIN}


def in_no_workspace(email: str) -> dict[str, Any]:
    """For somebody whose only membership is paused."""
    me = {"user_id": "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a21", "email": email, "full_name": None, "verified": True, "pending_email": None, "undeliverable": False, "last_login_at": None, "updated_at": "2026-01-12T09:30:00.000Z", "workspace_id": None, "role": None}
    return {"**/api/me": me, "**/api/me/workspaces": {"workspaces": [paused_workspace()]}}


def as_account(account: Account, **more: Any) -> dict[str, Any]:
    """The account as it is, but for this."""
    return {"**/api/me": lambda route: route.fulfill(json=account.call("GET", "/api/me") | more) if route.request.method == "GET" else route.fallback()}


def own_session(number: int, **more: Any) -> dict[str, Any]:
    made = {"id": f"s{number}", "began_at": PAUSED_AT, "renewed_at": None, "expires_at": "2126-11-28T16:41:12.105Z"}
    return made | {"device": "Firefox on Linux", "country": "NO", "is_current": number == 0, "remembered": False} | more


def paused_workspace() -> dict[str, Any]:
    row = {"workspace_id": "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7b01", "name": NAME, "slug": "harbour-lamps-9c2e55", "role": "member"}
    return row | OPEN | {"joined_at": "2026-08-03T09:00:00.000Z", "paused_at": PAUSED_AT}


def with_paused_workspace(account: Account) -> dict[str, Any]:
    """Beside those that the account has."""
    mine = account.call("GET", "/api/me/workspaces")["workspaces"]
    return {"**/api/me/workspaces": {"workspaces": [*mine, paused_workspace()]}}


def closed_workspace(role: str = "admin") -> dict[str, Any]:
    """It was closed two days ago."""
    return paused_workspace() | {"paused_at": None, "role": role, "closed_at": ago(hours=48), "restorable_until": ago(hours=-120)}


def in_closed_workspace(email: str) -> dict[str, Any]:
    """For somebody whose only workspace is closed."""
    return in_no_workspace(email) | {"**/api/me/workspaces": {"workspaces": [closed_workspace()]}}


def paused_member(name: str) -> dict[str, Any]:
    email = f"{name.lower()}@example.com"
    joined = {"user_id": "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a22", "email": email, "full_name": name, "role": "member"}
    return joined | {"joined_at": "2026-08-03T09:00:00.000Z", "paused_at": PAUSED_AT}


def paused_key(name: str) -> dict[str, Any]:
    made = {"prefix": "lk_live_h3KdW9xa", "name": name, "scopes": ["links:read"], "created_by": "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a22"}
    return made | {"created_at": "2026-08-03T09:00:00.000Z", "expires_at": None, "last_used_at": None, "is_active": False, "paused_at": PAUSED_AT}


def identity(provider: dict[str, str] | None, **more: Any) -> dict[str, Any]:
    """Of Ada at a provider, or at one that is no longer configured."""
    made = {"id": (provider or {"id": "gone"})["id"] * 8, "provider": provider, "issuer": "https://id.example.com", "email": "ada@example.com"}
    return made | {"connected_at": "2026-08-03T09:00:00.000Z"} | more


SIGNING_IN = {"user_id": "u0", "email": "ada@example.com", "full_name": "Ada Lovelace", "role": "member", "has_password": True, "providers": ["Acme"], "by_groups_of": "Acme"}
# How people sign in, for admins: `GET /api/workspace/security`.
SECURITY = {
    "password_login": False, "registration": "domains", "domains": ["example.com"], "session_hours": 24, "providers": [ACME | {"issuer": "https://id.example.com"}],
    "trusted_domains": ["example.com"], "join": "viewer", "groups_claim": "groups", "groups": [{"group": "Engineering", "role": "member"}],
    "members": [SIGNING_IN, SIGNING_IN | {"user_id": "u1", "full_name": None, "providers": [], "by_groups_of": None}], "next_cursor": None, "has_more": False,
}


@dataclass
class Elsewhere:
    """How somebody signs in, where providers are made up: each sends them back at once."""

    api: Api
    has_password: bool = True
    identities: list[dict[str, Any]] = field(default_factory=list)
    registration: dict[str, Any] = field(default_factory=lambda: ALSO_ELSEWHERE)
    # What the way back says, if nothing comes of it.
    refused: str = ""
    is_proven: bool = False
    # What was done, with which body.
    done: list[tuple[str, Any]] = field(default_factory=list)
    # What is connected on the way back.
    connecting: str = ""

    @property
    def answers(self) -> dict[str, Any]:
        proven = {path: self.prove for path in ["**/api/me", "**/api/workspace", "**/api/auth/password", IDENTITIES, f"{IDENTITIES}/*"]}
        return proven | {REGISTRATION: self.registration, "**/api/auth/proof": self.leave, "**/elsewhere": self.come_back}

    def prove(self, route: Route) -> None:
        """Refuses what needs a proof, and does it otherwise."""
        method, path = route.request.method, urllib.parse.urlsplit(route.request.url).path
        if method == "GET" and path.endswith("/identities"):
            return route.fulfill(json={"has_password": self.has_password, "identities": self.identities})
        if method == "GET":
            return route.fallback()
        body = route.request.post_data_json
        given = body.get("password") or body.get("current")
        if given not in (None, PASSWORD):
            return problem(route, 401, "invalid_credentials")
        if given is None and not self.is_proven:
            return problem(route, 403, "proof_required")
        self.done.append((method, body))
        if path.endswith("/auth/password"):
            self.has_password = method == "POST"
        if method == "DELETE" and "/identities/" in path:
            self.identities = [one for one in self.identities if not path.endswith(one["id"])]
        if method == "POST" and path.endswith("/identities"):
            self.connecting = body["provider"]
            return self.send_away(route)
        return route.fulfill(status=204)

    def leave(self, route: Route) -> None:
        self.is_proven = not self.refused
        self.send_away(route)

    def send_away(self, route: Route) -> None:
        route.fulfill(json={"url": f"{self.api.url}/elsewhere"})

    def come_back(self, route: Route) -> None:
        if self.connecting and not self.refused:
            self.identities = [*self.identities, identity(next(one for one in [ACME, MOCK] if one["id"] == self.connecting))]
        self.connecting = ""
        reason = f"?refused={self.refused}" if self.refused else ""
        route.fulfill(status=302, headers={"location": f"{self.api.app}#/signed-in{reason}"})


def problem(route: Route, status: int, code: str) -> None:
    route.fulfill(status=status, json={"status": status, "code": code, "detail": "not like this"}, content_type="application/problem+json")


@dataclass
class Closed:
    """Another workspace of the account, which only these answers call closed, until somebody brings it back."""

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
        return row | OPEN | (times if self.is_closed else {})

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
        return problem(route, 404, "workspace_not_found")
