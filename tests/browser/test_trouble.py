"""What happens when something goes wrong: a session ends, the API fails or is slow, the connection is lost."""

import re

import pytest
from playwright.sync_api import Locator, Route, expect

from support.api import PASSWORD, Account, Api, new_email
from support.sample_data import sale_of
from support.tab import Tab, Tabs

UNREACHABLE = "Linklet is temporarily unavailable."
# What each page reads first.
READS = {
    "links": "**/api/links?*",
    "links/{code}": "**/api/links/*",
    "compare?codes={code}": "**/api/links/*",
    "overview": "**/api/overview",
    "tags": "**/api/tags",
    "tags/sale": "**/api/overview?tag=sale",
    "monitoring": "**/v1/targets?*",
    # What is new is counted before.
    "notifications?kind=all": "**/api/notifications?limit=*",
    "members": "**/api/workspace/members",
    "keys": "**/api/keys",
    "activity": "**/api/workspace/audit",
    "settings": "**/api/workspace",
    "settings?view=security": "**/api/workspace/security",
    "account?view=mail": "**/api/me/notifications",
    "account?view=sign-in": "**/api/me/sessions",
    "account?view=activity": "**/api/me/audit",
}


def end_session(tab: Tab) -> None:
    """From now on, the API refuses the token that the page has."""

    def spoil(route: Route) -> None:
        route.continue_(headers=route.request.headers | {"authorization": "Bearer eyJ.over.0"})

    tab.refused.add("401")
    tab.page.route(re.compile(r"/api/(?!auth/login)|/v1/"), spoil)


def test_a_session_that_ends_asks_for_the_password_and_goes_on(tabs: Tabs, api: Api, account: Account) -> None:
    account.shorten("https://example.com/a", title="First", tags=["one"])
    tab = tabs.open(account, "links?tag=one")
    form = start_link(tab)
    end_session(tab)
    tab.button("Create link", form).click()

    over = tab.dialog("Your session has expired")
    expect(over.get_by_label("Email")).to_have_value(account.email)
    tab.keys("Escape", shows=over)
    tab.submit("Continue", {"Password": "not my password"}, over)
    expect(over.get_by_role("alert")).to_contain_text("Wrong email or password.")

    tab.page.unroute_all()
    stranger = api.register(name="bob")
    over.get_by_label("Email").fill(stranger.email)
    tab.sign_in_again()
    expect(over.get_by_label("Email")).to_have_accessible_description("That’s a different account. Sign out to use it.")
    assert stranger.call("GET", "/api/links")["links"] == []
    over.get_by_label("Email").fill(account.email)
    over.get_by_label("Password").fill(PASSWORD)
    tab.keys("Enter")

    # The link that was being made is made, and nothing had to be typed again.
    expect(over).to_have_count(0)
    tab.says("Link created.")
    assert tab.view() == "links?tag=one"
    assert len(account.call("GET", "/api/links")["links"]) == 2


def start_link(tab: Tab) -> Locator:
    tab.settled()
    tab.keys("c")
    form = tab.dialog("New link")
    form.get_by_label("Destination", exact=True).fill("https://example.com/b")
    form.get_by_label(re.compile("^Title")).fill("Second")
    return form


def change_address(account: Account) -> str:
    """As somebody does on another device."""
    wanted = new_email("lovelace")
    account.call("PATCH", "/api/me", {"email": wanted, "password": PASSWORD})
    account.call("POST", "/api/auth/verify", {"token": account.api.linked_view(wanted, "verify").partition("token=")[2]})
    return wanted


