"""What admins see of who has done what in the workspace."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Route, expect

from support.api import Account, Api
from support.hand import Keyboard
from support.listening import hears, listen
from support.tab import Tab, Tabs
from support.trail import Trail, entry, person
from test_hostile import IMAGE, SCRIPT, WIDTHS, assert_untouched
from test_workspace import join

GRACE = "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a22"
GONE = "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a99"
LINK = {"kind": "link", "id": "launch"}


def rows(tab: Tab) -> Locator:
    return tab.page.get_by_role("table", name="Activity").locator("tbody tr")


def test_what_an_admin_does_is_in_the_activity(tabs: Tabs, api: Api, account: Account) -> None:
    join(api, account)
    prefix = account.call("POST", "/api/keys", {"name": "Nightly export"})["prefix"]
    account.call("PATCH", "/api/workspace", {"name": "Marketing"})
    tab = tabs.open(account, "members")
    use = Keyboard(tab)
    use.press(tab.page.get_by_role("link", name="Activity"))
    expect(tab.heading("Activity")).to_be_visible()
    expect(rows(tab).filter(has_text="Joined the workspace as a member")).to_contain_text("Bob")
    expect(rows(tab).filter(has_text=f"Created the API key {prefix}")).to_contain_text(account.email)
    expect(rows(tab).filter(has_text="Changed the workspace")).to_contain_text("“name: Marketing”")
    expect(rows(tab).last).to_contain_text("Created the workspace")

    use.pick(tab.button("What"), "API keys")
    expect(rows(tab)).to_have_count(1)
    use.press(tab.page.get_by_role("link", name=prefix))
    expect(tab.heading("API keys")).to_be_visible()


def test_activity_is_narrowed_by_what_who_and_when(tabs: Tabs, account: Account) -> None:
    [me] = account.call("GET", "/api/workspace/members")["members"]
    mine, hers = person(me["user_id"]), person(GRACE, "Grace")
    trail = Trail([entry(1, "key.created", mine), entry(2, "member.removed", mine), entry(3, "member.left", hers), entry(4, "job.finished"), entry(900, "member.joined", hers)])
    tab = tabs.open(account, "activity", answers=trail.answers)
    use = Keyboard(tab)
    expect(rows(tab)).to_have_count(5)
    use.pick(tab.button("What"), "Members")
    expect(rows(tab)).to_have_count(3)
    assert tab.view() == "activity?what=member"

    use.press(rows(tab).get_by_role("link", name="Grace").first)
    expect(rows(tab)).to_have_count(2)
    use.press(tab.button("When"))
    tab.dialog("Done between").get_by_label("To, with that day").fill("2020-01-31")
    use.press(tab.button("Show"))
    expect(tab.page.get_by_text("Nothing was done that matches these filters.")).to_be_visible()
    assert tab.view() == f"activity?what=member&who={GRACE}&to=2020-01-31"
    # The day is the visitor's.
    assert trail.asked[-1] == {"action": "member", "actor": GRACE, "to": "2020-01-31T22:59:59.999Z"}

    tab.page.reload()
    expect(tab.page.get_by_text("Until 31 Jan 2020")).to_be_visible()
    # Who is no member any more is in no list, and has no name.
    expect(tab.page.get_by_text("By a former member")).to_be_visible()
    use.press(tab.button("Clear"))
    expect(rows(tab)).to_have_count(5)
    assert tab.view() == "activity"
    use.pick(tab.button("Who"), "Linklet")
    expect(rows(tab)).to_have_count(1)


def test_an_entry_links_to_its_subject_while_that_exists(tabs: Tabs, account: Account) -> None:
    account.call("POST", "/api/keys", {"name": "Nightly export"})
    [key] = account.call("GET", "/api/keys")["keys"]
    [me] = account.call("GET", "/api/workspace/members")["members"]
    mine = person(me["user_id"], "Ada")
    trail = Trail([
        entry(1, "link.changed", mine, LINK),
        entry(2, "link.purged", mine, LINK | {"id": "gone"}),
        entry(3, "key.paused", mine, {"kind": "key", "id": key["prefix"], "name": "Nightly export"}),
        entry(4, "key.created", mine, {"kind": "key", "id": "sk_live_gone", "name": "Gone"}),
        entry(5, "member.role_changed", mine, {"kind": "member", "id": me["user_id"], "name": "Ada"}, **{"from": "member", "to": "admin"}),
        entry(6, "member.removed", mine, {"kind": "member", "id": GONE}),
        entry(7, "job.finished", None, {"kind": "job", "id": "j1"}, to="done"),
    ])
    tab = tabs.open(account, "activity", answers=trail.answers)
    first = rows(tab).locator("th").get_by_role("link")
    expect(first).to_have_count(4)
    assert [link.get_attribute("href").split("/", 3)[-1] for link in first.all()] == ["links/launch", "keys", "members", "settings?job=j1"]
    expect(rows(tab).nth(5)).to_contain_text("Removed a former member")


def test_the_end_of_a_job_names_its_work_and_outcome(tabs: Tabs, account: Account) -> None:
    told = {"from": "purge links with their statistics", "to": "done: 4,998 links changed, 2 failed"}
    trail = Trail([entry(1, "job.finished", person(GRACE, "Grace"), {"kind": "job", "id": "j1"}, **told)])
    tab = tabs.open(account, "activity", answers=trail.answers)
    expect(rows(tab).locator("th")).to_have_text("Finished a job: purge links with their statistics – done: 4,998 links changed, 2 failed")


def deleted(numbers: range) -> list[dict[str, Any]]:
    """Links that Grace has deleted."""
    return [entry(number, "link.deleted", person(GRACE, "Grace"), LINK | {"id": f"link-{number}"}) for number in numbers]


def are_listed(tab: Tab, numbers: list[int]) -> None:
    expect(rows(tab).locator("th")).to_have_text([f"Deleted the link link-{number}" for number in numbers])


def two_parts_of_activity(tabs: Tabs, account: Account) -> tuple[Tab, Trail]:
    """What is shown of 120 entries once more were loaded."""
    trail = Trail(deleted(range(120)))
    tab = tabs.open(account, "activity", answers=trail.answers)
    tab.button("Load more").click()
    are_listed(tab, [*range(100)])
    return tab, trail


def test_what_is_new_pushes_nothing_out_of_the_activity(tabs: Tabs, account: Account) -> None:
    tab, trail = two_parts_of_activity(tabs, account)
    trail.rows = [*deleted(range(200, 203)), *trail.rows]
    tab.come_back()
    are_listed(tab, [*range(200, 203), *range(100)])
    tab.button("Load more").click()
    are_listed(tab, [*range(200, 203), *range(120)])


def test_activity_begins_anew_when_more_is_new_than_is_read_at_once(tabs: Tabs, account: Account) -> None:
    tab, trail = two_parts_of_activity(tabs, account)
    trail.rows = [*deleted(range(200, 260)), *trail.rows]
    tab.come_back()
    are_listed(tab, [*range(200, 250)])
    tab.button("Load more").click()
    are_listed(tab, [*range(200, 260), *range(40)])


def test_the_focus_stays_in_the_filters_of_the_activity(tabs: Tabs, account: Account) -> None:
    trail = Trail([entry(1, "member.removed", person(GRACE, "Grace")), entry(2, "job.finished")])
    tab = tabs.open(account, "activity", answers=trail.answers)
    use = Keyboard(tab)
    anybody, any_time = tab.button("By anybody"), tab.button("From any time")
    use.pick(tab.button("Who"), "Linklet")
    expect(anybody).to_be_focused()
    use.press(anybody)
    expect(tab.button("Who")).to_be_focused()
    use.press(tab.button("When"))
    tab.dialog("Done between").get_by_label("From").fill("2020-01-31")
    use.press(tab.button("Show"))
    expect(any_time).to_be_focused()
    use.press(any_time)
    expect(tab.button("When")).to_be_focused()
    use.press(rows(tab).get_by_role("link", name="Grace"))
    expect(anybody).to_be_focused()
    use.press(tab.button("Clear"))
    expect(tab.button("What")).to_be_focused()


def test_the_focus_goes_to_what_the_last_part_has_brought(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "activity", answers=Trail(deleted(range(120))).answers)
    use = Keyboard(tab)
    use.press(tab.button("Load more"))
    expect(rows(tab)).to_have_count(100)
    expect(tab.button("Load more")).to_be_focused()
    use.press(tab.button("Load more"))
    expect(rows(tab)).to_have_count(120)
    expect(rows(tab).nth(100)).to_be_focused()


def test_more_activity_is_loaded_and_a_failure_is_tried_again(tabs: Tabs, account: Account) -> None:
    trail = Trail(deleted(range(120)))
    tab = listen(tabs.open(account, "activity", answers=trail.answers))
    use = Keyboard(tab)
    expect(rows(tab)).to_have_count(50)
    use.press(tab.button("Load more"))
    expect(rows(tab)).to_have_count(100)
    hears(tab, "100 entries")
    tab.fails("**/api/workspace/audit?*", 503, "service_unavailable")
    use.press(tab.button("Load more"))
    failure = tab.page.get_by_role("main").get_by_role("alert")
    expect(failure).to_contain_text("No more could be loaded.")
    expect(tab.button("Try again", failure)).to_be_focused()
    expect(rows(tab)).to_have_count(100)
    tab.recovers("**/api/workspace/audit?*")
    tab.answers("**/api/workspace/audit?*", trail.answer)
    use.press(tab.button("Try again", failure))
    expect(rows(tab)).to_have_count(120)
    expect(tab.button("Load more")).to_have_count(0)


def test_entries_that_fit_are_found_however_far_back_they_are(tabs: Tabs, account: Account) -> None:
    def answer(route: Route) -> None:
        after = int(parse_qs(urlsplit(route.request.url).query).get("after", ["0"])[0])
        # Of those that are read for a page, none fits, or few do.
        entries = [entry(after, "key.created", person(GRACE, "Grace"))] if after in (3, 5) else []
        route.fulfill(json={"entries": entries, "next_cursor": str(after + 1) if after < 6 else None})

    tab = tabs.open(account, "activity?what=key", answers={"**/api/workspace/audit?*": answer})
    expect(rows(tab)).to_have_count(1)
    tab.button("Load more").click()
    expect(rows(tab)).to_have_count(2)
    tab.button("Load more").click()
    expect(tab.button("Load more")).to_have_count(0)
    expect(rows(tab)).to_have_count(2)


def test_what_is_not_found_is_looked_for_further_back_only_when_asked(tabs: Tabs, account: Account) -> None:
    asked: list[int] = []

    def answer(route: Route) -> None:
        asked.append(int(parse_qs(urlsplit(route.request.url).query).get("after", ["0"])[0]))
        found = [entry(1, "key.created", person(GRACE, "Grace"))] if asked[-1] == 7 else []
        route.fulfill(json={"entries": found, "next_cursor": str(asked[-1] + 1) if asked[-1] < 12 else None})

    tab = tabs.open(account, "activity?what=key", answers={"**/api/workspace/audit?*": answer})
    use = Keyboard(tab)
    further = tab.button("Look further back")
    expect(further).to_be_visible()
    expect(tab.page.get_by_role("main").get_by_role("status")).to_have_text("Nothing found so far.")
    assert asked == [*range(5)]
    # What nobody has found isn't looked for again when one comes back.
    tab.come_back()
    tab.settled()
    assert asked == [*range(5)]
    use.press(further)
    expect(rows(tab)).to_have_count(1)
    expect(tab.button("Load more")).to_be_focused()
    use.press(tab.button("Load more"))
    expect(further).to_have_count(0)
    expect(rows(tab)).to_be_focused()
    assert asked == [*range(13)]


def test_changing_the_filter_or_leaving_the_page_cancels_the_search(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "activity")
    expect(rows(tab).first).to_be_visible()
    held = tab.hold("**/api/workspace/audit?*")
    with tab.page.expect_request(lambda request: "action=key" in request.url):
        Keyboard(tab).pick(tab.button("What"), "API keys")
    with tab.page.expect_event("requestfailed", lambda request: "action=key" in request.url):
        Keyboard(tab).pick(tab.button("API keys"), "Links")
    with tab.page.expect_event("requestfailed", lambda request: "action=link" in request.url):
        tab.page.get_by_role("link", name="Members").click()
    assert held.count == 2


def test_activity_is_saved_as_it_is_filtered(tabs: Tabs, account: Account, tmp_path: Path) -> None:
    trail = Trail([entry(number, "link.deleted" if number % 2 else "key.created", person(GRACE, "Grace")) for number in range(240)])
    tab = tabs.open(account, "activity?what=link", answers=trail.answers)
    expect(rows(tab)).to_have_count(50)
    with tab.page.expect_download() as saving:
        Keyboard(tab).press(tab.button("Download"))
    assert saving.value.suggested_filename == "activity.csv"
    saving.value.save_as(tmp_path / "activity.csv")
    lines = (tmp_path / "activity.csv").read_text().splitlines()
    assert lines[0] == "id,action"
    assert (len(lines), {line.split(",")[1] for line in lines[1:]}) == (121, {"link.deleted"})


def test_what_cannot_be_saved_is_said(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "activity", answers=Trail([entry(1, "job.finished")]).answers)
    expect(rows(tab)).to_have_count(1)
    tab.fails("**/api/workspace/audit?*", 503, "service_unavailable")
    tab.button("Download").click()
    tab.says("This couldn’t be saved. Linklet can’t reach its data at the moment.")
    expect(tab.button("Download")).to_have_attribute("aria-busy", "false")


def test_hostile_names_in_the_activity_do_nothing_and_fit(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    hostile = person(GRACE, IMAGE * 4)
    trail = Trail([
        entry(1, "key.created", hostile, {"kind": "key", "id": "sk_live_x", "name": SCRIPT * 3}),
        entry(2, "workspace.changed", hostile, None, **{"from": f"name: {IMAGE}", "to": f"name: {'x' * 200}"}),
        entry(3, "member.removed", hostile, {"kind": "member", "id": GONE, "name": "\u202egnp.exe"}),
        entry(4, f"link.{SCRIPT}", hostile, LINK),
        entry(5, "target.deleted", hostile, {"kind": "target", "id": "t_1", "name": f"https://evil.example/{'a' * 300}"}),
        entry(6, "job.finished", hostile, {"kind": "job", "id": "j1"}, **{"from": f"add the tag {IMAGE}", "to": f"done: {'9' * 200} links changed"}),
    ])
    for width in WIDTHS:
        with subtests.test(width=width):
            tab = tabs.open(account, "activity", width=width, answers=trail.answers)
            expect(rows(tab)).to_have_count(6)
            assert_untouched(tab)
            tab.assert_not_sideways()


def test_only_admins_are_offered_the_activity(tabs: Tabs, api: Api, account: Account) -> None:
    bob = join(api, account)
    slug = account.call("GET", "/api/workspace")["slug"]
    bob.token = bob.call("POST", "/api/auth/switch", {"workspace": slug})["token"]
    tab = tabs.open(bob, "members")
    expect(tab.heading("Members")).to_be_visible()
    tab.settled()
    expect(tab.page.get_by_role("link", name="Activity")).to_have_count(0)
    tab.refused.add("403")
    tab.open("activity")
    expect(tab.page.get_by_role("main").get_by_role("alert")).to_contain_text("Your role doesn’t allow this.")
    expect(tab.page.get_by_role("main").get_by_role("row").filter(has_text=re.compile("."))).to_have_count(0)
