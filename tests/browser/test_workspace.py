"""The other pages: overview, monitoring, notifications, members, API keys, settings and account."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from support.api import PASSWORD, Account, Api
from support.furniture import sale_of
from support.hand import Hand
from support.tab import Tab, Tabs


def test_the_overview_shows_how_the_workspace_does(tabs: Tabs, furnished: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(furnished, "overview")
    numbers = tab.figures()
    expect(numbers).to_contain_text(re.compile(r"Links\s*15"))
    expect(numbers).to_contain_text("14 active, 1 off")
    hand(tab).press(tab.page.get_by_role("link", name=sale_of(furnished)))
    expect(tab.page.get_by_role("link", name="shop.example.com/sale")).to_be_visible()


def test_the_overview_makes_a_link(tabs: Tabs, account: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(account, "overview")
    use = hand(tab)
    use.write(tab.page.get_by_label("Paste a long URL"), "https://example.com/quick")
    use.press(tab.button("Shorten"))
    tab.says("Link created. Copied.")
    use.press(tab.page.get_by_role("link", name="Numbers"))
    expect(tab.page.get_by_text("Nobody has followed this link yet.")).to_be_visible()


def test_a_url_is_monitored_and_no_longer(tabs: Tabs, account: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(account, "monitoring")
    use = hand(tab)
    expect(tab.page.get_by_text("No URL is monitored yet")).to_be_visible()
    use.write(tab.page.get_by_label("URL to monitor"), "https://status.example.com/health")
    use.press(tab.button("Monitor"))
    tab.says("status.example.com is monitored from now on.")
    target = tab.page.get_by_role("list", name="Monitored URLs").get_by_role("link")
    expect(target).to_contain_text("status.example.com")
    use.press(target)
    expect(tab.heading(re.compile("status.example.com"))).to_be_visible()
    use.press(tab.button("Stop monitoring"))
    use.press(tab.button("Stop monitoring", tab.dialog("Stop monitoring?")))
    tab.says("status.example.com isn’t monitored any more.")
    expect(tab.page.get_by_text("No URL is monitored yet")).to_be_visible()


def test_notifications_lead_to_their_links(tabs: Tabs, account: Account, hand: Callable[[Tab], Hand]) -> None:
    code = account.shorten("https://example.com/new")
    account.wait_for("/api/notifications", lambda feed: len(feed["notifications"]) > 0)
    tab = tabs.open(account, "notifications")
    expect(tab.page.get_by_role("heading", name="Today")).to_be_visible()
    hand(tab).press(tab.page.get_by_role("link", name=code))
    expect(tab.page.get_by_text("Nobody has followed this link yet.")).to_be_visible()


def test_a_member_changes_role_and_is_removed(tabs: Tabs, api: Api, account: Account, hand: Callable[[Tab], Hand]) -> None:
    colleague = join(api, account)
    tab = tabs.open(account, "members")
    use = hand(tab)
    members = tab.page.get_by_role("table", name="Members")
    expect(members.get_by_text("Bob", exact=True)).to_be_visible()
    use.choose(tab.page.get_by_label("Role of Bob"), "viewer")
    tab.says("Bob is a viewer now.")
    use.press(tab.button("Remove Bob"))
    use.press(tab.button("Remove", tab.dialog("Remove Bob?")))
    tab.says("Bob is no member any more.")
    expect(members.get_by_text("Bob", exact=True)).to_have_count(0)
    assert [member["email"] for member in account.call("GET", "/api/workspace/members")["members"]] == [account.email]
    assert colleague.email != account.email


def join(api: Api, admin: Account) -> Account:
    """Somebody who comes by an invitation."""
    bob = api.register("Bob", name="bob")
    token = admin.call("POST", "/api/workspace/invitations", {"email": bob.email})["token"]
    bob.call("POST", "/api/invitations/accept", {"token": token})
    return bob


def test_an_api_key_is_made_works_and_is_revoked(tabs: Tabs, api: Api, account: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(account, "keys")
    use = hand(tab)
    use.press(tab.button("New key"))
    use.write(tab.dialog("New API key").get_by_label("Name"), "Build server")
    use.press(tab.button("Create key"))
    made = tab.dialog("Build server is ready")
    key = made.get_by_label("API key").input_value()
    expect(made).to_contain_text("curl")
    use.press(tab.button("Copy", made).first)
    assert tab.page.evaluate("navigator.clipboard.readText()") == key
    assert api.call("GET", "/api/links", headers={"X-API-Key": key})["links"] == []
    use.press(tab.button("Done"))
    expect(tab.page.get_by_text(key)).to_have_count(0)

    use.press(tab.button("Revoke Build server"))
    use.press(tab.button("Revoke", tab.dialog("Revoke “Build server”?")))
    tab.says("“Build server” is revoked.")
    assert account.call("GET", "/api/keys")["keys"] == []


def test_a_workspace_gets_another_name(tabs: Tabs, account: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(account, "settings")
    use = hand(tab)
    name = tab.page.get_by_label("Name", exact=True)
    use.write(name, "Marketing")
    use.press(tab.button("Save"))
    tab.says("Workspace saved.")
    expect(tab.button(re.compile("Marketing"))).to_be_visible()
    assert account.call("GET", "/api/workspace")["name"] == "Marketing"


def test_colours_are_chosen_and_kept(tabs: Tabs, account: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(account, "settings")
    hand(tab).press(tab.button("Dark"))
    expect(tab.page.locator("html")).to_have_css("background-color", "rgb(19, 20, 22)")
    tab.page.reload()
    expect(tab.button("Dark")).to_have_attribute("aria-pressed", "true")
    expect(tab.page.locator("html")).to_have_css("background-color", "rgb(19, 20, 22)")


def test_a_password_is_changed(tabs: Tabs, api: Api, account: Account, hand: Callable[[Tab], Hand]) -> None:
    # A wrong password is 401.
    tab = tabs.open(account, "account", refused=[401])
    use = hand(tab)
    use.write(tab.page.get_by_label("Current password"), "not my password")
    use.write(tab.page.get_by_label("New password"), "another horse battery")
    use.press(tab.button("Change password"))
    expect(tab.page.get_by_label("Current password")).to_have_accessible_description("This isn’t your password.")
    use.write(tab.page.get_by_label("Current password"), PASSWORD)
    use.press(tab.button("Change password"))
    tab.says(re.compile("Password changed."))
    api.call("POST", "/api/auth/login", {"email": account.email, "password": "another horse battery"})


def test_all_sessions_end_at_once(tabs: Tabs, account: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(account, "account")
    use = hand(tab)
    use.press(tab.button("Sign out everywhere"))
    use.press(tab.button("Sign out everywhere", tab.dialog("Sign out everywhere?")))
    expect(tab.heading("Sign in")).to_be_visible()
