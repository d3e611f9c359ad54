"""The five-minute tour: what a client of Linklet does, against the system in API_URL. `make demo`, `make smoke` and `make deploy` run it.

Each call is printed as the curl command that does the same, followed by the real answer. The first answer that is not
as expected ends the tour with an error. The account is closed in either case, and what it has made is purged with it.
"""

import json
import os
import re
import secrets
import shlex
import sys
import time
from collections.abc import Callable
from typing import Any

from .client import Answer, send

DESTINATION = "https://doc.rust-lang.org/book/?utm_source=linklet-demo"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PREVIEW = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"
NEWS = "https://news.example/today"
BEARER = "Authorization: Bearer $TOKEN"
# The stream of a new stack is read after a minute or two.
WAIT_SECONDS = 300
REDIRECT = range(300, 400)


class Client:
    """Follows no redirect, since the redirect is what we want to see."""

    def __init__(self, base: str) -> None:
        self.base = base.rstrip("/")
        self.token: str | None = None

    def request(self, method: str, path: str, body: Any = None, *, agent: str = "", referer: str = "") -> tuple[str, Answer]:
        """A request of the account's owner, or with an `agent` of a visitor."""
        url = path if path.startswith("http") else self.base + path
        headers = {"User-Agent": "linklet-demo"}
        shown = ["curl"] if method == "GET" else ["curl", "-X", method]
        if agent:
            headers = {"User-Agent": agent} | ({"Referer": referer} if referer else {})
            shown = ["curl", "-i", "-A", agent, *(["-e", referer] if referer else [])]
        elif self.token:
            headers["Authorization"] = f"Bearer {self.token}"
            shown += ["-H", BEARER]
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
            shown += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        command = shlex.join([*shown, url]).replace(f"'{BEARER}'", f'"{BEARER}"')  # so that the shell fills in the token
        return command, send(method, url, data, headers)

    def call(self, expected: int | range, method: str, path: str, body: Any = None, **visitor: str) -> Answer:
        command, answer = self.request(method, path, body, **visitor)
        show(command, answer)
        wanted = [expected] if isinstance(expected, int) else expected
        check(answer.status in wanted, f"expected status {expected}, got {answer.status}")
        return answer

    def wait_for(self, path: str, done: Callable[[Any], bool], what: str) -> Answer:
        """Asks again until `done`, and prints the last answer."""
        start = time.monotonic()
        while True:
            command, answer = self.request("GET", path)
            if answer.status == 200 and done(answer.json()):
                print(f"(after {time.monotonic() - start:.1f} s)")
                show(command, answer)
                return answer
            if time.monotonic() - start > WAIT_SECONDS:
                show(command, answer)
                check(False, f"{what} did not show up within {WAIT_SECONDS} s")
            time.sleep(0.5)


def step(text: str) -> None:
    print(f"\n\n# {text}\n")


def show(command: str, answer: Answer) -> None:
    print(f"$ {command}")
    print(f"HTTP {answer.status}")
    for header in ("Location", "Cache-Control", "X-Correlation-ID"):
        if header in answer.headers:
            print(f"{header}: {answer.headers[header]}")
    if answer.body:
        try:
            print(json.dumps(answer.json(), indent=2, ensure_ascii=False))
        except ValueError:
            print(answer.body.decode(errors="replace"))


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        sys.exit(f"\nNot as expected: {otherwise}.")


def new_address(base: str) -> str:
    """An address that a mail may be sent to: SES takes those to its simulator for delivered, also in the sandbox."""
    name = f"ada-{secrets.token_hex(4)}"
    is_local = "//127.0.0.1:" in base
    return f"{name}@example.com" if is_local else f"success+{name}@simulator.amazonses.com"


def invitation(email: str) -> dict[str, str]:
    """What registering takes where not everybody may: an operator's invitation, by the stack's own function."""
    from ..operate import ask

    return {"invitation": re.findall(r"inv_[\w-]+", ask({"invite": {"email": email}})["text"])[-1]}


