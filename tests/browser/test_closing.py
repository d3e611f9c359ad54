"""Closing a workspace, and bringing it back."""

import re
import time

import pytest
from playwright.sync_api import Locator, Route, expect

from support.answers import made_up_links
from support.api import PASSWORD, Account, Refused
from support.states import NAME, Closed, in_closed_workspace
from support.tab import Tab, Tabs
from test_every_page import judge
from test_hostile import IMAGE, WIDTHS, assert_untouched

RESTORED = re.compile("is restored. Its links work again within a few minutes.")
CLOSE = "**/api/workspace"
# After so many seconds, no token of a closed workspace is taken any more.
REFUSED_WITHIN = 90


def begin_closing(tab: Tab) -> Locator:
    dialog = tab.dialog(re.compile("^Close .+"))
    tab.press(tab.button("Close this workspace"), shows=dialog)
    return dialog


def fill_in(tab: Tab, dialog: Locator, slug: str, password: str) -> None:
    tab.submit("Close workspace", {"to confirm": slug, "Your password": password}, dialog)


def test_a_workspace_is_closed_and_brought_back(tabs: Tabs, account: Account) -> None:
    other = account.call("POST", "/api/workspaces", {"name": "Side project"})
    here = account.call("GET", "/api/workspace")
    tab = tabs.open(account, "settings")
    fill_in(tab, begin_closing(tab), here["slug"], PASSWORD)
    tab.says(re.compile("is closed. You can restore it until"))
    expect(tab.button(re.compile("^Side project"))).to_be_visible()
    expect(tab.page).to_have_url(re.compile(f"/w/{other['slug']}/links"))

    tab.press(tab.button(re.compile("Switch workspace")))
    item = tab.page.get_by_role("menuitemradio", name=re.compile(re.escape(here["name"])))
    expect(item).to_contain_text("Closed, 7 days left")
    tab.keys("Escape")
    tab.pick(tab.button(re.compile("Switch workspace")), here["name"], heading=f"{here['name']} is closed")
    # Until it is known everywhere that it is open, it isn't to be entered.
    tab.refused.add("404")
    tab.press(tab.button(f"Restore ({here['name']})"), says=RESTORED)
    expect(tab.page).to_have_url(re.compile(f"/w/{here['slug']}/links"))
    assert [one for one in account.call("GET", "/api/me/workspaces")["workspaces"] if one["closed_at"]] == []


def test_who_closes_their_only_workspace_can_bring_it_back(tabs: Tabs, account: Account) -> None:
    here = account.call("GET", "/api/workspace")
    tab = tabs.open(account, "settings", refused=[401, 404])
    fill_in(tab, begin_closing(tab), here["slug"], PASSWORD)
    tab.says(re.compile("is closed. You can restore it until"))
    # Where everybody may create one, they may be in a new one.
    closed = tab.button(f"Restore ({here['name']})")
    if tab.page.get_by_role("heading", name="You’re not in a workspace").count() == 0:
        tab.open("settings")
    tab.press(closed, says=RESTORED)
    expect(tab.page).to_have_url(re.compile(f"/w/{here['slug']}/links"))


def test_whose_workspace_somebody_else_closes_is_told(tabs: Tabs, account: Account) -> None:
    bob, here = account.add_member(), account.call("GET", "/api/workspace")
    own = bob.slug
    bob.enter(here["slug"])
    tab = tabs.open(bob, "members", refused=[401, 404])
    account.call("DELETE", "/api/workspace", {"slug": here["slug"], "password": PASSWORD})

    over = tab.dialog("Your session has expired")
    with pytest.raises(Refused, match="401"):
        bob.wait_for("/api/workspace/members", lambda _: False, seconds=REFUSED_WITHIN)
    # Each function learns it by itself.
    until = time.monotonic() + REFUSED_WITHIN
    while not over.is_visible() and time.monotonic() < until:
        tab.come_back()
        tab.settled()
    tab.sign_in_again()
    tab.says(f"{here['name']} was closed. You’re now in")
    tab.click(tab.button("Details"), heading=f"{here['name']} is closed")
    expect(tab.page.get_by_text("An admin can restore it until")).to_be_visible()
    expect(tab.button(re.compile("^Restore"))).to_have_count(0)
    tab.page.get_by_role("link", name="Go to your links").click()
    expect(tab.page).to_have_url(re.compile(f"/w/{own}/links"))


