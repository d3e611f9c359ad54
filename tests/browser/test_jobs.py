"""Jobs, which change many links while somebody looks, and while nobody does."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from support.api import Account
from support.feeds import Feed, Jobs, job, notification
from support.tab import Tab, Tabs

TITLE = "Rename the tag “print” to “on paper”"
FAILURES = [{"short_code": "menu", "code": "invalid_input", "detail": "a link has at most 20 tags"}]


@pytest.fixture
def mine(account: Account) -> dict[str, Any]:
    """One's own job, which runs."""
    return job(1, "rename_tag", "running", by=account.call("GET", "/api/me")["user_id"], **{"from": "print", "to": "on paper"}, changed=3)


def theirs(number: int, kind: str = "archive", state: str = "queued", **more: Any) -> dict[str, Any]:
    return job(number, kind, state, by="019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a22", name="Grace Hopper", **more)


def progress(tab: Tab, text: str, title: str = TITLE) -> None:
    """Waits until it has come so far."""
    bar = tab.page.get_by_role("progressbar", name=title)
    expect(bar).to_have_attribute("aria-valuetext", text)
    expect(tab.page.get_by_role("group", name=title)).to_contain_text(text)


def shown(tab: Tab) -> Locator:
    return tab.page.get_by_role("region", name="Jobs").get_by_role("group")


def test_a_job_is_followed_over_pages_and_reloads_and_stopped(tabs: Tabs, account: Account, mine: dict[str, Any]) -> None:
    jobs = Jobs([mine])
    tab = tabs.open(account, "tags", answers=jobs.answers)
    progress(tab, "3 of 8 changed")
    jobs.change(0, changed=6)
    progress(tab, "6 of 8 changed")
    tab.reload()
    progress(tab, "6 of 8 changed")
    tab.follow("Overview", "Overview")
    tab.settled()
    tab.press(tab.page.get_by_role("link", name="Tags"))
    progress(tab, "6 of 8 changed")
    tab.press(tab.button(f"Stop {TITLE}"), focuses=tab.button(f"Stopping {TITLE}"))
    assert jobs.stopped == [mine["id"]]
    jobs.change(0, state="cancelled")
    tab.says("Stopped. 6 links retagged before that.")
    expect(shown(tab)).to_have_count(0)
    expect(tab.heading("Tags")).to_be_focused()


def test_a_finished_job_is_told_once_and_reloads_the_page(tabs: Tabs, account: Account, mine: dict[str, Any]) -> None:
    jobs = Jobs([mine])
    tab = tabs.open(account, "tags", answers=jobs.answers)
    progress(tab, "3 of 8 changed")
    tab.settled()
    with tab.page.expect_request("**/api/tags"):
        jobs.change(0, state="done", changed=8)
    tab.says("8 links retagged.")
    expect(shown(tab)).to_have_count(0)
    tab.button("Dismiss").click()
    tab.come_back()
    tab.page.get_by_role("link", name="Overview").click()
    tab.page.get_by_role("link", name="Tags").click()
    tab.settled()
    expect(tab.page.locator(".toast")).to_have_count(0)

    # One that is hidden ends quietly.
    jobs = Jobs([mine])
    mine |= {"state": "running", "ended_at": None, "changed": 3}
    tab = tabs.open(account, "tags", answers=jobs.answers)
    tab.press(tab.button(f"Hide {TITLE}"), lacks=shown(tab), focuses=tab.heading("Tags"))
    with tab.page.expect_request("**/api/tags"):
        jobs.change(0, state="done", changed=8)
    tab.settled()
    expect(tab.page.locator(".toast")).to_have_count(0)


def test_jobs_wait_behind_others(tabs: Tabs, account: Account, mine: dict[str, Any]) -> None:
    waiting = mine | {"state": "queued", "started_at": None, "changed": 0}
    jobs = Jobs([waiting, theirs(2, filter={"tag": ["a,b", "-c"], "archived": "all"}), theirs(3, "delete", "running", expected=None, filter={"all": True})])
    tab = tabs.open(account, "tags", answers=jobs.answers)
    progress(tab, "Waiting for 2 others")
    progress(tab, "Waiting for 1 other", "Archive links")
    progress(tab, "0 changed", "Delete links")
    expect(shown(tab).nth(1)).to_contain_text("Links with the tag “a” or “b”, without the tag “c”, including archived ones · Grace Hopper")
    expect(tab.page.get_by_role("progressbar", name="Delete links")).not_to_have_attribute("aria-valuenow", re.compile("."))
    # Its end is told to whoever began it.
    jobs.change(2, state="done", changed=4)
    progress(tab, "Waiting for 1 other")
    jobs.change(1, state="done", changed=1)
    progress(tab, "Starting soon")
    expect(tab.page.locator(".toast")).to_have_count(0)


