"""Staying signed in, by a cookie that only the routes for signing in get."""

import json
import urllib.parse

from playwright.sync_api import BrowserContext, Request, expect

from support.api import Account, Api, new_email
from support.tab import Tab, Tabs

COOKIE = "linklet_refresh"
REFRESH = "**/api/auth/refresh"


class Asked:
    """The requests of a profile to the routes for signing in, and whatever had a cookie."""

    def __init__(self, context: BrowserContext) -> None:
        self.requests: list[Request] = []
        self.with_cookie: set[str] = set()
        context.on("request", lambda request: self.requests.append(request))

    def paths(self) -> list[str]:
        return [path for path in map(path_of, self.requests) if "/api/auth/" in path]

    def refreshes(self) -> int:
        return sum(path.endswith("/refresh") for path in self.paths())

    def note_cookies(self) -> set[str]:
        """Which requests had a cookie; asked for before their tab is closed."""
        for request in self.requests:
            if request.frame.page.is_closed() or "cookie" not in request.all_headers():
                continue
            self.with_cookie.add(path_of(request).split("/api/auth/")[-1])
        return self.with_cookie


def path_of(request: Request) -> str:
    return urllib.parse.urlsplit(request.url).path


def cookie_of(context: BrowserContext) -> dict[str, str] | None:
    return next((cookie for cookie in context.cookies() if cookie["name"] == COOKIE), None)


def sign_in(tab: Tab, email: str, button: str = "Sign in") -> None:
    tab.sign_in(email, button=button)
    expect(tab.heading("Links")).to_be_attached()
    tab.settled()


def staying(tabs: Tabs, account: Account, view: str = "sign-in", **more: object) -> Tab:
    tab = tabs.open(None, view, **more)
    sign_in(tab, account.email)
    return tab


def another(tabs: Tabs, tab: Tab, view: str = "links") -> Tab:
    return tabs.keep(Tab(tab.context, tab.api, tab.refused)).open(view)


def restarted(tabs: Tabs, tab: Tab, view: str = "links") -> Tab:
    """As if the browser had been closed: what belongs to a tab is gone."""
    tab.page.close()
    tabs.opened.remove(tab)
    return another(tabs, tab, view)


def test_who_stays_signed_in_need_not_enter_the_password_again(tabs: Tabs, api: Api, account: Account) -> None:
    tab = tabs.open(None, "sign-in")
    asked = Asked(tab.context)
    expect(tab.page.get_by_label("Stay signed in")).to_be_checked()
    sign_in(tab, account.email)
    asked.note_cookies()

    again = restarted(tabs, tab, "settings")
    expect(again.heading("Settings")).to_be_visible()
    expect(again.button(account.email)).to_be_visible()

    assert asked.refreshes() == 1
    assert asked.note_cookies() == {"refresh"}, "a cookie reaches nothing else"
    cookie = cookie_of(again.context)
    assert cookie is not None
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert cookie["path"] == urllib.parse.urlsplit(api.url).path + "/api/auth"
    assert again.page.evaluate("document.cookie") == ""


def test_without_staying_signed_in_the_session_ends_with_its_tab(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(None, "sign-in")
    asked = Asked(tab.context)
    tab.press(tab.page.get_by_label("Stay signed in"))
    sign_in(tab, account.email)

    again = restarted(tabs, tab)
    expect(again.heading("Sign in")).to_be_visible()

    assert cookie_of(again.context) is None
    assert asked.refreshes() == 0


def test_who_makes_an_account_begins_with_a_link_and_stays_signed_in(tabs: Tabs, api: Api) -> None:
    """Somebody who has never read a word about Linklet, beginning at its address."""
    tab, email = tabs.open_new(), new_email()
    tab.page.goto(f"{api.url}/")
    expect(tab.heading("Sign in")).to_be_visible()
    tab.press(tab.page.get_by_role("link", name="Create an account"))
    sign_in(tab, email, "Create account")
    expect(tab.page.get_by_label("Paste a long URL")).to_be_focused()
    expect(restarted(tabs, tab).button(email)).to_be_visible()


def test_a_token_is_renewed_in_time_and_once_for_all_tabs(tabs: Tabs, account: Account) -> None:
    first = tabs.open_new()
    # One clock for all tabs.
    first.context.clock.install()
    first.open("sign-in")
    sign_in(first, account.email)
    asked = Asked(first.context)
    all_tabs = [first, another(tabs, first), another(tabs, first, "members")]
    for tab in all_tabs:
        tab.settled()
    (before,) = {kept(tab)["token"] for tab in all_tabs}
    assert asked.refreshes() == 0, "a further tab takes the session of another one"

    first.context.clock.fast_forward("54:00")
    for tab in all_tabs:
        tab.settled()
    assert asked.refreshes() == 0
    first.context.clock.fast_forward("02:00")
    for tab in all_tabs:
        tab.until(f"(before) => JSON.parse({KEPT}).token !== before", before)

    assert len({kept(tab)["token"] for tab in all_tabs}) == 1
    assert asked.refreshes() == 1
    assert all(tab.page.get_by_role("dialog").count() == 0 for tab in all_tabs)


KEPT = "sessionStorage.getItem(Object.keys(sessionStorage).find((key) => key.startsWith('linklet:session')))"


def kept(tab: Tab) -> dict[str, str]:
    return json.loads(tab.page.evaluate(KEPT))


def test_a_page_of_another_site_gets_nothing_and_uses_nothing_up(tabs: Tabs, api: Api, account: Account) -> None:
    tab = staying(tabs, account)
    before = cookie_of(tab.context)
    page = tab.context.new_page()
    # A page at another port is of the same site, so that the browser sends the cookie.
    origin = urllib.parse.urlsplit(api.url)
    sibling = f"{origin.scheme}://{origin.hostname}:9/"
    page.route(sibling, lambda route: route.fulfill(body="<p>A page</p>", content_type="text/html"))
    page.goto(sibling)
    for content_type in ("text/plain", "application/json"):
        page.evaluate(
            """([url, type]) => fetch(url, { method: 'POST', credentials: 'include', mode: type === 'text/plain' ? 'no-cors' : 'cors',
              headers: { 'Content-Type': type }, body: '{}' }).catch(() => {})""",
            [f"{api.url}/api/auth/refresh", content_type],
        )
    page.close()
    assert cookie_of(tab.context) == before
    expect(restarted(tabs, tab).button(account.email)).to_be_visible()


def test_who_signs_out_is_signed_out_in_this_browser_and_nowhere_else(tabs: Tabs, account: Account) -> None:
    elsewhere, here = staying(tabs, account), staying(tabs, account)
    here.pick(here.button(account.email), "Sign out", heading="Sign in")
    here.settled()
    assert cookie_of(here.context) is None
    asked = Asked(here.context)
    expect(restarted(tabs, here).heading("Sign in")).to_be_visible()
    assert asked.refreshes() == 0
    expect(restarted(tabs, elsewhere).button(account.email)).to_be_visible()


def test_while_the_api_cannot_be_reached_nobody_is_signed_out(tabs: Tabs, account: Account) -> None:
    tab = staying(tabs, account)
    tab.page.close()
    tabs.opened.remove(tab)
    again = tabs.keep(Tab(tab.context, tab.api))
    with again.failing(REFRESH, 503, "service_unavailable"):
        again.open("links", shows="Linklet can’t be reached.")
    expect(again.button(account.email)).to_be_visible()