def tour(client: Client) -> None:
    step("Is it there?")
    health = client.call(200, "GET", "/health").json()
    check(health["status"] == "ok", "the service is not ok")

    step("Create an account and sign in.")
    email = new_address(client.base)
    credentials = {"email": email, "password": secrets.token_urlsafe(16)}
    is_open = client.call(200, "GET", "/api/auth/registration").json()["registration"] == "open"
    user = client.call(201, "POST", "/api/auth/register", credentials | ({} if is_open else invitation(email))).json()
    session = client.call(200, "POST", "/api/auth/login", credentials).json()
    client.token = session["token"]
    print("$ export TOKEN=<the token above>")
    try:
        links_and_clicks(client, user, email)
    finally:
        step("Close the account. What it has made is purged.")
        client.call(204, "DELETE", "/api/me", {"password": credentials["password"]})


def links_and_clicks(client: Client, user: dict[str, str], email: str) -> None:
    me = client.call(200, "GET", "/api/me").json()
    check((me["user_id"], me["email"]) == (user["user_id"], email), "the token belongs to somebody else")

    step("Shorten a link.")
    link = client.call(201, "POST", "/api/shorten", {"url": DESTINATION, "title": "The Rust book"}).json()
    code = link["short_code"]
    check(link["original_url"] == DESTINATION, "the link leads elsewhere")

    step("Follow it, as a visitor's browser does.")
    # The DNS record of the short URL's host may be missing still.
    short_url = link["short_url"] if link["short_url"].startswith(client.base) else f"/r/{code}"
    visit = client.call(REDIRECT, "GET", short_url, agent=BROWSER, referer=NEWS)
    check(visit.headers["Location"] == DESTINATION, "the redirect leads elsewhere")

    step("The click travels through the stream, the relay and the queue to the statistics.")
    stats = client.wait_for(f"/api/stats/{code}", lambda body: body["total_clicks"] >= 1, "the click").json()
    check(stats["total_clicks"] == 1, "one click was counted more than once")
    check(stats["human_clicks"] == 1, "a browser was taken for a bot")
    timeline = client.call(200, "GET", f"/api/stats/{code}/timeline").json()
    check(sum(point["clicks"] for point in timeline["points"]) == 1, "the timeline does not show the click")
    days = client.call(200, "GET", f"/api/stats/{code}/daily").json()["days"]
    check([day["desktop"] for day in days] == [1], "the day does not show the click")
    clicks = client.call(200, "GET", f"/api/stats/{code}/clicks").json()["clicks"]
    check([click["browser"] for click in clicks] == ["Firefox"], "the list of clicks is not the one click")

    step("A chat program fetches it for a preview: a click, but nobody's.")
    client.call(REDIRECT, "GET", short_url, agent=PREVIEW)
    stats = client.wait_for(f"/api/stats/{code}", lambda body: body["total_clicks"] >= 2, "the preview").json()
    check((stats["total_clicks"], stats["human_clicks"]) == (2, 1), "a preview was taken for a person")

    step("Your links.")
    urls = client.call(200, "GET", "/api/urls").json()["urls"]
    check([url["short_code"] for url in urls] == [code], "the list is not the one link")

    step("Your notifications: one for the new link.")
    client.wait_for(
        "/api/notifications",
        lambda body: any(each["event_type"] == "url.created" for each in body["notifications"]),
        "the notification",
    )

    step("Delete it. From now on the code is gone, its statistics stay.")
    client.call(204, "DELETE", f"/api/urls/{code}")
    client.call(410, "GET", f"/r/{code}", agent=BROWSER)
    stats = client.call(200, "GET", f"/api/stats/{code}").json()
    check(stats["total_clicks"] == 2, "the statistics are gone")


def main() -> None:
    try:
        tour(Client(os.environ["API_URL"]))
    except (OSError, ValueError, KeyError, TypeError) as problem:
        check(False, f"{type(problem).__name__}: {problem}")
    print("\n\nThat was the tour.")


if __name__ == "__main__":
    main()
