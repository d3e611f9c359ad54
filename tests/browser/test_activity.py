"""What admins see of who has done what in the workspace."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from support.answers import query_of
from support.api import Account
from support.listening import hears, listen
from support.tab import Tab, Tabs
from support.feeds import AuditLog, entry, person

GRACE = "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a22"
GONE = "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a99"
LINK = {"kind": "link", "id": "launch"}


def rows(tab: Tab) -> Locator:
    return tab.page.get_by_role("table", name="Activity").locator("tbody tr")


def test_what_an_admin_does_is_in_the_activity(tabs: Tabs, account: Account) -> None:
    account.add_member()
    prefix = account.call("POST", "/api/keys", {"name": "Nightly export"})["prefix"]
    account.call("PATCH", "/api/workspace", {"name": "Marketing"})
    tab = tabs.open(account, "members")
    tab.follow("Activity", "Activity")
    expect(rows(tab).filter(has_text="Joined the workspace as a member")).to_contain_text("Bob")
    expect(rows(tab).filter(has_text=f"Created the API key {prefix}")).to_contain_text(account.email)
    expect(rows(tab).filter(has_text="Changed the workspace")).to_contain_text("“name: Marketing”")
    expect(rows(tab).last).to_contain_text("Created the workspace")

    tab.pick(tab.button("Action"), "API keys", counts=(rows(tab), 1))
    tab.follow(prefix, "API keys")


def test_activity_is_narrowed_by_what_who_and_when(tabs: Tabs, account: Account) -> None:
    [me] = account.call("GET", "/api/workspace/members")["members"]
    mine, hers = person(me["user_id"]), person(GRACE, "Grace")
    audit_log = AuditLog([entry(1, "key.created", mine), entry(2, "member.removed", mine), entry(3, "member.left", hers), entry(4, "job.finished"), entry(900, "member.joined", hers)])
    tab = tabs.open(account, "activity", answers=audit_log.answers)
    expect(rows(tab)).to_have_count(5)
    tab.pick(tab.button("Action"), "Members", counts=(rows(tab), 3), at="activity?what=member")

    tab.press(rows(tab).get_by_role("link", name="Grace").first, counts=(rows(tab), 2))
    tab.press(tab.button("Date"))
    tab.dialog("Date range").get_by_label("To (inclusive)").fill("2020-01-31")
    tab.press(tab.button("Show"), shows="No activity matches these filters.")
    assert tab.view() == f"activity?what=member&who={GRACE}&to=2020-01-31"
    # The day is the visitor's.
    assert audit_log.asked[-1] == {"action": "member", "actor": GRACE, "to": "2020-01-31T22:59:59.999Z"}

    tab.reload(shows="Until 31 Jan 2020")
    # Who is no member any more is in no list, and has no name.
    expect(tab.page.get_by_text("By a former member")).to_be_visible()
    tab.press(tab.button("Clear"), counts=(rows(tab), 5), at="activity")
    tab.pick(tab.button("Person"), "Linklet", counts=(rows(tab), 1))


def test_an_entry_links_to_its_subject_while_that_exists(tabs: Tabs, account: Account) -> None:
    account.call("POST", "/api/keys", {"name": "Nightly export"})
    [key] = account.call("GET", "/api/keys")["keys"]
    [me] = account.call("GET", "/api/workspace/members")["members"]
    mine = person(me["user_id"], "Ada")
    audit_log = AuditLog([
        entry(1, "link.changed", mine, LINK),
        entry(2, "link.purged", mine, LINK | {"id": "gone"}),
        entry(3, "key.paused", mine, {"kind": "key", "id": key["prefix"], "name": "Nightly export"}),
        entry(4, "key.created", mine, {"kind": "key", "id": "lk_live_gone", "name": "Gone"}),
        entry(5, "member.role_changed", mine, {"kind": "member", "id": me["user_id"], "name": "Ada"}, **{"from": "member", "to": "admin"}),
        entry(6, "member.removed", mine, {"kind": "member", "id": GONE}),
        entry(7, "job.finished", None, {"kind": "job", "id": "j1"}, to="done"),
    ])
    tab = tabs.open(account, "activity", answers=audit_log.answers)
    first = rows(tab).locator("th").get_by_role("link")
    expect(first).to_have_count(4)
    assert [link.get_attribute("href").split("/", 3)[-1] for link in first.all()] == ["links/launch", "keys", "members", "settings?job=j1"]
    expect(rows(tab).nth(5)).to_contain_text("Removed a former member")


def deleted(numbers: range) -> list[dict[str, Any]]:
    """Links that Grace has deleted."""
    return [entry(number, "link.deleted", person(GRACE, "Grace"), LINK | {"id": f"link-{number}"}) for number in numbers]


def are_listed(tab: Tab, numbers: list[int]) -> None:
    expect(rows(tab).locator("th")).to_have_text([f"Deleted the link link-{number}" for number in numbers])


@pytest.mark.parametrize(("new", "shown", "further"), [(3, [*range(200, 203), *range(100)], 20), (60, [*range(200, 250)], 50)])
def test_what_is_new_pushes_nothing_out_of_the_activity(tabs: Tabs, account: Account, new: int, shown: list[int], further: int) -> None:
    """If more is new than is read at once, it begins anew."""
    audit_log = AuditLog(deleted(range(120)))
    tab = tabs.open(account, "activity", answers=audit_log.answers)
    tab.button("Load more").click()
    are_listed(tab, [*range(100)])
    audit_log.rows = [*deleted(range(200, 200 + new)), *audit_log.rows]
    tab.come_back()
    are_listed(tab, shown)
    tab.button("Load more").click()
    are_listed(tab, [*range(200, 200 + new), *range(120)][: len(shown) + further])


def test_the_focus_stays_in_the_filters_of_the_activity(tabs: Tabs, account: Account) -> None:
    audit_log = AuditLog([entry(1, "member.removed", person(GRACE, "Grace")), entry(2, "job.finished")])
    tab = tabs.open(account, "activity", answers=audit_log.answers)
    anybody, any_time = tab.button("Show everyone’s activity"), tab.button("Clear dates")
    tab.pick(tab.button("Person"), "Linklet", focuses=anybody)
    tab.press(anybody, focuses=tab.button("Person"))
    tab.press(tab.button("Date"))
    tab.dialog("Date range").get_by_label("From").fill("2020-01-31")
    tab.press(tab.button("Show"), focuses=any_time)
    tab.press(any_time, focuses=tab.button("Date"))
    tab.press(rows(tab).get_by_role("link", name="Grace"), focuses=anybody)
    tab.press(tab.button("Clear"), focuses=tab.button("Action"))


def test_more_activity_is_loaded_and_a_failure_is_tried_again(tabs: Tabs, account: Account) -> None:
    audit_log = AuditLog(deleted(range(120)))
    tab = listen(tabs.open(account, "activity", answers=audit_log.answers))
    expect(rows(tab)).to_have_count(50)
    tab.press(tab.button("Load more"), counts=(rows(tab), 100), focuses=tab.button("Load more"))
    hears(tab, "100 entries")
    with tab.failing("**/api/workspace/audit?*", 503, "service_unavailable"):
        tab.press(tab.button("Load more"))
        failure = tab.page.get_by_role("main").get_by_role("alert")
        expect(failure).to_contain_text("Couldn’t load more.")
        expect(tab.button("Try again", failure)).to_be_focused()
        expect(rows(tab)).to_have_count(100)
    tab.answers("**/api/workspace/audit?*", audit_log.answer)
    tab.press(tab.button("Try again", failure), counts=(rows(tab), 120), lacks=tab.button("Load more"))
    expect(rows(tab).nth(100)).to_be_focused()
    assert [query.get("after") for query in audit_log.asked[-3:]] == [None, "e49", "e99"]


def found_at(*pages: int, last: int) -> tuple[list[int], dict[str, Any]]:
    """An entry on each of these pages and none on the others, and which pages were asked for."""
    asked: list[int] = []

    def answer(route: Route) -> None:
        page = int(query_of(route).get("after", 0))
        asked.append(page)
        entries = [entry(page, "key.created", person(GRACE, "Grace"))] if page in pages else []
        route.fulfill(json={"entries": entries, "next_cursor": str(page + 1) if page < last else None})

    return asked, {"**/api/workspace/audit?*": answer}


def test_entries_that_fit_are_found_however_far_back_they_are(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "activity?what=key", answers=found_at(3, 5, last=6)[1])
    expect(rows(tab)).to_have_count(1)
    tab.click(tab.button("Load more"), counts=(rows(tab), 2))
    tab.click(tab.button("Load more"), lacks=tab.button("Load more"), counts=(rows(tab), 2))


def test_what_is_not_found_is_looked_for_further_back_only_when_asked(tabs: Tabs, account: Account) -> None:
    asked, answers = found_at(7, last=12)
    tab = tabs.open(account, "activity?what=key", answers=answers)
    further = tab.button("Look further back")
    expect(further).to_be_visible()
    expect(tab.page.get_by_role("main").get_by_role("status")).to_have_text("Nothing found so far.")
    assert asked == [*range(5)]
    # What nobody has found isn't looked for again when one comes back.
    tab.come_back()
    tab.settled()
    assert asked == [*range(5)]
    tab.press(further, counts=(rows(tab), 1), focuses=tab.button("Load more"))
    tab.press(tab.button("Load more"), lacks=further, focuses=rows(tab))
    assert asked == [*range(13)]


def test_changing_the_filter_or_leaving_the_page_cancels_the_search(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "activity")
    expect(rows(tab).first).to_be_visible()
    held = tab.hold("**/api/workspace/audit?*")
    with tab.page.expect_request(lambda request: "action=key" in request.url):
        tab.pick(tab.button("Action"), "API keys")
    with tab.page.expect_event("requestfailed", lambda request: "action=key" in request.url):
        tab.pick(tab.button("API keys"), "Links")
    with tab.page.expect_event("requestfailed", lambda request: "action=link" in request.url):
        tab.page.get_by_role("link", name="Members").click()
    assert held.count == 2


def test_activity_is_saved_as_it_is_filtered(tabs: Tabs, account: Account) -> None:
    audit_log = AuditLog([entry(number, "link.deleted" if number % 2 else "key.created", person(GRACE, "Grace")) for number in range(240)])
    tab = tabs.open(account, "activity?what=link", answers=audit_log.answers)
    expect(rows(tab)).to_have_count(50)
    with tab.page.expect_download() as saving:
        tab.press(tab.button("Download"))
    assert saving.value.suggested_filename == "activity.csv"
    lines = saving.value.path().read_text().splitlines()
    assert lines[0] == "id,action"
    assert (len(lines), {line.split(",")[1] for line in lines[1:]}) == (121, {"link.deleted"})
    tab.fails("**/api/workspace/audit?*", 503, "service_unavailable")
    tab.press(tab.button("Download"), says="Couldn’t save the file. Linklet is temporarily unavailable.")
    expect(tab.button("Download")).to_have_attribute("aria-busy", "false")
