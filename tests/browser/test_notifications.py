"""What the person was told: how much of it is new, and what needs attention."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Route, expect

from support.api import Account
from support.hand import Keyboard
from support.tab import Tab, Tabs
from support.told import Told, ago, told

SHOP, BLOG = "t_7UJmGlcSOIpXh9XKQroFP8", "t_2hxlieh6rcTXYNb8u8Fu21"


def news() -> list[dict[str, Any]]:
    return [
        told("url.created", "TVFpvdN", "Your short link TVFpvdN to https://example.com/new was created.", minutes=1),
        told("target.down", SHOP, "https://shop.example.com/ is down: it answered 503.", minutes=2),
        told("milestone.reached", "launch", "Your short link launch has reached 100 clicks.", minutes=3),
        told("url.deleted", "winter", "Your short link winter to https://example.com/winter was deleted.", hours=30),
    ]


def many(count: int) -> list[dict[str, Any]]:
    return [told("milestone.reached", f"code{number}", f"Your short link code{number} has reached 10 clicks.", minutes=number + 1) for number in range(count)]


def leading(tab: Tab, name: str) -> Locator:
    """The link to the page, which says how many are new."""
    return tab.page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True)


def rows(tab: Tab) -> Locator:
    return tab.page.locator("main").get_by_role("listitem")


def section(tab: Tab, title: str) -> Locator:
    return tab.page.locator("main section").filter(has=tab.page.get_by_role("heading", name=title))


def test_what_is_new_is_counted_until_it_is_seen(tabs: Tabs, account: Account) -> None:
    feed = Told(news(), seen_at=ago(hours=1))
    tab = tabs.open(account, "links", answers=feed.answers)
    use = Keyboard(tab)
    use.press(leading(tab, "Notifications, 2 new"))
    expect(tab.heading("Notifications")).to_be_visible()
    expect(rows(tab).filter(has_text="New. ")).to_have_text([re.compile("New. Down: .*shop.example.com"), re.compile("New. Milestone: ")])
    expect(leading(tab, "Notifications")).to_be_visible()
    tab.settled()
    assert feed.marked == [feed.rows[1]["created_at"]]

    # What was new stays marked until one has been elsewhere.
    tab.come_back()
    tab.settled()
    expect(rows(tab).filter(has_text="New. ")).to_have_count(2)
    use.press(tab.page.get_by_role("link", name="Links"))
    expect(tab.page.get_by_label("Paste a long URL")).to_be_visible()
    use.press(leading(tab, "Notifications"))
    expect(rows(tab)).to_have_count(3)
    expect(rows(tab).filter(has_text="New. ")).to_have_count(0)
    tab.settled()
    assert len(feed.marked) == 1


def test_nothing_is_written_if_nothing_is_new(tabs: Tabs, account: Account) -> None:
    feed = Told(news(), seen_at=ago(seconds=90))
    tab = tabs.open(account, "notifications", answers=feed.answers)
    expect(rows(tab)).to_have_count(3)
    tab.settled()
    assert feed.marked == []
    expect(leading(tab, "Notifications")).to_be_visible()
    # The page and what counts share one reading.
    assert len(feed.asked) == 1


def test_what_a_link_was_deleted_for_is_new_once(tabs: Tabs, account: Account) -> None:
    """Against the system: nothing is made up."""
    code = account.shorten("https://example.com/new")
    account.wait_for("/api/notifications", lambda feed: len(feed["notifications"]) == 1)
    tab = tabs.open(account, "links")
    tab.settled()
    expect(leading(tab, "Notifications")).to_be_visible()

    account.call("DELETE", f"/api/urls/{code}")
    told = account.wait_for("/api/notifications", lambda feed: len(feed["notifications"]) == 2)
    assert told["seen_at"] is None
    tab.come_back()
    leading(tab, "Notifications, 1 new").click()
    expect(rows(tab).filter(has_text="New. Link deleted")).to_have_count(1)
    expect(leading(tab, "Notifications")).to_be_visible()
    seen = account.wait_for("/api/notifications", lambda feed: feed["seen_at"] is not None)
    assert seen["seen_at"] == seen["notifications"][0]["created_at"]
    tab.page.reload()
    expect(rows(tab).filter(has_text="Link deleted")).to_have_count(1)
    expect(rows(tab).filter(has_text="New. ")).to_have_count(0)


def test_ones_own_new_links_are_under_all_only(tabs: Tabs, account: Account) -> None:
    feed = Told(news())
    tab = tabs.open(account, "notifications", answers=feed.answers)
    use = Keyboard(tab)
    expect(tab.button("Important")).to_have_attribute("aria-pressed", "true")
    for chip, kind, shown in [
        ("Problems", "problem", ["is down: it answered 503."]),
        ("Milestones", "milestone", ["has reached 100 clicks."]),
        ("Deleted links", "deletion", ["was deleted."]),
        ("All", "all", ["was created.", "is down: it answered 503.", "has reached 100 clicks.", "was deleted."]),
    ]:
        use.press(tab.button(chip))
        # A list of texts is found among more rows, too.
        expect(rows(tab)).to_have_count(len(shown))
        expect(rows(tab)).to_contain_text(shown)
        expect(tab.button(chip)).to_have_attribute("aria-pressed", "true")
        assert tab.view() == f"notifications?kind={kind}"
        # The count beside the page's name is read on its own, before or after.
        assert (None if kind == "all" else [kind]) in [asked.get("kind") for asked in feed.asked]
    # They are no news, wherever they stand.
    expect(rows(tab).filter(has_text="New. ")).to_have_count(3)
    tab.page.reload()
    expect(rows(tab)).to_have_count(4)
    use.press(tab.button("Important"))
    expect(rows(tab)).to_have_count(3)
    assert tab.view() == "notifications"


def test_problems_come_first(tabs: Tabs, account: Account) -> None:
    feed = Told(
        [
            told("milestone.reached", "launch", "Your short link launch has reached 100 clicks.", minutes=1),
            told("target.up", BLOG, "https://blog.example.com/ is up again.", minutes=2),
            told("target.down", BLOG, "https://blog.example.com/ is down: it answered 500.", minutes=9),
            told("url.purged", "gone", "Your short link gone was purged with its statistics.", minutes=10),
            told("url.expired", "gone", "Your short link gone has expired.", hours=20),
            told("url.exhausted", "tasting", "Your short link tasting was used 100 times, as often as it may be.", hours=21),
            told("target.down", SHOP, "https://shop.example.com/ is down: it answered 503.", hours=40),
            told("url.expired", "openday", "Your short link openday has expired.", days=3),
            told("milestone.reached", "menu", "Your short link menu has reached 10 clicks.", "failed", days=4),
            told("url.expired", "summer", "Your short link summer has expired.", days=9),
        ]
    )
    down = {"as_of": ago(minutes=1), "down": [{"id": SHOP, "url": "https://shop.example.com/", "since": ago(hours=40)}]}
    tab = tabs.open(account, "notifications", answers=feed.answers | {"**/api/overview": down})
    expect(tab.page.locator("main h2").first).to_have_text("Needs attention")
    expect(section(tab, "Needs attention").get_by_role("listitem")).to_contain_text(["Link used up: ", "shop.example.com", "openday", "Not delivered"])
    expect(rows(tab)).to_have_count(10)


def test_what_is_not_monitored_any_more_needs_no_attention(tabs: Tabs, account: Account) -> None:
    feed = Told(news())
    tab = tabs.open(account, "notifications", answers=feed.answers | {"**/api/overview": {"as_of": ago(seconds=5), "down": []}})
    expect(rows(tab)).to_have_count(3)
    expect(tab.page.get_by_role("heading", name="Needs attention")).to_have_count(0)


def test_a_problem_is_found_behind_any_number_of_others(tabs: Tabs, account: Account) -> None:
    down = told("target.down", SHOP, "https://shop.example.com/ is down: it answered 503.", days=2)
    listed = {"as_of": ago(minutes=1), "down": [{"id": SHOP, "url": "https://shop.example.com/", "since": ago(days=2)}]}
    tab = tabs.open(account, "notifications", answers=Told([*many(150), down]).answers | {"**/api/overview": listed})
    expect(section(tab, "Needs attention")).to_contain_text("shop.example.com")
    expect(rows(tab)).to_have_count(101)


def test_what_one_reading_has_not_is_no_number(tabs: Tabs, account: Account) -> None:
    feed = Told(many(150))
    tab = tabs.open(account, "links", answers=feed.answers)
    use = Keyboard(tab)
    expect(leading(tab, "Notifications, 99+ new")).to_have_text("Notifications99+")
    use.press(leading(tab, "Notifications, 99+ new"))
    expect(rows(tab)).to_have_count(100)
    use.press(tab.button("Load more"))
    expect(rows(tab)).to_have_count(150)
    expect(rows(tab).nth(100)).to_be_focused()
    expect(tab.page.get_by_text("That’s all of the last 90 days.")).to_be_visible()
    expect(leading(tab, "Notifications")).to_be_visible()
    assert feed.marked == [feed.rows[0]["created_at"]]


def in_pages(pages: dict[str, tuple[list[dict[str, Any]], str | None]]) -> dict[str, Callable[[Route], None]]:
    """Answers with the rows behind each cursor, and the cursor after them."""

    def answer(route: Route) -> None:
        after = re.search(r"[?&]after=(\w+)", route.request.url)
        listed, cursor = pages[after[1] if after else ""]
        route.fulfill(json={"notifications": listed, "next_cursor": cursor} | ({} if after else {"seen_at": ago(seconds=1)}))

    return {"**/api/notifications?*": answer}


def test_more_are_loaded_across_what_is_looked_at_in_vain(tabs: Tabs, account: Account) -> None:
    pages = in_pages({"": (many(1), "a"), "a": ([], "b"), "b": ([], "c"), "c": (many(3)[2:], None)})
    tab = tabs.open(account, "notifications?kind=milestone", answers=pages)
    expect(rows(tab)).to_have_count(1)
    tab.button("Load more").click()
    expect(rows(tab)).to_have_count(2)
    expect(tab.button("Load more")).to_have_count(0)


def test_rows_found_further_back_stay_when_the_beginning_is_read_again(tabs: Tabs, account: Account) -> None:
    pages = in_pages({"": ([], "a"), "a": ([], "b"), "b": (many(1), "c"), "c": (many(2)[1:], None)})
    tab = tabs.open(account, "notifications?kind=milestone", answers=pages)
    expect(rows(tab)).to_have_count(1)
    tab.button("Load more").click()
    expect(rows(tab)).to_have_count(2)
    tab.come_back()
    tab.settled()
    expect(rows(tab)).to_have_count(2)


def test_the_count_is_read_again_when_one_comes_back(tabs: Tabs, account: Account) -> None:
    feed = Told(news()[2:], seen_at=ago(hours=1))
    tab = tabs.open(account, "links", answers=feed.answers)
    expect(leading(tab, "Notifications, 1 new")).to_be_visible()
    feed.rows.append(told("target.down", SHOP, "https://shop.example.com/ is down: it answered 503.", seconds=1))
    tab.come_back()
    expect(leading(tab, "Notifications, 2 new")).to_be_visible()
    # Somebody looks at them on another device.
    feed.seen_at = ago()
    tab.come_back()
    expect(leading(tab, "Notifications")).to_be_visible()


def test_a_part_of_the_news_is_not_all_that_was_seen(tabs: Tabs, account: Account) -> None:
    feed = Told(news(), seen_at=ago(hours=1))
    tab = tabs.open(account, "notifications?kind=milestone", answers=feed.answers)
    expect(rows(tab).filter(has_text="New. ")).to_have_count(1)
    tab.settled()
    assert feed.marked == []
    expect(leading(tab, "Notifications, 2 new")).to_be_visible()
    tab.button("Important").click()
    expect(leading(tab, "Notifications")).to_be_visible()
    expect(rows(tab).filter(has_text="New. ")).to_have_count(2)
    assert len(feed.marked) == 1


def test_what_could_not_be_noted_is_new_again(tabs: Tabs, account: Account) -> None:
    feed = Told(news(), seen_at=ago(hours=1))
    tab = tabs.open(account, "notifications", answers=feed.answers)
    tab.settled()
    feed.seen_at = ago(hours=1)
    feed.rows.append(told("target.down", BLOG, "https://blog.example.com/ is down: it answered 500.", seconds=1))
    tab.fails("**/api/notifications/seen", 503, "service_unavailable")
    tab.come_back()
    expect(rows(tab)).to_have_count(4)
    tab.page.get_by_role("link", name="Links").click()
    tab.come_back()
    expect(leading(tab, "Notifications, 3 new")).to_be_visible()


def test_the_bar_of_a_phone_counts_too(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links", width=360, answers=Told(news(), seen_at=ago(hours=1)).answers)
    expect(leading(tab, "Notifications, 2 new")).to_be_visible()
    tab.assert_not_sideways()


def test_notifications_lead_to_their_links(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://example.com/new")
    account.wait_for("/api/notifications", lambda feed: len(feed["notifications"]) > 0)
    tab = tabs.open(account, "notifications?kind=all")
    expect(tab.page.get_by_role("heading", name="Today")).to_be_visible()
    Keyboard(tab).press(tab.page.get_by_role("link", name=code))
    expect(tab.page.get_by_text("Nobody has followed this link yet.")).to_be_visible()


def test_a_notification_about_a_monitored_url_leads_to_it(tabs: Tabs, account: Account) -> None:
    target = account.call("POST", "/v1/targets", {"url": "https://status.example.com/health"})
    feed = Told([told("target.down", target["id"], "https://status.example.com/health is down: it answered 503.")])
    tab = tabs.open(account, "notifications", answers=feed.answers)
    Keyboard(tab).press(tab.page.get_by_role("link", name="is down: it answered 503."))
    expect(tab.heading(re.compile("status.example.com"))).to_be_visible()
