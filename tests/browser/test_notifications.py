"""What the person was told: how much of it is new, and what needs attention."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Route, expect

from support.api import Account
from support.tab import Tab, Tabs
from support.answers import ago, query_of
from support.feeds import Feed, notification

SHOP, BLOG = "t_7UJmGlcSOIpXh9XKQroFP8", "t_2hxlieh6rcTXYNb8u8Fu21"


def news() -> list[dict[str, Any]]:
    return [
        notification("url.created", "TVFpvdN", "Your short link TVFpvdN to https://example.com/new was created.", minutes=1),
        notification("target.down", SHOP, "https://shop.example.com/ is down: it responded with 503.", minutes=2),
        notification("milestone.reached", "launch", "Your short link launch has reached 100 clicks.", minutes=3),
        notification("url.deleted", "winter", "Your short link winter to https://example.com/winter was deleted.", hours=30),
    ]


def many(count: int) -> list[dict[str, Any]]:
    return [notification("milestone.reached", f"code{number}", f"Your short link code{number} has reached 10 clicks.", minutes=number + 1) for number in range(count)]


def leading(tab: Tab, name: str) -> Locator:
    """The link to the page, which says how many are new."""
    return tab.page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True)


def rows(tab: Tab) -> Locator:
    return tab.page.locator("main").get_by_role("listitem")


def section(tab: Tab, title: str) -> Locator:
    return tab.page.locator("main section").filter(has=tab.page.get_by_role("heading", name=title))


def test_what_is_new_is_counted_until_it_is_seen(tabs: Tabs, account: Account) -> None:
    feed = Feed(news(), seen_at=ago(hours=1))
    tab = tabs.open(account, "links", answers=feed.answers)
    tab.press(leading(tab, "Notifications 2 new"), heading="Notifications", shows=leading(tab, "Notifications"))
    expect(rows(tab).filter(has_text="New. ")).to_have_text([re.compile("New. Down: .*shop.example.com"), re.compile("New. Milestone: ")])
    tab.settled()
    assert feed.marked == [feed.rows[1]["created_at"]]

    # What was new stays marked until one has been elsewhere.
    tab.come_back()
    tab.settled()
    expect(rows(tab).filter(has_text="New. ")).to_have_count(2)
    tab.press(tab.page.get_by_role("link", name="Links"), shows=tab.page.get_by_label("Paste a long URL"))
    tab.press(leading(tab, "Notifications"), counts=(rows(tab), 3), lacks=rows(tab).filter(has_text="New. "))
    tab.settled()
    assert len(feed.marked) == 1


def test_nothing_is_written_if_nothing_is_new_or_needs_attention(tabs: Tabs, account: Account) -> None:
    feed = Feed(news(), seen_at=ago(seconds=90))
    tab = tabs.open(account, "notifications", answers=feed.answers | {"**/api/overview": {"as_of": ago(seconds=5), "down": []}})
    expect(rows(tab)).to_have_count(3)
    # What is down isn't monitored any more.
    expect(tab.page.get_by_role("heading", name="Needs attention")).to_have_count(0)
    assert feed.marked == []
    expect(leading(tab, "Notifications")).to_be_visible()
    # The page and what counts share one reading.
    assert len(feed.asked) == 1


def test_what_a_link_was_deleted_for_is_new_once(tabs: Tabs, account: Account) -> None:
    """Against the system: nothing is made up."""
    code = account.shorten("https://example.com/new")
    account.wait_for("/api/notifications", lambda feed: len(feed["notifications"]) == 1)
    tab = tabs.open(account, "links")
    expect(leading(tab, "Notifications")).to_be_visible()

    account.call("DELETE", f"/api/urls/{code}")
    feed = account.wait_for("/api/notifications", lambda feed: len(feed["notifications"]) == 2)
    assert feed["seen_at"] is None
    tab.come_back()
    leading(tab, "Notifications 1 new").click()
    expect(rows(tab).filter(has_text="New. Link deleted")).to_have_count(1)
    expect(leading(tab, "Notifications")).to_be_visible()
    seen = account.wait_for("/api/notifications", lambda feed: feed["seen_at"] is not None)
    assert seen["seen_at"] == seen["notifications"][0]["created_at"]
    tab.reload(counts=(rows(tab).filter(has_text="Link deleted"), 1), lacks=rows(tab).filter(has_text="New. "))


def test_ones_own_new_links_are_under_all_only(tabs: Tabs, account: Account) -> None:
    feed = Feed(news())
    tab = tabs.open(account, "notifications", answers=feed.answers)
    expect(tab.button("Important")).to_have_attribute("aria-pressed", "true")
    for chip, kind, shown in [
        ("Problems", "problem", ["is down: it responded with 503."]),
        ("Milestones", "milestone", ["has reached 100 clicks."]),
        ("Deleted links", "deletion", ["was deleted."]),
        ("All", "all", ["was created.", "is down: it responded with 503.", "has reached 100 clicks.", "was deleted."]),
    ]:
        tab.press(tab.button(chip))
        # A list of texts is found among more rows, too.
        expect(rows(tab)).to_have_count(len(shown))
        expect(rows(tab)).to_contain_text(shown)
        expect(tab.button(chip)).to_have_attribute("aria-pressed", "true")
        assert tab.view() == f"notifications?kind={kind}"
        # The count beside the page's name is read on its own, before or after.
        assert (None if kind == "all" else [kind]) in [asked.get("kind") for asked in feed.asked]
    # They are no news, wherever they stand.
    expect(rows(tab).filter(has_text="New. ")).to_have_count(3)
    tab.reload(counts=(rows(tab), 4))
    tab.press(tab.button("Important"), counts=(rows(tab), 3), at="notifications")


def test_a_problem_comes_first_behind_any_number_of_others(tabs: Tabs, account: Account) -> None:
    down = notification("target.down", SHOP, "https://shop.example.com/ is down: it responded with 503.", days=2)
    listed = {"as_of": ago(minutes=1), "down": [{"id": SHOP, "url": "https://shop.example.com/", "since": ago(days=2)}]}
    tab = tabs.open(account, "notifications", answers=Feed([*many(150), down]).answers | {"**/api/overview": listed})
    expect(tab.page.locator("main h2").first).to_have_text("Needs attention")
    expect(section(tab, "Needs attention")).to_contain_text("shop.example.com")
    expect(rows(tab)).to_have_count(101)


def test_what_one_reading_has_not_is_no_number(tabs: Tabs, account: Account) -> None:
    feed = Feed(many(150))
    tab = tabs.open(account, "links", answers=feed.answers)
    expect(leading(tab, "Notifications 99+ new")).to_have_text("Notifications99+ new")
    tab.press(leading(tab, "Notifications 99+ new"), counts=(rows(tab), 100))
    tab.press(tab.button("Load more"), counts=(rows(tab), 150), focuses=rows(tab).nth(100))
    expect(tab.page.get_by_text("That’s everything from the last 90 days.")).to_be_visible()
    expect(leading(tab, "Notifications")).to_be_visible()
    assert feed.marked == [feed.rows[0]["created_at"]]


def in_pages(pages: dict[str, tuple[list[dict[str, Any]], str | None]]) -> dict[str, Callable[[Route], None]]:
    """Answers with the rows behind each cursor, and the cursor after them."""

    def answer(route: Route) -> None:
        after = query_of(route).get("after", "")
        listed, cursor = pages[after]
        route.fulfill(json={"notifications": listed, "next_cursor": cursor} | ({} if after else {"seen_at": ago(seconds=1)}))

    return {"**/api/notifications?*": answer}


def test_more_are_loaded_across_what_is_looked_at_in_vain(tabs: Tabs, account: Account) -> None:
    pages = in_pages({"": ([], "a"), "a": (many(1), "b"), "b": ([], "c"), "c": ([], "d"), "d": (many(3)[2:], None)})
    tab = tabs.open(account, "notifications?kind=milestone", answers=pages)
    expect(rows(tab)).to_have_count(1)
    tab.click(tab.button("Load more"), counts=(rows(tab), 2), lacks=tab.button("Load more"))
    # They stay when the beginning is read again.
    tab.come_back()
    tab.settled()
    expect(rows(tab)).to_have_count(2)


def test_the_count_is_read_again_when_one_comes_back(tabs: Tabs, account: Account) -> None:
    feed = Feed(news()[2:], seen_at=ago(hours=1))
    # On a phone, it stands in the bar.
    tab = tabs.open(account, "links", width=360, answers=feed.answers)
    expect(leading(tab, "Notifications 1 new")).to_be_visible()
    tab.assert_not_sideways()
    feed.rows.append(notification("target.down", SHOP, "https://shop.example.com/ is down: it responded with 503.", seconds=1))
    tab.come_back(shows=leading(tab, "Notifications 2 new"))
    # Somebody looks at them on another device.
    feed.seen_at = ago()
    tab.come_back(shows=leading(tab, "Notifications"))


def test_a_part_of_the_news_is_not_all_that_was_seen(tabs: Tabs, account: Account) -> None:
    feed = Feed(news(), seen_at=ago(hours=1))
    tab = tabs.open(account, "notifications?kind=milestone", answers=feed.answers)
    expect(rows(tab).filter(has_text="New. ")).to_have_count(1)
    assert feed.marked == []
    expect(leading(tab, "Notifications 2 new")).to_be_visible()
    tab.click(tab.button("Important"), shows=leading(tab, "Notifications"), counts=(rows(tab).filter(has_text="New. "), 2))
    assert len(feed.marked) == 1


def test_what_could_not_be_noted_is_new_again(tabs: Tabs, account: Account) -> None:
    feed = Feed(news(), seen_at=ago(hours=1))
    tab = tabs.open(account, "notifications", answers=feed.answers)
    feed.seen_at = ago(hours=1)
    feed.rows.append(notification("target.down", BLOG, "https://blog.example.com/ is down: it responded with 500.", seconds=1))
    tab.fails("**/api/notifications/seen", 503, "service_unavailable")
    tab.come_back(counts=(rows(tab), 4))
    tab.page.get_by_role("link", name="Links").click()
    tab.come_back(shows=leading(tab, "Notifications 3 new"))


def test_notifications_lead_to_their_links_and_monitored_urls(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://example.com/new")
    account.wait_for("/api/notifications", lambda feed: len(feed["notifications"]) > 0)
    tab = tabs.open(account, "notifications?kind=all")
    expect(tab.page.get_by_role("heading", name="Today")).to_be_visible()
    tab.press(tab.page.get_by_role("link", name=code), shows="No clicks yet")

    target = account.call("POST", "/v1/targets", {"url": "https://status.example.com/health"})
    feed = Feed([notification("target.down", target["id"], "https://status.example.com/health is down: it responded with 503.")])
    tab = tabs.open(account, "notifications", answers=feed.answers)
    tab.follow("is down: it responded with 503.", re.compile("status.example.com"))
