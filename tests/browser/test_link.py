"""The page of one link: its numbers, of which clicks they are, links beside each other, files of all that, and what can be done."""

import re

import pytest
from playwright.sync_api import Locator, Route, expect

from support.api import FIREFOX, Account, Api
from support.sample_data import BOT, VISITS, aged, sale_of
from support.listening import hears, listen
from support.overlays import DATES, GROUPED, WHOSE
from support.tab import Tab, Tabs

PNG = b"\x89PNG\r\n\x1a\n"
STATS = re.compile(r"/api/stats/\w+\?")


@pytest.fixture
def shop(api: Api, account: Account) -> Account:
    """A workspace of its own with the link that people follow: what only single clicks tell may be asked 30 times a minute."""
    code = account.shorten("https://shop.example.com/sale", title="Spring sale")
    for agent, referer, country, path in VISITS * 2:
        api.click(code, agent=agent, referer=referer, country=country, path=path)
    account.wait_for_clicks(code, len(VISITS) * 2)
    return account


def bar(tab: Tab, name: str) -> Locator:
    """Such as `Country: Norway`."""
    # Where a slash would end the expression, any letter will do.
    return tab.button(re.compile("^" + re.escape(name).replace("/", ".") + " [0-9]"))


def chips(tab: Tab) -> Locator:
    return tab.page.get_by_role("group", name="Active filters").get_by_role("listitem")


def latest(tab: Tab) -> Locator:
    """The rows of the latest clicks."""
    return tab.page.get_by_role("table", name="Latest clicks").locator("tbody tr")


def test_pressing_a_bar_filters_everything_and_back_undoes_it(tabs: Tabs, shop: Account, input_device: str) -> None:
    sale = sale_of(shop)
    tab = tabs.open(shop, f"links/{sale}", clicks=6)
    tab.press(bar(tab, "Country: Norway"))
    expect(chips(tab)).to_have_text(["Country: Norway"])
    tab.clicks_are(4)
    expect(latest(tab)).to_have_count(4)
    # Other panels follow, and its own shows what can be had besides.
    expect(bar(tab, "Device: Desktop")).to_have_accessible_name(re.compile("2 clicks"))
    expect(bar(tab, "Country: Norway")).to_have_attribute("aria-pressed", "true")
    tab.press(bar(tab, "Country: Germany"), clicks=6)
    tab.press(bar(tab, "Source: QR code"))
    expect(chips(tab)).to_have_text(["Source: QR code", "Country: Norway", "Country: Germany"])
    tab.clicks_are(2)
    expect(latest(tab)).to_have_count(2)
    assert sorted(tab.view().partition("?")[2].split("&")) == ["country=DE", "country=NO", "source=qr"]

    tab.reload(clicks=2)
    tab.go_back(clicks=6)
    tab.go_back()
    expect(chips(tab)).to_have_text(["Country: Norway"])
    tab.clicks_are(4)
    tab.press(tab.button("Remove Country: Norway"), lacks=chips(tab), clicks=6, at=f"links/{sale}")
    assert tab.page.evaluate("document.activeElement !== document.body"), "the focus is lost"


def test_a_bar_that_is_pressed_again_and_all_chips_are_taken_away(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, f"links/{sale_of(shop)}?browser=Firefox&device=desktop", clicks=2)
    tab.press(bar(tab, "Device: Desktop"))
    expect(chips(tab)).to_have_text(["Browser: Firefox"])
    tab.press(bar(tab, "Referrer: news.example/today"), clicks=2)
    tab.press(tab.button("Remove all"), clicks=6)
    tab.press(bar(tab, "Referrer: Direct"))
    expect(chips(tab)).to_have_text(["Referrer: Direct"])
    tab.clicks_are(2)
    assert "referer=%28none%29" in tab.view()


