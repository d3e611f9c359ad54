"""Members: what they are offered, and what becomes of what was theirs."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Account
from support.tab import Tabs


def test_an_archived_link_of_a_member_is_handed_over_too(tabs: Tabs, account: Account) -> None:
    bob = account.add_member(enters=True)
    code = bob.shorten("https://example.com/last-year")
    bob.call("PATCH", f"/api/links/{code}", {"archived": True})
    tab = tabs.open(account, "members")
    dialog = tab.open_dialog("Remove Bob", "Remove Bob?")
    expect(dialog).to_contain_text("Their 1 link and their monitored URLs become yours. The link goes on working.")


def test_nobody_is_told_a_number_of_links_that_is_not_known(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    account.add_member()
    tab = tabs.open(account, "members")
    for total, sentence in [(0, "They have no links."), (None, "Their links and their monitored URLs become yours. The links go on working.")]:
        with subtests.test(total=total):
            tab.answers("**/api/links?*", {"links": [], "total": total, "page": 1, "per_page": 1, "total_pages": None, "next_cursor": None, "archived_left_out": 0})
            dialog = tab.open_dialog("Remove Bob", "Remove Bob?")
            expect(dialog).to_contain_text("They have made no API keys.")
            expect(dialog).to_contain_text(sentence)
            tab.page.keyboard.press("Escape")


def test_nobody_is_offered_what_their_role_does_not_allow(tabs: Tabs, account: Account) -> None:
    account.shorten("https://example.com/tagged", tags=["sale"])
    account.wait_for("/api/tags", lambda answer: len(answer["tags"]) == 1)
    bob = account.add_member(enters=True)
    tab = tabs.open(bob, "settings", refused=[403])
    expect(tab.page.get_by_role("heading", name="Jobs")).to_be_visible()
    expect(tab.button("Close this workspace")).to_have_count(0)
    expect(tab.page.get_by_role("link", name="Members").first).to_be_visible()
    expect(tab.page.get_by_role("link", name="Activity")).to_have_count(0)
    tab.open("activity")
    expect(tab.page.get_by_role("main").get_by_role("alert")).to_contain_text("Your role doesn’t allow this.")
    expect(tab.page.get_by_role("main").get_by_role("row").filter(has_text=re.compile("."))).to_have_count(0)

    tab = tabs.open(account.add_member(enters=True, role="viewer"), "links")
    expect(tab.button("Several")).to_have_count(0)
    tab.page.keyboard.press("C")
    expect(tab.dialog("New links")).to_have_count(0)
    tab.open("tags")
    expect(tab.page.get_by_role("table", name="Tags").locator(".line-title")).to_have_count(1)
    expect(tab.button(re.compile("^(Rename|Delete) "))).to_have_count(0)
    tab.open("monitoring")
    tab.page.keyboard.press("Control+k")
    palette = tab.dialog("Find anything")
    expect(palette.get_by_role("option", name=re.compile("^Overview"))).to_be_visible()
    expect(palette.get_by_role("option", name=re.compile("^API keys"))).to_have_count(0)
    expect(palette.get_by_role("group", name="On this page", exact=True)).to_have_count(0)
