"""A client of the API: makes the accounts, links and clicks that a test looks at in the browser."""

import ipaddress
import json
import os
import random
import re
import time
import urllib.parse
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from infra.local.client import Refused, call, send

PASSWORD = "correct horse battery"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
# Statistics, lists and the overview follow within a second or two; the overview is added up once a minute at most.
FOLLOWS_WITHIN = 90
MAIL_WITHIN = 60


def new_address() -> str:
    """What the local system takes for a client of its own, so that nobody uses up another one's budget of requests. It is
    one of 240.0.0.0/4, where nobody is."""
    return f"{ipaddress.IPv4Address(random.SystemRandom().randrange(0xF0000000, 0xFF000000))}:443"


def new_email(name: str = "ada") -> str:
    return f"{name}-{uuid.uuid4().hex[:10]}@example.com"


class Api:
    """The system under test."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    @property
    def app(self) -> str:
        return f"{self.url}/app"

    @property
    def host(self) -> str:
        return urllib.parse.urlsplit(self.url).hostname or ""

    def call(self, method: str, path: str, body: Any = None, *, token: str = "", headers: dict[str, str] | None = None) -> Any:
        return call(method, self.url + path, body, token, {"CloudFront-Viewer-Address": new_address()} | (headers or {}), waits=False)

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> int:
        return send(method, self.url + path, body, headers).status

    def register(self, full_name: str | None = None, name: str = "ada") -> "Account":
        email = new_email(name)
        more = {"full_name": full_name} if full_name else {}
        self.call("POST", "/api/auth/register", {"email": email, "password": PASSWORD} | more)
        return self.log_in(email)

    def log_in(self, email: str) -> "Account":
        session = self.call("POST", "/api/auth/login", {"email": email, "password": PASSWORD})
        return Account(self, email, session["token"], session["expires_at"])

    def next_second(self) -> None:
        """Waits for it: tokens of one second are alike, and all that began before one was ended have ended."""
        time.sleep(1.01 - time.time() % 1)

    def click(self, code: str, *, agent: str = FIREFOX, referer: str = "", path: str = "", country: str = "") -> None:
        """Somebody follows a link."""
        given = {"User-Agent": agent, "Referer": referer, "CloudFront-Viewer-Country": country, "CloudFront-Viewer-Address": new_address()}
        status = self.send("GET", f"/{code}{path}", None, {name: value for name, value in given.items() if value})
        if not 300 <= status < 400:
            raise Refused(f"The link {code} answered {status}.")

    def linked_view(self, email: str, view: str) -> str:
        """Waits for a mail with a link to such a view of the application, and gives what stands behind `#/`."""
        until = time.monotonic() + MAIL_WITHIN
        while time.monotonic() < until:
            for mail in self.mails():
                found = re.search(rf"/app#/({view}\S*)", mail["BodyText"])
                if email in mail["To"] and found:
                    return found[1]
            time.sleep(0.2)
        raise Refused(f"No mail with a link to #/{view} has reached {email}.")

    def mails(self) -> list[dict[str, Any]]:
        """Those of the local system, none of which has left the machine."""
        url = urllib.parse.urlsplit(self.url)
        endpoint = os.environ.get("AWS_ENDPOINT_URL") or f"{url.scheme}://{url.netloc}"
        try:
            answer = send("GET", f"{endpoint}/_ministack/ses/messages").json()
            return [mail for sent in answer["messages"].values() for mail in sent]
        except (OSError, ValueError, KeyError, TypeError):
            pytest.skip("only the local system shows its mails")


@dataclass
class Account:
    """Somebody with a session, in a workspace of their own."""

    api: Api
    email: str
    token: str
    expires_at: str
    links: list[dict[str, Any]] = field(default_factory=list)

    @property
    def kept(self) -> dict[str, str]:
        """What a browser keeps of the session."""
        return {"token": self.token, "expires_at": self.expires_at, "email": self.email}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        return self.api.call(method, path, body, token=self.token)

    @property
    def slug(self) -> str:
        """The short name of the workspace."""
        return self.call("GET", "/api/workspace")["slug"]

    def enter(self, workspace: str) -> None:
        self.token = self.call("POST", "/api/auth/switch", {"workspace": workspace})["token"]

    def add_member(self, *, enters: bool = False, role: str = "member") -> "Account":
        """Bob, who comes by an invitation. He is in this workspace, or in his own."""
        bob = self.api.register("Bob", name="bob")
        token = self.call("POST", "/api/workspace/invitations", {"email": bob.email, "role": role})["token"]
        slug = bob.call("POST", "/api/invitations/accept", {"token": token})["slug"]
        if enters:
            bob.enter(slug)
        return bob

    def shorten(self, url: str, **more: Any) -> str:
        """Makes a link and gives its code."""
        made = self.call("POST", "/api/shorten", {"url": url} | more)
        self.links.insert(0, made)
        return made["short_code"]

    def wait_for(self, path: str, done: Callable[[Any], bool], seconds: float = FOLLOWS_WITHIN) -> Any:
        """Asks until the answer is as it should be, since most numbers follow a moment later."""
        until, pause = time.monotonic() + seconds, 0.05
        while not done(answer := self.call("GET", path)):
            if time.monotonic() > until:
                raise Refused(f"GET {path} has not become what it should: {json.dumps(answer)[:500]}")
            time.sleep(pause)
            pause = min(1.5 * pause, 1)
        return answer

    def wait_for_clicks(self, code: str, count: int) -> None:
        self.wait_for(f"/api/stats/{code}", lambda stats: stats["total_clicks"] >= count)
