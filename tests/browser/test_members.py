"""Members: what becomes of what was theirs."""

import pytest
from playwright.sync_api import Locator, expect

from support.api import Account, Api
from support.tab import Tab, Tabs
from test_workspace import join


def begin_removing_bob(tab: Tab) -> Locator:
    tab.button("Remove Bob").click()
    return tab.dialog("Remove Bob?")


def test_an_archived_link_of_a_member_is_handed_over_too(tabs: Tabs, api: Api, account: Account) -> None:
    bob = join(api, account)
    bob.token = bob.call("POST", "/api/auth/switch", {"workspace": account.call("GET", "/api/workspace")["slug"]})["token"]
    code = bob.shorten("https://example.com/last-year")
    bob.call("PATCH", f"/api/links/{code}", {"archived": True})
    dialog = begin_removing_bob(tabs.open(account, "members"))
    expect(dialog).to_contain_text("Their 1 link and their monitored URLs become yours. The link goes on working.")


def test_nobody_is_told_a_number_of_links_that_is_not_known(tabs: Tabs, api: Api, account: Account, subtests: pytest.Subtests) -> None:
    join(api, account)
    tab = tabs.open(account, "members")
    tab.settled()
    for total, sentence in [(0, "They have no links."), (None, "Their links and their monitored URLs become yours. The links go on working.")]:
        with subtests.test(total=total):
            tab.answers("**/api/links?*", {"links": [], "total": total, "page": 1, "per_page": 1, "total_pages": None, "next_cursor": None, "archived_left_out": 0})
            dialog = begin_removing_bob(tab)
            expect(dialog).to_contain_text("They have made no API keys.")
            expect(dialog).to_contain_text(sentence)
            tab.page.keyboard.press("Escape")
