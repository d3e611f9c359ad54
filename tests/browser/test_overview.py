"""The clicks of a whole workspace and of the links with a tag: of which time they are, and what they have in common."""

import datetime
import re
import urllib.parse
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from support.api import Account, Api
from support.sample_data import VISITS
from support.listening import hears, listen
from support.overlays import DATES, WHOSE
from support.tab import Tab, Tabs
from test_every_page import judge
from test_link import PNG, saved

# Of the visits, one in four is a bot's.
CLICKS, HUMAN_CLICKS = 2 * len(VISITS), 2 * (len(VISITS) - 1)
ODD = ["a/b c", "100% wool"]
OVERVIEW = re.compile(r"/api/overview(\?.*)?$")
BREAKDOWNS = re.compile(r"/api/overview/breakdowns\?")


@pytest.fixture(scope="module")
def shop(api: Api) -> Account:
    """Two links that people follow, of which one has a tag, and one link for each odd tag."""
    ada = api.register()
    plain = ada.shorten("https://shop.example.com/all", title="All lamps")
    sale = ada.shorten("https://shop.example.com/sale", title="Winter sale", tags=["winter"])
    for tag in ODD:
        ada.shorten(f"https://shop.example.com/odd?{urllib.parse.quote(tag)}", tags=[tag])
    for code in (plain, sale):
        for agent, referer, country, path in VISITS:
            api.click(code, agent=agent, referer=referer, country=country, path=path)
        ada.wait_for_clicks(code, len(VISITS))
    ada.wait_for("/api/overview", lambda answer: answer["clicks"]["today"]["total_clicks"] == CLICKS)
    return ada


def days(tab: Tab) -> Locator:
    return tab.page.get_by_role("table", name=re.compile("^Clicks by day")).locator("tbody tr")


def visitors(tab: Tab) -> Locator:
    """The part of the page that is read when somebody comes to it."""
    section = tab.page.locator(".visitors")
    section.scroll_into_view_if_needed()
    return section


def bars(tab: Tab, title: str) -> Locator:
    return visitors(tab).get_by_role("list", name=title).get_by_role("listitem")


def tag_choice(tab: Tab) -> Locator:
    return tab.button(re.compile("^Links: "))


def page_of(tag: str) -> str:
    return f"tags/{urllib.parse.quote(tag, safe='')}"


def yesterday() -> str:
    return str((datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)).date())


def test_links_are_counted_by_whether_they_lead(tabs: Tabs, filled: Account) -> None:
    figures = tabs.open(filled, "overview").figures()
    expect(figures).to_contain_text(re.compile(r"Links\s*15"))
    expect(figures).to_contain_text("14 active, 1 disabled")


def test_a_range_governs_all_numbers_and_can_be_gone_back_from(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "overview?table=1", clicks=CLICKS)
    expect(days(tab)).to_have_count(30)
    tab.press(tab.button("7 d"), counts=(days(tab), 7))
    tab.press(tab.button("12 mo"), counts=(days(tab), 365), clicks=CLICKS)
    expect(tab.page.locator(".top-links")).to_contain_text("12 months")
    expect(bars(tab, "Devices").first).to_be_visible()
    assert tab.view() == "overview?table=1&range=12m"
    tab.reload(counts=(days(tab), 365))
    tab.go_back(counts=(days(tab), 7))
    tab.go_back(counts=(days(tab), 30))

    tab.pick(tab.button(DATES), "Custom range")
    dialog = tab.dialog("Custom range")
    for label in ("Start date", "End date"):
        dialog.get_by_label(label).fill(yesterday())
    tab.press(tab.button("Show", dialog))
    # Nobody has come on that day.
    tab.clicks_are(0)
    expect(tab.page.locator(".top-links")).to_contain_text("No clicks in this period.")
    expect(visitors(tab)).to_contain_text("No human clicks in this period.")
    assert tab.view() == f"overview?table=1&range=own&from={yesterday()}&to={yesterday()}"