def test_who_has_another_address_meanwhile_goes_on_with_it(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    wanted = change_address(account)
    end_session(tab)
    tab.write(tab.page.get_by_label("Paste a long URL"), "https://example.com/b")
    over = tab.open_dialog("Shorten", "Your session has expired")
    expect(over.get_by_label("Password")).to_be_focused()
    expect(over.get_by_label("Email")).to_have_value(account.email)
    tab.page.unroute_all()
    tab.submit("Continue", {"Email": wanted, "Password": PASSWORD}, over, lacks=over, says="Link created.")
    expect(tab.button(wanted)).to_be_visible()


def test_signing_in_with_a_new_address_in_one_tab_revives_the_others(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    wanted = change_address(account)
    end_session(tab)
    tab.page.get_by_role("link", name="Members").click()
    over = tab.dialog("Your session has expired")
    expect(over).to_be_visible()
    tab.page.unroute_all()
    other = tabs.keep(Tab(tab.context, tab.api)).open("sign-in")
    other.sign_in(wanted)
    expect(over).to_have_count(0)
    expect(tab.page.get_by_role("table", name="Members")).to_be_visible()
    assert tab.view() == "members"
    expect(tab.button(wanted)).to_be_visible()


def test_a_page_shows_shapes_says_what_failed_and_tries_again(tabs: Tabs, filled: Account, subtests: pytest.Subtests) -> None:
    tab = tabs.open(filled, "account")
    shapes = tab.page.get_by_role("main").locator(".skeleton, .skeleton-text")
    # Others may say what is down.
    failures = tab.page.get_by_role("main").get_by_role("alert").filter(has_text=UNREACHABLE)
    for view, read in READS.items():
        with subtests.test(view):
            # What another view has read isn't known any more.
            tab.open("account").reload()
            tab.settled()
            with tab.failing(read, 503, "service_unavailable"):
                held = tab.hold(read)
                tab.go(view.format(code=sale_of(filled)), shows=shapes.first)
                held.let_go()
                expect(failures.first).to_contain_text("98427fd6-d8a3-4a97-a872-9f752e65f6c0")
            tab.click(tab.button("Try again", failures.first), lacks=failures)
            expect(shapes).to_have_count(0)


def test_too_many_requests_count_down_and_a_proxy_is_no_success(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "account")
    with tab.failing("**/api/keys", 429, "rate_limited", headers={"retry-after": "3"}):
        tab.page.get_by_role("link", name="API keys").click()
        again = tab.page.get_by_role("main").get_by_role("button", name=re.compile("^Try again"))
        expect(again).to_have_text(re.compile("Try again in [123] s"))
        expect(again).to_be_disabled()
    expect(again).to_have_text("Try again")
    expect(again).to_be_enabled()
    tab.click(again, shows="Nightly export")

    # A proxy in between may answer with a page of its own.
    tab.refused.add("502")
    tab.page.route("**/api/keys", lambda route: route.fulfill(status=502, content_type="text/html", body="<h1>Bad gateway</h1>"))
    tab.reload()
    expect(tab.page.get_by_role("main").get_by_role("alert")).to_contain_text("The server responded with 502.")


def test_a_change_that_is_refused_is_taken_back(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://example.com/a")
    tab = tabs.open(account, f"links/{code}")
    tab.fails("**/api/links/*", 503, "service_unavailable")
    tab.press(tab.button("Disable"), says=f"Couldn’t change the link. {UNREACHABLE}", shows=tab.button("Disable"))


def test_a_slow_change_shows_that_it_works(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    held = tab.hold("**/api/shorten")
    tab.submit("Shorten", {"Paste a long URL": "https://example.com/slow"})
    expect(tab.button("Shorten")).to_have_attribute("aria-busy", "true", timeout=1_000)
    # A second press is no second link.
    tab.keys("Enter")
    held.let_go()
    tab.says("Link created.")
    assert held.count == 1


def test_a_lost_connection_is_said_and_recovered_from(tabs: Tabs, account: Account) -> None:
    account.shorten("https://example.com/a", title="First")
    tab = tabs.open(account, "links", refused=["ERR_INTERNET_DISCONNECTED"], links=1)
    tab.context.set_offline(True)
    expect(tab.page.get_by_text("No connection.")).to_be_visible()
    field = tab.page.get_by_label("Paste a long URL")
    tab.submit("Shorten", {field: "https://example.com/later"})
    expect(tab.page.get_by_role("alert")).to_contain_text("Linklet can’t be reached.")
    expect(tab.links).to_have_count(1)

    tab.context.set_offline(False)
    expect(tab.page.get_by_text("No connection.")).to_have_count(0)
    expect(field).to_have_value("https://example.com/later")
    tab.press(tab.button("Shorten"), says="Link created.")


def test_what_was_never_opened_says_that_one_is_offline(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open_new(filled)
    tab.refused.add("ERR_INTERNET_DISCONNECTED")
    tab.open("links")
    tab.context.set_offline(True)
    tab.press(tab.button("More options"), says="You’re offline. Try again once you’re back online.")
    tab.press(tab.page.get_by_role("link", name="Members"))
    expect(tab.page.get_by_role("alert")).to_contain_text("You’re offline. This page loads once you’re back online.")
    tab.context.set_offline(False)
    expect(tab.page.get_by_role("table", name="Members")).to_be_visible()

    tab = tabs.open(filled, f"links/{sale_of(filled)}", refused=["ERR_INTERNET_DISCONNECTED", 404])
    tab.context.set_offline(True)
    tab.go(f"links/{filled.links[0]['short_code']}")
    expect(tab.page.get_by_role("alert")).to_contain_text("Couldn’t load the link. You’re offline. Linklet can’t be reached.")
    tab.context.set_offline(False)
    tab.go("links/nowhere1")
    tab.follow("All links", "Links")


def test_leaving_with_changes_asks(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "overview")
    tab.page.get_by_role("link", name="Links", exact=True).click()
    form = start_link(tab)
    tab.go_back()
    question = tab.dialog("Discard changes?")
    expect(question).to_be_visible()
    tab.button("Keep editing", question).click()
    expect(form.get_by_label(re.compile("^Title"))).to_have_value("Second")
    assert tab.view() == "links"
