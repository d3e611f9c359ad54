"""Each address has its workspace."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Account, Api
from support.tab import Tab, Tabs


def whole_view(tab: Tab) -> str:
    return tab.page.evaluate("location.hash")


def two_workspaces(account: Account) -> tuple[str, str]:
    """The one that somebody is in, and a second one with a link."""
    second = account.call("POST", "/api/workspaces", {"name": "Harbour Lamps"})["slug"]
    token = account.call("POST", "/api/auth/switch", {"workspace": second})["token"]
    account.api.call("POST", "/api/shorten", {"url": "https://example.com/lamps", "title": "Lamps", "custom_code": code_of(second)}, token=token)
    return account.slug, second


def code_of(slug: str) -> str:
    return f"lamps-{slug.rsplit('-', 1)[-1]}"


def test_an_address_without_a_workspace_gets_that_of_the_tab(tabs: Tabs, account: Account) -> None:
    slug = account.slug
    tab = tabs.open(account, "overview?range=7d")
    expect(tab.heading("Overview")).to_be_visible()
    tab.page.wait_for_url(re.compile("#/w/"))
    assert whole_view(tab) == f"#/w/{slug}/overview?range=7d"
    expect(tab.page.get_by_role("navigation").get_by_role("link", name="Members").first).to_have_attribute("href", f"#/w/{slug}/members")
    tab.page.reload()
    expect(tab.heading("Overview")).to_be_visible()
    assert whole_view(tab) == f"#/w/{slug}/overview?range=7d"
    tab.open("")
    tab.page.wait_for_url(re.compile("#/w/"))
    assert whole_view(tab) == f"#/w/{slug}/links"
    tab.settled()


def test_a_link_of_another_workspace_opens_there_without_moving_other_tabs(tabs: Tabs, account: Account) -> None:
    first, second = two_workspaces(account)
    here = tabs.open(account, "links")
    expect(here.heading("Links")).to_be_attached()

    # A mail names it by its id.
    ids = {one["slug"]: one["workspace_id"] for one in account.call("GET", "/api/me/workspaces")["workspaces"]}
    for workspace in (second, ids[second]):
        there = tabs.open(account, f"w/{workspace}/links/{code_of(second)}")
        expect(there.page.get_by_text("Lamps", exact=True)).to_be_visible()
        expect(there.button(re.compile("Harbour Lamps"))).to_be_visible()
        assert whole_view(there).startswith(f"#/w/{second}/links/{code_of(second)}")
    there.open(f"w/{ids[first]}/members")
    expect(there.heading("Members")).to_be_visible()
    assert whole_view(there) == f"#/w/{first}/members"
    here.page.get_by_role("link", name="Members").click()
    expect(here.heading("Members")).to_be_visible()
    assert whole_view(here) == f"#/w/{first}/members"
    here.settled()


def test_an_address_of_no_workspace_of_ones_own_says_so_and_fits(tabs: Tabs, api: Api, account: Account, subtests: pytest.Subtests) -> None:
    stranger = api.register("Eve", name="eve")
    for width, workspace in [(1280, "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7c01"), (320, "z" * 100), (1280, stranger.slug)]:
        with subtests.test(workspace):
            tab = tabs.open(account, f"w/{workspace}/links", refused=[404], width=width)
            expect(tab.heading("Not one of your workspaces")).to_be_visible()
            tab.assert_not_sideways()
    expect(tab.page.get_by_text("You aren’t a member of it.")).to_be_visible()
    tab.press(tab.page.get_by_role("link", name="To your links"))
    expect(tab.heading("Links")).to_be_attached()
    assert whole_view(tab) == f"#/w/{account.slug}/links"
    tab.settled()


def test_a_tab_goes_to_and_fro_between_workspaces_by_its_address(tabs: Tabs, account: Account) -> None:
    first, second = two_workspaces(account)
    tab = tabs.open(account, "settings")
    expect(tab.heading("Settings")).to_be_visible()
    tab.pick(tab.button(re.compile("Switch workspace")), "Harbour Lamps")
    tab.says("You are in Harbour Lamps now.")
    assert whole_view(tab) == f"#/w/{second}/links"
    expect(tab.page.get_by_text("Lamps").first).to_be_visible()
    tab.settled()

    tab.page.go_back()
    expect(tab.heading("Settings")).to_be_visible()
    assert whole_view(tab) == f"#/w/{first}/settings"
    tab.settled()
    tab.page.go_forward()
    expect(tab.page.locator(".link-row").filter(has_text="Lamps")).to_be_visible()
    tab.settled()