def test_each_number_has_its_own_change_where_the_time_before_is_known(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "account")
    before = {"total_clicks_before": 2 * CLICKS, "human_clicks_before": 1}

    def with_before(answer: dict[str, Any]) -> dict[str, Any]:
        """Without a time, an answer has the previous days. Others are read by themselves."""
        if not answer["period"]:
            return answer | {"clicks": answer["clicks"] | {"last_30_days": answer["clicks"]["last_30_days"] | before}}
        is_before = answer["period"]["to"] < yesterday()
        return answer | ({"period": answer["period"] | {"total_clicks": 2 * CLICKS, "human_clicks": 0}} if is_before else {})

    tab.changes(OVERVIEW, with_before)
    tab.go("overview")
    expect(tab.figures()).to_contain_text(f"fewer than {2 * CLICKS} in the previous 30 days")
    expect(tab.figures()).to_contain_text("more than 1 in the previous 30 days")
    tab.button("12 mo").click()
    expect(tab.figures()).to_contain_text(f"fewer than {2 * CLICKS} in the previous 12 months")
    expect(tab.figures()).to_contain_text("more than 0 in the previous 12 months")
    expect(tab.page.get_by_role("list").filter(has_text="The previous 12 months")).to_be_visible()


def test_last_month_is_compared_with_the_month_before_in_two_presses(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "account")
    tab.changes(OVERVIEW, lambda answer: answer | ({"period": answer["period"] | {"total_clicks": 40}} if answer["period"] else {}))
    tab.go("overview")
    tab.pick(tab.button(DATES), "Last month")
    expect(tab.figures()).to_contain_text("= the same as in the previous month")
    assert tab.view() == "overview?range=last-month"


def test_a_day_of_utc_says_so(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "overview?table=1&range=7d", clicks=CLICKS)
    expect(days(tab).first.get_by_role("rowheader")).to_have_text(re.compile(" UTC, so far$"))
    expect(days(tab).last.get_by_role("rowheader")).to_have_text(re.compile(r"\d UTC$"))
    expect(tab.button(DATES)).to_contain_text("UTC")


def test_what_was_just_made_is_counted_at_once(tabs: Tabs, account: Account) -> None:
    account.shorten("https://shop.example.com/first", tags=["lamps"])
    tab = tabs.open(account, "overview")
    expect(tab.figures()).to_contain_text(re.compile(r"Links\s*1\s*1 active"))
    tab.go("links")
    tab.settled()
    tab.keys("c")
    form = tab.dialog("New link")
    form.get_by_role("textbox").first.fill("https://shop.example.com/second")
    form.get_by_role("combobox", name="Tags").fill("lamps")
    tab.keys("Enter", "Control+Enter")
    expect(form).to_have_count(0)
    expect(tab.button(re.compile("^Active 2"))).to_be_visible()
    tab.go("overview")
    expect(tab.figures()).to_contain_text(re.compile(r"Links\s*2\s*2 active"))
    expect(tab.page.get_by_role("link", name="lamps, 2 links")).to_be_visible()
    tab.go("tags")
    expect(tab.page.get_by_role("link", name="2 links with the tag lamps")).to_be_visible()


def test_the_last_days_are_read_once_and_visitors_only_when_seen(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "account")
    overviews, breakdowns = tab.requests(OVERVIEW), tab.requests(BREAKDOWNS)
    tab.page.set_viewport_size({"width": 1280, "height": 500})
    tab.go("overview", clicks=CLICKS)
    tab.settled()
    # Without a time, the top links are those of 7 days.
    assert [bool(url.partition("?")[2]) for url in overviews] == [False, True] and breakdowns == []
    tab.button("7 d").click()
    tab.settled()
    assert len(overviews) == 2
    expect(bars(tab, "Devices").first).to_be_visible()
    assert len(breakdowns) == 1 and "audience=human" in breakdowns[0]


def test_people_and_bots_are_told_apart_and_nothing_filters(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "overview", clicks=CLICKS)
    whose = tab.button(WHOSE, visitors(tab))
    expect(whose).to_contain_text("Humans")
    expect(bars(tab, "Countries").filter(has_text="Norway")).to_contain_text("4")
    tab.pick(whose, "Bots", counts=(bars(tab, "Devices"), 1))
    expect(bars(tab, "Devices")).to_contain_text("Bot")
    assert tab.view().endswith("?audience=bot&audience=prefetch")
    tab.pick(whose, "All", shows=bars(tab, "Devices").filter(has_text="Desktop"))
    # Figures and chart have human clicks and all clicks beside each other.
    tab.clicks_are(CLICKS)
    # Nothing can be filtered by, so nothing is a button.
    expect(bars(tab, "Devices").get_by_role("button")).to_have_count(0)
    tab.go_back()
    expect(bars(tab, "Devices")).to_have_count(1)

    tab.open("overview?map=1")
    visitors(tab)
    world = tab.page.get_by_role("listbox", name="Countries")
    norway = world.get_by_role("option", name=re.compile("^Norway, 4 clicks"))
    expect(norway).to_be_attached()
    world.focus()
    # The arrows tell one after the other, and none can be taken.
    expect(norway).to_have_attribute("aria-selected", "true")
    tab.keys("Enter", at="overview?map=1")