def test_what_is_lost_is_said_in_numbers_that_are_known(tabs: Tabs, account: Account) -> None:
    account.add_member()
    account.call("POST", "/api/keys", {"name": "Nightly export"})
    numbers = {"links": {"total": 1_204, "archived": 30}, "period": {"total_clicks": 48_211, "covers": {"clicks": 48_211, "of": 50_000}}, "incomplete": []}
    targets = {"items": [{"id": f"t_{number}"} for number in range(100)], "next_page_token": "more"}
    tab = tabs.open(account, "settings", answers={"**/api/overview?*": numbers, "**/v1/targets?*": targets})
    dialog = begin_closing(tab)
    lost = dialog.get_by_role("definition")
    expect(lost).to_have_text(["1,234", "48,211+", "100+", "2", "1"])
    expect(dialog).to_contain_text("1 other member and its API keys lose access")
    expect(dialog).to_contain_text("only you can restore it")

    tab = tabs.open(account, "settings")
    for reads in ("**/api/overview?*", "**/v1/targets?*"):
        tab.fails(reads, 503, "service_unavailable")
    dialog = begin_closing(tab)
    expect(dialog.get_by_role("definition").filter(has_text="unavailable")).to_have_count(3)
    expect(dialog.get_by_role("button", name="Close workspace")).to_be_enabled()


INCOMPLETE = [
    (["links"], ["23,417+", "48,211"], "More than 23,417 links and 48,211 clicks"),
    (["clicks"], ["23,417", "48,211+"], "23,417 links and more than 48,211 clicks"),
    (["links", "clicks"], ["23,417+", "48,211+"], "More than 23,417 links and more than 48,211 clicks"),
    (["down"], ["23,417", "48,211"], "23,417 links and 48,211 clicks"),
]