def test_what_went_wrong_stays_until_it_was_read(tabs: Tabs, account: Account, mine: dict[str, Any]) -> None:
    jobs = Jobs([mine])
    tab = tabs.open(account, "tags", answers=jobs.answers)
    progress(tab, "3 of 8 changed")
    jobs.change(0, state="failed", failed=2, failures=FAILURES, reason={"code": "rights_lost", "detail": "the role was taken away"})
    tab.says("The member who started it can no longer change links. 3 links retagged before that. 2 links couldn’t be changed.")
    group = tab.page.get_by_role("group", name=TITLE)
    expect(group).to_contain_text("Failed")
    tab.press(group.locator("summary"))
    expect(group.get_by_role("listitem")).to_have_text(["menu A link has at most 20 tags.", "and 1 more"])
    assert (group.get_by_role("link", name="menu").get_attribute("href") or "").endswith("/links/menu")
    tab.press(tab.button(f"Hide {TITLE}"), lacks=shown(tab))


def test_progress_that_cannot_be_read_is_said(tabs: Tabs, account: Account, mine: dict[str, Any]) -> None:
    tab = tabs.open(account, "tags", answers=Jobs([mine]).answers)
    progress(tab, "3 of 8 changed")
    with tab.failing("**/api/jobs/*", 503, "service_unavailable"):
        expect(shown(tab)).to_contain_text("Couldn’t load the progress. The job is still running.")
    tab.answers("**/api/jobs/*", mine | {"changed": 7})
    progress(tab, "7 of 8 changed")
    expect(shown(tab)).not_to_contain_text("Couldn’t load the progress")
    tab.fails("**/api/jobs/*", 404, "job_not_found")
    expect(shown(tab)).to_contain_text("Job not found.")


def test_a_job_that_may_not_be_stopped_goes_on(tabs: Tabs, account: Account, mine: dict[str, Any]) -> None:
    me = account.call("GET", "/api/me") | {"role": "member"}
    tab = tabs.open(account, "tags", answers=Jobs([mine, theirs(2, state="running")]).answers | {"**/api/me": me})
    progress(tab, "0 of 8 changed", "Archive links")
    expect(tab.button("Stop Archive links")).to_have_count(0)
    tab.fails("**/api/jobs/*", 403, "forbidden", "this is somebody else's", method="DELETE")
    tab.press(tab.button(f"Stop {TITLE}"), says="Couldn’t stop the job. This is somebody else's.")
    expect(tab.button(f"Stop {TITLE}")).to_be_enabled()


def test_the_settings_list_jobs(tabs: Tabs, account: Account, mine: dict[str, Any]) -> None:
    done = [theirs(number, "archive", "done", changed=number) for number in range(2, 30)]
    jobs = Jobs([mine, *done])
    tab = tabs.open(account, "settings", answers=jobs.answers)
    listed = tab.page.locator("section").filter(has=tab.page.get_by_role("heading", name="Jobs")).get_by_role("group")
    expect(listed).to_have_count(20)
    expect(listed.nth(0)).to_contain_text("3 of 8 changed")
    expect(listed.nth(1)).to_contain_text("2 links archived.")
    expect(listed.nth(1)).to_contain_text("Grace Hopper")
    tab.press(tab.button("Load more"), counts=(listed, 29))
    # The button is gone.
    expect(tab.page.locator(".job-list > .further > ul > li").nth(20)).to_be_focused()
    tab.press(tab.button(f"Stop {TITLE}"))
    jobs.change(0, state="cancelled")
    expect(listed.nth(0)).to_contain_text("Stopped. 3 links retagged before that.")
    expect(listed).to_have_count(29)

    # New jobs push nothing out.
    jobs.rows = [*(theirs(number, "archive", "done", changed=number) for number in range(32, 35)), *jobs.rows]
    tab.come_back(counts=(listed, 32))
    for at, number in [*enumerate(range(32, 35)), *enumerate(range(2, 30), 4)]:
        expect(listed.nth(at)).to_contain_text(f"{number} links archived.")
    tab = tabs.open(account, "settings", answers=Jobs([]).answers, shows="No jobs yet. Changes to many links at once")


def test_a_notification_leads_to_its_job(tabs: Tabs, account: Account, mine: dict[str, Any]) -> None:
    ended = mine | {"state": "done", "changed": 8, "ended_at": mine["created_at"]}
    # It is too long ago for the first page.
    jobs = Jobs([*(theirs(number, "archive", "done", changed=number) for number in range(2, 30)), ended])
    feed = Feed([notification("job.finished", ended["id"], "Your job to rename the tag print has ended: 8 links were changed.", minutes=1)])
    tab = tabs.open(account, "notifications?kind=job", answers=jobs.answers | feed.answers)
    tab.follow(tab.page.get_by_role("main").get_by_role("link", name=re.compile("Your job to rename")), "Settings")
    wanted = tab.page.locator(".job-wanted")
    expect(wanted).to_contain_text("8 links retagged.")
    expect(wanted).to_be_in_viewport()
    assert tab.view() == f"settings?job={ended['id']}"
    # Jobs are kept for a while only.
    tab.fails("**/api/jobs/*", 404, "job_not_found")
    tab.reload()
    expect(wanted).to_contain_text("Job not found.")