def test_how_much_was_looked_at_is_said(tabs: Tabs, shop: Account) -> None:
    tab = listen(tabs.open(shop, "account"))
    covers = {"covers": {"clicks": 970, "of": 1000}}
    tab.changes(BREAKDOWNS, lambda answer: answer | covers)
    tab.changes(OVERVIEW, lambda answer: answer | ({"period": answer["period"] | covers} if answer["period"] else {}))
    tab.go("overview?range=12m")
    sentence = "Based on the most clicked links, with 97% of all clicks."
    expect(tab.page.get_by_text(sentence).first).to_be_visible()
    expect(visitors(tab)).to_contain_text(sentence)
    hears(tab, sentence)


def test_visitors_that_cannot_be_read_take_nothing_else_with_them(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "account")
    with tab.failing("**/api/overview/breakdowns?*", 429, "rate_limited", headers={"retry-after": "2"}):
        tab.go("overview", clicks=CLICKS)
        failure = visitors(tab).get_by_role("alert")
        expect(failure).to_contain_text("Couldn’t load the visitors.")
        expect(tab.page.get_by_role("alert")).to_have_count(1)
    tab.click(tab.button("Try again", failure), shows=bars(tab, "Devices").first)


def test_a_tag_has_a_page(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "overview?range=7d", clicks=CLICKS)
    tab.pick(tag_choice(tab), "winter", heading="Tag winter", clicks=len(VISITS))
    expect(tab.figures()).to_contain_text(re.compile(r"Links\s*1"))
    # About the same time.
    assert tab.view() == "tags/winter?range=7d"
    expect(tab.page.locator(".top-links").get_by_role("link")).to_have_count(1)
    expect(bars(tab, "Countries").filter(has_text="Norway")).to_contain_text("2")
    judge(tab, "the visitors of a tag")
    tab.press(tab.page.get_by_role("main").get_by_role("link", name="Links", exact=True))
    expect(tab.page.locator(".link-row")).to_have_count(1)
    assert tab.view() == "links?tag=winter"
    tab.follow("Statistics for the tag winter", "Tag winter")
    tab.pick(tag_choice(tab), "All links", clicks=CLICKS)


def test_a_tag_in_the_query_leads_to_its_page_even_without_links(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "overview?tag=a%2Fb+c&range=7d", heading="Tag a/b c", at=f"{page_of('a/b c')}?range=7d")
    tab.open("tags/nobody%20has%20this", shows="No links have this tag")
    tab.follow(tab.page.get_by_role("main").get_by_role("link", name="All tags"), "Tags")


def test_tags_lead_to_their_pages_from_overview_links_and_palette(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "overview")
    tab.follow(tab.page.get_by_role("link", name="winter, 1 link", exact=True), "Tag winter")
    tab.press(tab.page.locator(".top-links").get_by_role("link"))
    tab.follow("Statistics for the tag winter", "Tag winter")
    tab.keys("Control+k")
    tab.page.get_by_role("combobox", name="Find anything").fill("100% w")
    use_option = tab.page.get_by_role("group", name="Tags").get_by_role("option", name=re.compile("^100% wool"))
    expect(use_option).to_be_visible()
    tab.click(use_option, heading="Tag 100% wool")


def test_what_is_shown_is_saved(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "overview?range=7d", clicks=CLICKS)
    name, series = saved(tab, "Clicks over time")
    head, *rows = series.decode().splitlines()
    assert (name, head, len(rows)) == ("overview-series.csv", "period,clicks,human_clicks,note", 7)
    assert [sum(int(row.split(",")[column]) for row in rows) for column in (1, 2)] == [CLICKS, HUMAN_CLICKS]
    name, countries = saved(tab, "Countries")
    assert name == "overview-countries.csv"
    assert countries.decode().splitlines()[:2] == ["country,count", "NO,4"]
    name, picture = saved(tab, "Chart image")
    assert name == "overview-clicks.png" and picture.startswith(PNG)
    tab.go(page_of("a/b c"), heading="Tag a/b c")
    assert saved(tab, "Clicks over time")[0] == "a-b c-series.csv"
