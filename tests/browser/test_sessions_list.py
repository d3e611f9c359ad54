"""The account's page where something is missing: sessions that aren't listed, mail that isn't sent, data that can't be read."""

import re

from playwright.sync_api import Route, expect

from support.api import Account
from support.states import DOMAINS, REGISTRATION, own_session
from support.tab import Tabs

SESSIONS = "**/api/me/sessions"
EXPORT = "**/api/me/export*"
NOWHERE_ELSE = "You are signed in nowhere else."


def test_who_has_more_sessions_than_are_listed_is_told(tabs: Tabs, account: Account) -> None:
    listed = {"sessions": [own_session(0), own_session(1)], "has_more": True}
    tab = tabs.open(account, "account?view=sessions", answers={SESSIONS: listed, f"{SESSIONS}/*": None})
    told = tab.page.get_by_text("Only the latest 100 are shown. “Sign out everywhere” ends the others, too.")
    expect(told).to_be_visible()
    tab.button(re.compile("^Sign out there")).click()
    tab.says("That session ends within a minute.")
    # The last one that is listed isn't the last one.
    expect(tab.page.get_by_role("list", name="Sessions").get_by_role("listitem")).to_have_count(1)
    expect(told).to_be_focused()
    expect(tab.page.get_by_text(NOWHERE_ELSE)).to_have_count(0)

    tab.answers(SESSIONS, {"sessions": [own_session(0)], "has_more": False})
    tab.page.reload()
    expect(tab.page.get_by_text(NOWHERE_ELSE)).to_be_visible()
    expect(tab.page.get_by_text("Only the latest")).to_have_count(0)


def test_without_mails_there_is_nothing_to_choose(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account?view=mail", answers={REGISTRATION: DOMAINS | {"sends_mail": False}})
    said = tab.page.get_by_text("This Linklet sends no mails, not even about security.")
    expect(said).to_be_visible()
    tab.settled()
    expect(tab.page.get_by_role("radio")).to_have_count(0)
    expect(tab.page.get_by_text("always comes")).to_have_count(0)
    said.get_by_role("link", name="Activity").click()
    expect(tab.page.get_by_role("table", name="What has happened to your account")).to_be_visible()


def test_a_failed_export_moves_the_focus_to_try_again_and_back(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account?view=data")
    tab.fails(EXPORT, 500, "internal_error")
    tab.button("Download my data").focus()
    tab.page.keyboard.press("Enter")
    expect(tab.button("Try again")).to_be_focused()
    tab.recovers(EXPORT)
    held = tab.hold(EXPORT)
    tab.page.keyboard.press("Enter")
    expect(tab.button("Cancel")).to_be_focused()
    with tab.page.expect_download():
        held.let_go()
    expect(tab.button("Download my data")).to_be_focused()


def test_who_is_elsewhere_when_reading_ones_data_fails_stays_there(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account?view=data")
    refused = {"status": 500, "json": {"status": 500, "code": "internal_error", "detail": "not now"}}
    first: list[Route] = []

    def hold_the_first(route: Route) -> None:
        # What is read is tried again at once.
        if first:
            return route.fulfill(**refused)
        return first.append(route)

    tab.answers(EXPORT, hold_the_first)
    tab.refused.add("500")
    with tab.page.expect_request(EXPORT):
        tab.button("Download my data").click()
    elsewhere = tab.button("Close my account")
    elsewhere.focus()
    expect(tab.button("Cancel")).to_be_visible()
    first[0].fulfill(**refused)
    expect(tab.button("Try again")).to_be_visible()
    expect(elsewhere).to_be_focused()
