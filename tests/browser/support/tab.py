"""A tab of the browser, in which nothing may go unnoticed."""

import contextlib
import json
import os
import re
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Request, Route, expect

from .api import PASSWORD, Account, Api, new_address
from .input import Keyboard, Pointer

# A tab has the session before the application starts, as one has it that was loaded again.
KEEP_SESSION = """
if (location.protocol.startsWith('http') && !sessionStorage.getItem('test:entered')) {
  sessionStorage.setItem('test:entered', 'yes');
  sessionStorage.setItem(%s, %s);
}
"""
# What Chromium writes about answers that are no success, and about a lost connection. Scripts can't keep it from that.
RESOURCE_FAILED = re.compile(r"Failed to load resource: (?:the server responded with a status of (\d+)|net::(\w+))")
# Whoever is faster than the page already has the focus where they want it.
AUTOFOCUS_CAME_LATE = re.compile("^Autofocus processing was blocked because a document already has a focused element")
# What it would like to have in a form with a password and a token. Nobody but the token knows whose it is.
TOKEN_FORM_HAS_NO_NAME = re.compile("Password forms should have")
HAS_TOKEN_FORM = re.compile("verify|reset|first-password")

WIDE = (1280, 800)

# What is beyond the edge.
WIDEST = """
[...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .slice(0, 5).map((element) => element.outerHTML.slice(0, 120)).join('\\n')
"""
UNTIL = """
async (arg) => {
  const isSo = %s;
  for (const end = performance.now() + %s; !isSo(arg); await new Promise(requestAnimationFrame)) if (performance.now() > end) return false;
  return true;
}
"""
# Seconds, on a machine on which other tests run.
WITHIN = 15
Words = str | re.Pattern[str]