def test_of_what_was_counted_in_part_more_is_lost(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    tab = tabs.open(account)
    for incomplete, numbers, words in INCOMPLETE:
        with subtests.test(incomplete=incomplete):
            tab.answers("**/api/overview?*", {"links": {"total": 23_000, "archived": 417}, "period": {"total_clicks": 48_211, "covers": None}, "incomplete": incomplete})
            tab.open("settings").reload()
            lost = begin_closing(tab).get_by_role("definition")
            expect(lost.nth(0)).to_have_text(numbers[0])
            expect(lost.nth(1)).to_have_text(numbers[1])
            tab.keys("Escape")
            tab.open("account?view=data")
            tab.button("Close my account").click()
            fates = tab.dialog("Close your account?").get_by_role("list", name="What happens to your workspaces")
            expect(fates).to_contain_text(f"You’re its only member. {words} from the last 12 months are lost immediately.")
            tab.keys("Escape")


def test_who_else_can_bring_it_back_is_named(tabs: Tabs, account: Account) -> None:
    me = account.call("GET", "/api/workspace/members")["members"]
    admin = {"email": "x@example.com", "role": "admin", "joined_at": "2026-08-03T09:00:00.000Z", "paused_at": None}
    others = [admin | {"user_id": f"u{number}", "full_name": name} for number, name in enumerate(["Grace", IMAGE, "Lin", "Maya"])]
    few = tabs.open(account, "settings", answers={"**/api/workspace/members": {"members": [*me, *others[:2]]}})
    dialog = begin_closing(few)
    expect(dialog).to_contain_text(f"For 7 days, you, Grace or {IMAGE} can restore it.")
    assert_untouched(few)
    many = tabs.open(account, "settings", answers={"**/api/workspace/members": {"members": [*me, *others]}})
    expect(begin_closing(many)).to_contain_text("any of its 5 admins can restore it")


def test_what_is_wrong_is_said_at_its_field(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "settings")
    slug = account.slug
    dialog = begin_closing(tab)
    typed, password = dialog.get_by_label("to confirm"), dialog.get_by_label("Your password")
    tab.press(dialog.get_by_role("button", name="Close workspace"), focuses=typed)
    expect(typed).to_have_accessible_description(f"Type {slug} to confirm.")
    expect(password).to_have_accessible_description("Enter your password.")

    with tab.failing(CLOSE, 401, "invalid_credentials"):
        fill_in(tab, dialog, f" {slug} ", "not my password")
        expect(password).to_have_accessible_description("Wrong password.")
        expect(password).to_be_focused()

    with tab.failing(CLOSE, 429, "rate_limited", headers={"retry-after": "30"}):
        fill_in(tab, dialog, slug, PASSWORD)
        expect(dialog.get_by_role("alert")).to_contain_text("Too many requests. You can try again in")

    with tab.failing(CLOSE, 403, "role_too_low", "this needs the role admin"):
        tab.press(dialog.get_by_role("button", name="Close workspace"))
        expect(dialog.get_by_role("alert")).to_contain_text("This needs the role admin.")

    # Another admin has changed it meanwhile.
    account.call("PATCH", "/api/workspace", {"slug": f"{slug}-x"})
    tab.refused.add("400")
    fill_in(tab, dialog, slug, PASSWORD)
    expect(typed).to_have_accessible_description(f"Its slug is now {slug}-x. Type that instead.")
    expect(dialog).to_contain_text(f"Type {slug}-x to confirm")


def test_a_closed_workspace_is_brought_back_from_its_address(tabs: Tabs, account: Account) -> None:
    closed = Closed(account, unknown=1)
    tab = tabs.open(account, "settings", answers=closed.answers, refused=[404])
    tab.open(f"w/{closed.slug}/members", heading=f"{NAME} is closed", shows="You can restore it until")
    judge(tab, "a closed workspace")
    tab.open("settings", shows=tab.button(f"Restore ({NAME})"))
    judge(tab, "the settings with a closed workspace")
    dialog = begin_closing(tab)
    dialog.get_by_role("button", name="Close workspace").click()
    expect(dialog.locator("[aria-invalid=true]")).to_have_count(2)
    judge(tab, "closing a workspace")
    tab.keys("Escape")
    tab.open(f"w/{closed.slug}/members")
    tab.press(tab.button(f"Restore ({NAME})"), says=RESTORED)
    # At the address that was wanted.
    expect(tab.heading("Members")).to_be_visible()
    expect(tab.page).to_have_url(re.compile(f"/w/{closed.slug}/members"))


def test_settings_and_account_bring_a_closed_workspace_back(tabs: Tabs, account: Account) -> None:
    closed = Closed(account)
    tab = tabs.open(account, "settings", answers=closed.answers)
    tab.write(tab.page.get_by_label("Name", exact=True), "Not saved yet")
    question = tab.open_dialog(f"Restore ({NAME})", "Discard changes?")
    tab.press(tab.button("Cancel", question))
    assert closed.is_closed
    tab.press(tab.button(f"Restore ({NAME})"))
    tab.press(tab.button("Discard", question), says=RESTORED, shows=tab.button(re.compile(f"^{NAME}")))

    closed.is_closed = True
    tab = tabs.open(account, "account", answers=closed.answers)
    expect(tab.page.get_by_role("main").get_by_role("listitem").filter(has_text=NAME)).to_contain_text("You can restore it until")
    tab.press(tab.button(f"Restore ({NAME})"), says=RESTORED, shows=tab.button(re.compile(f"^{NAME}")))


def test_in_no_workspace_the_closed_one_comes_first(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "overview", answers=in_closed_workspace(account.email), heading="You’re not in a workspace")
    card = tab.page.get_by_role("main").locator("section").first
    expect(card).to_contain_text("A workspace was closed")
    expect(card.get_by_role("listitem")).to_contain_text("You can restore it until")
    tab.fails("**/api/workspaces/*/restore", 410, "workspace_gone", "this workspace can no longer be restored")
    tab.press(tab.button(f"Restore ({NAME})"), says="This workspace can no longer be restored.")


def test_what_another_admin_has_brought_back_is_entered(tabs: Tabs, account: Account) -> None:
    closed = Closed(account)
    tab = tabs.open(account, f"w/{closed.slug}/links", answers=closed.answers)
    other = tabs.open(account, "links", answers=closed.answers)
    tab.fails("**/api/workspaces/*/restore", 409, "workspace_open")
    closed.is_closed = False
    tab.press(tab.button(f"Restore ({NAME})"), says=RESTORED)
    other.button(re.compile("Switch workspace")).click()
    other.click(other.page.get_by_role("menuitemradio", name=re.compile(NAME)), shows=other.button(re.compile(f"^{NAME}")))


def test_who_cannot_bring_it_back_is_told_why(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    for more, sentence in [({"role": "member"}, "An admin can restore it until"), ({"hours": -1}, "It’s being permanently deleted.")]:
        with subtests.test(**more):
            closed = Closed(account, **more)
            tab = tabs.open(account, f"w/{closed.slug}/links", answers=closed.answers, heading=f"{NAME} is closed")
            expect(tab.page.get_by_text(sentence)).to_be_visible()
            expect(tab.button(re.compile("^Restore"))).to_have_count(0)


def test_a_suspended_link_is_marked_and_says_what_visitors_see(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    link = made_up_links(1)[0] | {"status": "suspended", "suspended_for": ["closed", "abuse"]}
    code = link["short_code"]
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(json={"links": [link], "total": 1, "page": 1, "per_page": 50, "total_pages": 1, "next_cursor": None, "archived_left_out": 0})

    counts = account.call("GET", "/api/overview")
    counts["links"] |= {"total": 1, "active": 0, "suspended": 1}
    for width in WIDTHS:
        with subtests.test(width=width):
            tab = tabs.open(account, "links", width=width, answers={"**/api/links?*": answer, f"**/api/links/{code}": link, "**/api/overview": counts})
            expect(tab.links).to_contain_text("Suspended")
            if width == min(WIDTHS):
                tab.button("Status").click()
                tab.page.get_by_role("menuitemradio", name=re.compile("^Suspended")).click()
            else:
                tab.button(re.compile("^Suspended")).click()
            expect(tab.page).to_have_url(re.compile("status=suspended"))
            tab.settled()
            assert "status=suspended" in asked[-1]
            tab.fails(f"**/api/stats/{code}**", 404, "short_code_not_found")
            tab.open(f"links/{code}")
            notice = tab.page.get_by_role("alert").filter(has_text="suspended")
            expect(notice).to_contain_text("This link is suspended. Its workspace was closed. It works again a few minutes after the workspace is restored")
            expect(notice).to_contain_text("because of reported or detected abuse. Only the operator can lift this.")
            tab.assert_not_sideways()