def test_people_bots_and_all_are_told_apart(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    tab.clicks_are(6)
    expect(tab.button(WHOSE)).to_contain_text("Humans")
    tab.pick(tab.button(WHOSE), "Bots", clicks=2)
    expect(tab.figures()).to_contain_text("bots and link previews only")
    expect(tab.figures()).not_to_contain_text("Unique visitors")
    expect(latest(tab)).to_have_count(2)
    assert tab.view().endswith("?audience=bot&audience=prefetch")
    tab.pick(tab.button(WHOSE), "All", clicks=8)
    tab.go_back(clicks=2)


def test_how_much_was_looked_at_is_said(tabs: Tabs, shop: Account) -> None:
    tab = listen(tabs.open(shop, "account"))
    tab.changes(STATS, lambda answer: answer | {"before": None, "covers": {"clicks": 18204, "of": 41960, "since": answer["from"]}})
    tab.go(f"links/{sale_of(shop)}?country=NO", shows="Based on the latest 18,204 of 41,960 clicks, since")
    hears(tab, "Based on the latest 18,204 of 41,960 clicks")


def test_each_number_has_its_own_change_and_others_are_no_filter(tabs: Tabs, filled: Account) -> None:
    sale = sale_of(filled)
    tab = tabs.open(filled, "account", answers=aged(filled, sale))
    before = {"total_clicks": 12, "human_clicks": 3, "unique_visitors": 1000, "points": []}
    more = {"campaigns": [{"campaign": "mail / - / -", "count": 2}, {"campaign": "(other)", "count": 3}]}
    tab.changes(STATS, lambda answer: answer | more | {"before": {"from": "2026-01-01T00:00:00.000Z", "to": answer["from"]} | before})
    asked = tab.requests(STATS)
    tab.go(f"links/{sale}?audience=human&audience=bot&audience=prefetch")
    for change in ("fewer than 12", "more than 3", "fewer than 1,000"):
        expect(tab.figures()).to_contain_text(f"{change} in the previous 30 days")
    assert "tz=Europe%2FZurich" in asked[0]
    campaigns = tab.page.get_by_role("list", name="Campaigns")
    expect(campaigns.get_by_role("listitem")).to_have_count(2)
    expect(campaigns.get_by_role("button")).to_have_count(1)
    expect(campaigns.get_by_role("listitem").last).to_contain_text("Other")


def test_last_month_is_compared_with_the_month_before_in_two_presses(tabs: Tabs, filled: Account) -> None:
    sale = sale_of(filled)
    tab = tabs.open(filled, "account", answers=aged(filled, sale))
    # The second question is about the previous month.
    totals = iter([10, 40])
    tab.changes(STATS, lambda answer: answer | {"total_clicks": next(totals, 40)} if answer["to"] < answer["as_of"] else answer)
    tab.go(f"links/{sale}")
    tab.pick(tab.button(DATES), "Last month")
    expect(tab.figures()).to_contain_text("fewer than 40 in the previous month")
    expect(tab.figures()).to_contain_text("vs. the previous month")
    assert tab.view() == f"links/{sale}?range=last-month"


def test_the_running_day_is_no_whole_one(tabs: Tabs, filled: Account) -> None:
    sale = sale_of(filled)
    tab = tabs.open(filled, f"links/{sale}?table=1", answers=aged(filled, sale))
    expect(tab.page.get_by_role("list").filter(has_text="Day so far")).to_be_visible()
    rows = tab.page.get_by_role("table", name="Clicks by day, 30 days").get_by_role("row")
    expect(rows.nth(1).get_by_role("rowheader")).to_contain_text(", so far")
    expect(rows.nth(2).get_by_role("rowheader")).not_to_contain_text("so far")
    _, series = saved(tab, "Clicks over time")
    head, *lines = series.decode().splitlines()
    assert head.endswith(",note") and lines[-1].endswith(",so far")
    tab.pick(tab.button(GROUPED), "Weeks", shows=tab.page.get_by_role("table", name=re.compile("^Clicks by week")))
    expect(tab.page.get_by_role("list").filter(has_text="Week so far")).to_be_visible()


def test_countries_are_shown_on_a_map_when_asked_for(tabs: Tabs, shop: Account) -> None:
    sale = sale_of(shop)
    tab = tabs.open(shop, f"links/{sale}")
    loaded = tab.requests("world-map")
    tab.settled()
    assert loaded == []
    tab.button("Map").click()
    world = tab.page.get_by_role("listbox", name="Countries")
    expect(world.get_by_role("option")).to_have_count(2)
    assert len(loaded) > 0
    norway = world.get_by_role("option", name=re.compile("^Norway, 4 clicks"))
    norway.hover()
    expect(tab.page.get_by_text("Norway 4 clicks, 66.7%")).to_be_visible()
    norway.click()
    expect(chips(tab)).to_have_text(["Country: Norway"])
    expect(norway).to_have_attribute("aria-selected", "true")
    assert sorted(tab.view().partition("?")[2].split("&")) == ["country=NO", "map=1"]
    tab.press(tab.button("Remove Country: Norway"), lacks=chips(tab))

    world.focus()
    tab.keys("ArrowRight")
    expect(world).to_have_attribute("aria-activedescendant", re.compile("-DE$"))
    tab.keys("Enter")
    expect(chips(tab)).to_have_text(["Country: Germany"])
    tab.press(tab.button("List"))
    expect(bar(tab, "Country: Germany")).to_have_attribute("aria-pressed", "true")


def test_a_phone_has_a_table_of_days_and_hours_too(tabs: Tabs, filled: Account, subtests: pytest.Subtests) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    table = tab.page.get_by_role("table", name="Clicks by weekday and hour")
    for width, rows in [(1280, 8), (360, 25)]:
        with subtests.test(width=width):
            tab.page.set_viewport_size({"width": width, "height": 800})
            expect(table.get_by_role("row")).to_have_count(rows)
            cells = table.get_by_role("cell").filter(has_text=re.compile(r"^\d+$"))
            expect(cells).to_have_count(7 * 24)
            assert sum(int(text) for text in cells.all_text_contents()) == 6
    # It also shows where clicks come from.
    row = latest(tab).filter(has_text="Firefox").first
    expect(row.get_by_text("Norway").locator("visible=true")).to_have_count(1)
    expect(row.get_by_text("news.example").locator("visible=true")).to_have_count(1)
    tab.settled()
    tab.assert_not_sideways()


def test_links_are_compared_also_with_one_that_is_gone(tabs: Tabs, api: Api, account: Account) -> None:
    codes = [account.shorten(f"https://example.com/{word}", title=word) for word in ("apples", "pears", "plums")]
    for _ in range(3):
        api.click(codes[0], agent=FIREFOX)
    api.click(codes[1], agent=FIREFOX)
    api.click(codes[1], agent=BOT)
    account.wait_for_clicks(codes[0], 3)
    account.wait_for_clicks(codes[1], 2)

    tab = tabs.open(account, "links")
    tab.press(tab.page.get_by_role("checkbox", name=f"Select {codes[0]}"))
    expect(tab.button("Compare")).to_be_disabled()
    for code in codes[1:]:
        tab.press(tab.page.get_by_role("checkbox", name=f"Select {code}"))
    tab.press(tab.button("Compare"), heading="Compare")

    table = tab.page.get_by_role("table", name="Statistics by link")
    counts = {codes[0]: 3, codes[1]: 1, codes[2]: 0}
    for code, count in counts.items():
        expect(table.get_by_role("row").filter(has_text=code).get_by_role("cell").first).to_contain_text(re.compile(f"{count}$"))
    expect(tab.page.locator(".legend bdi")).to_have_count(3)
    tab.pick(tab.button(WHOSE), "All")
    expect(table.get_by_role("row").filter(has_text=codes[1]).get_by_role("cell").first).to_contain_text(re.compile("2$"))
    tab.press(tab.button("Table"))
    expect(tab.page.get_by_role("table", name=re.compile("^Clicks by hour")).get_by_role("columnheader")).to_have_count(4)
    tab.press(tab.button("7 d"))
    tab.press(tab.button(f"Remove {codes[2]}"), counts=(table.get_by_role("row"), 3))
    assert codes[0] in tab.view() and codes[2] not in tab.view() and "range=7d" in tab.view()
    tab.go_back(counts=(table.get_by_role("row"), 4))
    tab.follow(table.get_by_role("link", name=codes[0]), re.compile(codes[0]))

    # One that is gone keeps none from being compared.
    tab.refused.add("404")
    tab.open(f"compare?codes={codes[0]},nowhere1")
    expect(table.get_by_role("row").filter(has_text=codes[0]).get_by_role("cell").first).to_contain_text(re.compile("3$"))
    expect(table.get_by_role("row").filter(has_text="nowhere1").get_by_role("cell").first).to_have_text("")


def saved(tab: Tab, item: str) -> tuple[str, bytes]:
    """The name of the file, and what is in it."""
    with tab.page.expect_download() as download:
        tab.pick(tab.button("Download"), item)
    assert download.value.failure() is None
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_what_is_shown_is_saved(tabs: Tabs, shop: Account) -> None:
    sale = sale_of(shop)
    tab = tabs.open(shop, f"links/{sale}?country=NO", clicks=4)
    name, series = saved(tab, "Clicks over time")
    assert name == f"{sale}-series.csv"
    head, *rows = series.decode().splitlines()
    column = head.split(",").index("clicks")
    assert sum(int(row.split(",")[column]) for row in rows) == 4
    for item, kind, value in [("Countries", "countries", "NO"), ("Referrers", "referers", "news.example"), ("Systems", "operating_systems", "iOS")]:
        name, table = saved(tab, item)
        assert name == f"{sale}-{kind}.csv"
        assert value in table.decode()
    assert len(saved(tab, "Individual clicks")[1].decode().splitlines()) == 5
    name, picture = saved(tab, "Chart image")
    assert name == f"{sale}-clicks.png" and picture.startswith(PNG)
    # Out of sight, nothing is left.
    expect(tab.page.locator(".picture-box")).to_have_count(0)


def test_a_refused_filter_can_be_removed_and_a_failed_file_is_said(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}?country=nowhere", refused=[400])
    expect(tab.page.get_by_role("alert").first).to_contain_text("Couldn’t load the statistics.")
    tab.click(tab.button("Remove Country: nowhere"), clicks=6)
    tab.fails("**/api/stats/*?*format=csv*", 503, "service_unavailable")
    tab.pick(tab.button("Download"), "Countries", says=re.compile("Couldn’t save the file."))


def test_the_numbers_of_a_link_can_be_read(tabs: Tabs, filled: Account) -> None:
    sale = sale_of(filled)
    tab = tabs.open(filled, f"links/{sale}", answers=aged(filled, sale))
    expect(tab.page.get_by_role("link", name="shop.example.com/sale")).to_be_visible()
    numbers = tab.figures()
    expect(numbers).to_contain_text(re.compile(r"Clicks\s*6.*human clicks only"))
    for word in ["news.example", "Firefox", "Safari", "iOS", "Desktop", "Mobile"]:
        expect(tab.page.get_by_role("main").get_by_text(word, exact=False).first).to_be_visible()
    # Eight visits, of which two are a crawler's.
    tab.pick(tab.button(WHOSE), "All")
    expect(numbers).to_contain_text(re.compile(r"Clicks\s*8"))
    expect(numbers).to_contain_text(re.compile(r"Human clicks\s*6"))

    tab.press(tab.button("Table"))
    table = tab.page.get_by_role("table", name="Clicks by day, 30 days")
    expect(table.get_by_role("row")).to_have_count(31)
    expect(table.get_by_role("row").nth(1)).to_contain_text(re.compile(r"6\s*8"))
    tab.pick(tab.button(WHOSE), "Humans")
    tab.press(tab.button("24 h"))
    expect(tab.page.get_by_role("table", name="Clicks by hour, 24 hours").get_by_role("row")).to_have_count(25)
    assert tab.view() == f"links/{sale}?table=1&range=24h"
    tab.reload(shows=tab.page.get_by_role("table", name="Clicks by hour, 24 hours"))

    tab.pick(tab.button(DATES), "Custom range")
    tab.press(tab.button("Show", tab.dialog("Custom range")))
    expect(tab.page.get_by_role("table", name=re.compile("^Clicks by hour"))).to_be_visible()
    tab.pick(tab.button(GROUPED), "Days", shows=tab.page.get_by_role("table", name=re.compile("^Clicks by day")))


def test_clicks_and_changes_appear_while_one_looks(tabs: Tabs, api: Api, account: Account) -> None:
    code = account.shorten("https://example.com/fresh", title="Old")
    tab = tabs.open(account, f"links/{code}", shows="No clicks yet")
    # What was changed elsewhere is read when one comes back.
    expect(tab.page.get_by_role("main")).to_contain_text("Old")
    account.call("PATCH", f"/api/links/{code}", {"title": "New"})
    tab.come_back()
    expect(tab.page.get_by_role("main")).to_contain_text("New")
    api.click(code, agent=FIREFOX)
    clicks = tab.page.get_by_role("table", name="Latest clicks")
    expect(clicks.get_by_role("row").filter(has_text="Firefox")).to_be_visible(timeout=60_000)
    expect(tab.figures()).to_contain_text(re.compile(r"Clicks\s*1"), timeout=60_000)
    # It is opened beside its page.
    opener = tab.page.get_by_role("link", name="Open", exact=True)
    expect(opener).to_have_attribute("href", account.links[0]["short_url"])
    with tab.context.expect_page() as opened:
        tab.press(opener)
    opened.value.close()
    account.wait_for_clicks(code, 2)


def test_a_link_is_changed_switched_off_and_deleted(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://example.com/old", title="Old")
    tab = tabs.open(account, f"links/{code}")
    form = tab.open_dialog("Edit", f"Edit {code}")
    tab.submit("Save", {form.get_by_label(re.compile("^Title")): "New"}, form)
    expect(tab.page.get_by_role("main")).to_contain_text("New")

    tab.press(tab.button("Disable"), says="Link disabled.", shows=tab.button("Enable"))

    tab.press(tab.button("More"))
    expect(tab.page.get_by_role("menuitem", name=re.compile("Delete"))).to_have_text(["Delete", "Delete with statistics"])
    tab.keys("Escape")
    tab.pick(tab.button("More"), "Delete with statistics")
    tab.press(tab.button("Delete with statistics", tab.dialog(f"Delete {code} with its statistics?")))
    expect(tab.heading("Links")).to_be_attached()
    tab.says("Link deleted with its statistics.")
    assert account.call("GET", "/api/links")["links"] == []


def test_the_latest_clicks_are_read_once_and_then_followed(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "account")
    asked = tab.requests(r"/clicks\?")
    tab.go(f"links/{sale_of(filled)}", shows=tab.page.get_by_role("table", name="Latest clicks"))
    tab.settled()
    assert [url.partition("/clicks?limit=")[2] for url in asked] == ["100"]
    with tab.page.expect_request("**/clicks?*") as next_one:
        tab.press(tab.button("Table"))
    assert next_one.value.url.endswith("?limit=20")
    # Another time has other clicks.
    with tab.page.expect_request("**/clicks?limit=100"):
        tab.press(tab.button("7 d"))


def test_what_two_people_change_at_once_is_lost_for_neither(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://example.com/shared", title="Old", tags=["spring"])
    path = f"/api/links/{code}"
    tab = tabs.open(account, f"links/{code}")
    form = tab.open_dialog("Edit", f"Edit {code}")
    form.get_by_label(re.compile("^Title")).fill("Mine")

    account.call("PATCH", path, {"title": "Theirs"})
    tab.press(tab.button("Save", form))
    expect(form.get_by_role("alert")).to_contain_text("Someone else has changed this: title. Save again to overwrite it.")
    expect(form.get_by_label(re.compile("^Title"))).to_have_value("Mine")
    assert account.call("GET", path)["title"] == "Theirs"

    # What they change between the look and the write isn't overwritten either.
    theirs = [{"tags": ["spring", "theirs"]}]

    def overtake(route: Route) -> None:
        if route.request.method == "PATCH" and theirs:
            account.call("PATCH", path, theirs.pop())
        route.continue_()

    tab.page.route(f"**{path}", overtake)
    tab.refused.add("412")
    tab.press(tab.button("Save", form), says="Saved.")
    link = account.call("GET", path)
    assert (link["title"], sorted(link["tags"])) == ("Mine", ["spring", "theirs"])


def test_a_qr_code_warns_of_colours_that_cameras_do_not_read(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    tab.press(tab.button("QR code").first)
    dialog = tab.dialog("QR code")
    tab.write(dialog.get_by_label("Color", exact=True), "#dddddd", shows=dialog.get_by_text("These colors are too similar"))
    for name in ("Copy image", "SVG", "PNG"):
        expect(tab.button(name, dialog)).to_be_disabled()
    tab.write(dialog.get_by_label("Color", exact=True), "#1a2b3c", lacks=dialog.get_by_text("These colors are too similar"))
    tab.press(tab.button("1024", dialog))
    for kind in ("SVG", "PNG"):
        with tab.page.expect_download() as download:
            tab.press(tab.button(kind, dialog))
        assert download.value.suggested_filename == f"{sale_of(filled)}.{kind.lower()}"
        assert download.value.failure() is None
    tab.press(tab.button("Copy image", dialog), says="Image copied.")