class Tab:
    """Wraps a page. `refused` are the statuses and errors that a test provokes: `{404}`, `{"ERR_INTERNET_DISCONNECTED"}`."""

    def __init__(self, context: BrowserContext, api: Api, refused: Iterable[int | str] = (), answers: Mapping[Any, Any] | None = None) -> None:
        self.api = api
        self.context = context
        self.page = context.new_page()
        self.device: type[Pointer | Keyboard] = Keyboard
        self.page.add_init_script(path=Path(__file__).with_name("quiet.js"))
        self.refused = {str(one) for one in refused}
        self.expected = [AUTOFOCUS_CAME_LATE]
        self.noticed: list[str] = []
        origin = urllib.parse.urlsplit(api.url)
        self.own = f"{origin.scheme}://{origin.netloc}/"
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.noticed.append(f"an error: {error}"))
        self.under_way: set[Request] = set()
        self.page.on("request", self.see)
        self.page.on("requestfinished", lambda request: self.under_way.discard(request))
        self.page.on("requestfailed", lambda request: self.under_way.discard(request))
        for pattern, body in (answers or {}).items():
            self.answers(pattern, body)

    def hear(self, message: ConsoleMessage) -> None:
        """No message is expected, not even a warning. A violation of the content security policy is one, too."""
        failed = RESOURCE_FAILED.match(message.text)
        if failed and (failed[1] or failed[2]) in self.refused or any(each.search(message.text) for each in self.expected):
            return
        self.noticed.append(f"in the console: {message.type}: {message.text} ({message.location.get('url', '')})")

    def see(self, request: Request) -> None:
        if request.is_navigation_request():
            # What the document before had asked for may end without an event.
            self.under_way.clear()
        self.under_way.add(request)
        if not request.url.startswith((self.own, "data:", "blob:")):
            self.noticed.append(f"a request to elsewhere: {request.method} {request.url}")

    def open(self, view: str = "", **brings: Any) -> "Tab":
        """Shows a view, such as `links?tag=spring`, as if its address had been typed, and waits until it has read what it shows."""
        if HAS_TOKEN_FORM.match(view):
            self.expected.append(TOKEN_FORM_HAS_NO_NAME)
        self.page.goto(self.api.app + (f"#/{view}" if view else ""))
        self.settled()
        self.brings(**brings)
        return self

    def go(self, view: str, **brings: Any) -> None:
        """Follows a link to a view."""
        self.page.evaluate("(hash) => { location.hash = hash; }", f"#/{view}")
        self.brings(**brings)

    def reload(self, **brings: Any) -> None:
        self.page.reload()
        self.brings(**brings)

    def view(self) -> str:
        """The address behind `#/` and the workspace."""
        return self.page.evaluate("location.hash.replace(/^#\\/?(w\\/[^/]+\\/?)?/, '')")

    def heading(self, text: Words) -> Locator:
        return self.page.get_by_role("heading", level=1, name=text)

    def button(self, name: Words, within: Locator | None = None) -> Locator:
        return (within or self.page).get_by_role("button", name=name, exact=isinstance(name, str))

    def dialog(self, name: Words) -> Locator:
        return self.page.get_by_role("dialog", name=name)

    def says(self, text: Words) -> None:
        """Waits for a short message at the edge."""
        expect(self.page.locator(".toast").filter(has_text=text).first).to_be_visible()

    @property
    def links(self) -> Locator:
        """The rows of the list of links."""
        return self.page.get_by_role("list", name="Links").get_by_role("listitem")

    def figures(self) -> Locator:
        """The big numbers."""
        return self.page.locator("dl[aria-label=Statistics]")

    def clicks_are(self, count: int) -> None:
        expect(self.figures()).to_contain_text(re.compile(rf"Clicks\s*{count}(?!\d)"))

    def sign_in(self, email: str, password: str = PASSWORD, button: str = "Sign in") -> None:
        self.submit(button, {"Email": email, "Password": password})

    def sign_in_again(self) -> None:
        """After the session has ended."""
        self.submit("Continue", {"Password": PASSWORD}, self.dialog("Your session has expired"))

    def clipboard(self) -> str:
        return self.page.evaluate("navigator.clipboard.readText()")

    def copy(self, text: str) -> None:
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)

    def requests(self, pattern: Words) -> list[str]:
        """The addresses with this in them that are asked for from now on."""
        urls: list[str] = []
        self.page.on("request", lambda request: urls.append(request.url) if re.search(pattern, request.url) else None)
        return urls

    def settled(self) -> None:
        """Waits until the page has read what it shows."""
        until = time.monotonic() + WITHIN
        while not self.page.evaluate("isQuiet()") or self.under_way:
            assert time.monotonic() < until, f"The page goes on: {sorted(request.url for request in self.under_way)}"

    def until(self, condition: str, arg: Any = None, seconds: float = WITHIN) -> None:
        """Waits in one script, since the page's content security policy forbids the one that would evaluate text again and again."""
        assert self.page.evaluate(UNTIL % (condition, seconds * 1_000), arg), f"This has not come about: {condition}"

    def go_back(self, **brings: Any) -> None:
        self.page.go_back()
        self.brings(**brings)

    def come_back(self, **brings: Any) -> None:
        """As if somebody had been in another window: a browser that nobody sees always has the focus."""
        self.page.evaluate("['blur', 'focus'].forEach((name) => window.dispatchEvent(new Event(name)))")
        self.brings(**brings)

    @cached_property
    def input(self) -> Pointer | Keyboard:
        return self.device(self.page)

    def brings(
        self, says: Words = "", shows: Locator | Words = "", heading: Words = "", focuses: Locator | None = None,
        lacks: Locator | None = None, counts: tuple[Locator, int] | None = None, links: int | None = None, clicks: int | None = None,
        at: str | None = None,
    ) -> None:
        """Waits for what an action brings about: a short message, what can be seen then, the page's heading, what has the focus, what isn't
        there, of what there are so many, how many links are listed or clicks counted, and then which view one is at. Whatever acts or
        opens takes the same by name."""
        if says:
            self.says(says)
        if shows:
            expect(shows if isinstance(shows, Locator) else self.page.get_by_text(shows)).to_be_visible()
        if heading:
            expect(self.heading(heading)).to_be_visible()
        if focuses:
            expect(focuses).to_be_focused()
        for each, count in [(lacks, 0), counts or (None, 0), (self.links, links)]:
            if each and count is not None:
                expect(each).to_have_count(count)
        if clicks is not None:
            self.clicks_are(clicks)
        if at is not None:
            assert (view := self.view()) == at, f"The view is {view}."

    def press(self, target: Locator, **brings: Any) -> None:
        self.input.press(target)
        self.brings(**brings)

    def click(self, target: Locator, **brings: Any) -> None:
        """With the pointer, whatever the device of the test is."""
        target.click()
        self.brings(**brings)

    def keys(self, *keys: str, **brings: Any) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.brings(**brings)

    def write(self, target: Locator, text: str, then: str = "", **brings: Any) -> None:
        self.input.write(target, text)
        self.keys(*then.split(), **brings)

    def submit(self, button: str, fields: Mapping[str | Locator, str], form: Locator | None = None, **brings: Any) -> None:
        """Writes into fields, which their labels name, and presses a button of the form."""
        for field, text in fields.items():
            self.write((form or self.page).get_by_label(field) if isinstance(field, str) else field, text)
        self.press(self.button(button, form), **brings)

    def follow(self, link: str | Locator, heading: Words) -> None:
        """To a page with this heading."""
        self.press(self.page.get_by_role("link", name=link) if isinstance(link, str) else link)
        expect(self.heading(heading)).to_be_attached()

    def sent(self, pattern: Any, button: Locator) -> Any:
        """The body of the request that pressing this sends."""
        with self.page.expect_request(pattern) as sent:
            self.press(button)
        return sent.value.post_data_json

    def choose(self, target: Locator, option: str, label: str = "", **brings: Any) -> None:
        self.input.choose(target, option, label)
        self.brings(**brings)

    def open_dialog(self, button: Words, name: Words) -> Locator:
        """Presses a button that opens it."""
        self.press(self.button(button))
        return self.dialog(name)

    def pick(self, menu: Locator, item: str, **brings: Any) -> None:
        self.input.pick(menu, item)
        self.brings(**brings)

    def answers(self, pattern: Words, body: Any, status: int = 200) -> None:
        """From now on, such a request has this answer; without a body, 204. A function answers by itself."""
        answer = {"status": 204} if body is None else {"status": status, "json": body}
        self.page.route(pattern, body if callable(body) else lambda route: route.fulfill(**answer))

    def changes(self, pattern: Words, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """From now on, the answer to such a request is another one."""
        self.page.route(pattern, lambda route: route.fulfill(json=change(route.fetch().json())))

    def fails(
        self, pattern: str, status: int, code: str, detail: str = "not now", headers: dict[str, str] | None = None, method: str = "", **more: Any
    ) -> None:
        """From now on, such a request is answered with a problem document, if it has the method, or any."""
        body = {"type": f"urn:linklet:problem:{code}", "title": code, "status": status, "detail": detail, "code": code} | more
        head = {"content-type": "application/problem+json", "x-correlation-id": "98427fd6-d8a3-4a97-a872-9f752e65f6c0"}
        self.refused.add(str(status))

        def refuse(route: Route) -> None:
            if method not in ("", route.request.method):
                return route.fallback()
            return route.fulfill(status=status, headers=head | (headers or {}), body=json.dumps(body))

        self.page.route(pattern, refuse)

    @contextlib.contextmanager
    def failing(self, pattern: str, *problem: Any, **more: Any) -> Iterator[None]:
        self.fails(pattern, *problem, **more)
        yield
        self.recovers(pattern)

    def recovers(self, pattern: str) -> None:
        self.page.unroute(pattern)

    def hold(self, pattern: str) -> "Held":
        """From now on, such a request gets no answer until it is let go."""
        held = Held()
        self.page.route(pattern, held.take)
        return held

    def assert_nothing_noticed(self) -> None:
        noticed, self.noticed = self.noticed, []
        assert not noticed, "The page was not quiet:\n" + "\n".join(noticed)

    def assert_not_sideways(self) -> None:
        """Nothing may need scrolling to the side."""
        width, room = self.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert width <= room, f"#/{self.view()} is {width} pixels wide where there are {room}: {self.page.evaluate(WIDEST)}"


class Held:
    """Requests that wait."""

    def __init__(self) -> None:
        self.waiting: list[Route] = []
        self.count = 0
        self.is_over = False

    def take(self, route: Route) -> None:
        self.count += 1
        if self.is_over:
            route.fallback()
        else:
            self.waiting.append(route)

    def let_go(self) -> None:
        self.is_over = True
        for route in self.waiting:
            route.fallback()


class Tabs:
    """Opens tabs for one test, and judges them at its end.

    A profile of the browser takes most of a second to begin with, so those of `profiles` are used again by later tests, without
    what a page has stored. No two tabs that `open` has opened for a test share one.
    """

    def __init__(self, browser: Browser, api: Api, profiles: list[BrowserContext] | None = None) -> None:
        self.browser = browser
        self.api = api
        self.profiles = profiles if profiles is not None else []
        self.borrowed: list[BrowserContext] = []
        self.own: list[BrowserContext] = []
        self.opened: list[Tab] = []
        self.device: type[Pointer | Keyboard] = Keyboard

    def open(
        self, account: Account | None = None, view: str = "", *, refused: Iterable[int | str] = (), width: int = WIDE[0],
        reduced_motion: Literal["reduce", "no-preference"] = "no-preference", answers: Mapping[Any, Any] | None = None, **brings: Any,
    ) -> Tab:
        """A tab in a profile of its own, with the session of the account. `answers` are bodies that are made up, by what is asked for."""
        tab = self.keep(Tab(self.borrow(), self.api, refused, answers))
        tab.page.set_viewport_size({"width": width, "height": WIDE[1]})
        tab.page.emulate_media(reduced_motion=reduced_motion)
        if account:
            tab.page.add_init_script(self.entering(account.kept))
        return tab.open(view, **brings)

    def open_new(self, account: Account | None = None, view: str | None = None, answers: Mapping[Any, Any] | None = None, **options: Any) -> Tab:
        """A tab in a profile that has never seen the application, and has no files of it. It is empty without a view."""
        context = self.context(**options)
        if account:
            context.add_init_script(self.entering(account.kept))
        tab = self.keep(Tab(context, self.api, answers=answers))
        return tab if view is None else tab.open(view)

    def open_touched(self, account: Account, view: str, width: int, height: int) -> Tab:
        """A tab of a device with a touch screen."""
        return self.open_new(account, view, width=width, height=height, has_touch=True, is_mobile=True)

    def borrow(self) -> BrowserContext:
        if self.profiles:
            context = self.profiles.pop()
            context.set_extra_http_headers(from_nowhere())
        else:
            context = new_context(self.browser)
            # While there is a tab, the window stays.
            context.new_page()
        self.borrowed.append(context)
        return context

    def context(self, **options: Any) -> BrowserContext:
        """A profile that is used once."""
        self.own.append(new_context(self.browser, **options))
        return self.own[-1]

    def entering(self, session: dict[str, str]) -> str:
        """A script that puts a session where the application looks for it."""
        key = f"linklet:session:{urllib.parse.urlsplit(self.api.app).path.removesuffix('app')}"
        return KEEP_SESSION % (json.dumps(key), json.dumps(json.dumps(session)))

    def keep(self, tab: Tab) -> Tab:
        tab.device = self.device
        self.opened.append(tab)
        return tab

    def close(self) -> None:
        for context in self.own:
            context.close()
        for context in self.borrowed:
            context.set_offline(False)
            context.clear_cookies()
            first, *others = context.pages
            for page in others:
                if page.url.startswith(self.api.url):
                    page.evaluate("localStorage.clear()")
                page.close()
            self.profiles.append(context)


def new_context(browser: Browser, width: int = WIDE[0], height: int = WIDE[1], **more: Any) -> BrowserContext:
    """A profile whose clock and language are known."""
    size = {"width": width, "height": height}
    given = {"viewport": size, "color_scheme": "light", "locale": "en-GB", "timezone_id": "Europe/Zurich", "has_touch": width < 600}
    context = browser.new_context(**(given | more))
    context.set_extra_http_headers(from_nowhere())
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(15_000)
    return context


def from_nowhere() -> dict[str, str]:
    """For the local system, each profile is on a machine of its own."""
    return {"CloudFront-Viewer-Address": new_address()}


def flags(host: str) -> list[str]:
    """With which Chromium is started: no name but this host's leads anywhere."""
    names = f"MAP * ~NOTFOUND, EXCLUDE {host}, EXCLUDE 127.0.0.1, EXCLUDE localhost"
    # The sandbox refuses to work for root.
    unprotected = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [f"--host-resolver-rules={names}", "--disable-background-networking", *unprotected]
