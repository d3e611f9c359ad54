"""The page of one link: its numbers, and what can be done with it."""

import re

from playwright.sync_api import Route, expect

from support.api import FIREFOX, Account, Api
from support.sample_data import aged, sale_of
from support.tab import Tabs


def test_the_numbers_of_a_link_can_be_read(tabs: Tabs, filled: Account) -> None:
    sale = sale_of(filled)
    tab = tabs.open(filled, f"links/{sale}", answers=aged(filled, sale))
    expect(tab.page.get_by_role("link", name="shop.example.com/sale")).to_be_visible()
    numbers = tab.figures()
    expect(numbers).to_contain_text(re.compile(r"Clicks\s*6.*by people only"))
    for word in ["news.example", "Firefox", "Safari", "iOS", "Desktop", "Mobile"]:
        expect(tab.page.get_by_role("main").get_by_text(word, exact=False).first).to_be_visible()
    # Eight visits, of which two are a crawler's.
    tab.press(tab.button("All", tab.page.get_by_role("group", name="Whose clicks")))
    expect(numbers).to_contain_text(re.compile(r"Clicks\s*8"))
    expect(numbers).to_contain_text(re.compile(r"People\s*6"))

    tab.press(tab.button("Table"))
    table = tab.page.get_by_role("table", name="Clicks by day, 30 days")
    expect(table.get_by_role("row")).to_have_count(31)
    expect(table.get_by_role("row").nth(1)).to_contain_text(re.compile(r"6\s*8"))
    tab.press(tab.button("People", tab.page.get_by_role("group", name="Whose clicks")))
    tab.press(tab.button("24 h"))
    expect(tab.page.get_by_role("table", name="Clicks by hour, 24 hours").get_by_role("row")).to_have_count(25)
    assert tab.view() == f"links/{sale}?table=1&range=24h"
    tab.page.reload()
    expect(tab.page.get_by_role("table", name="Clicks by hour, 24 hours")).to_be_visible()

    tab.press(tab.button("Show", tab.open_dialog("Own", "Choose the days")))
    expect(tab.page.get_by_role("table", name=re.compile("^Clicks by hour"))).to_be_visible()
    tab.press(tab.button("Days"))
    expect(tab.page.get_by_role("table", name=re.compile("^Clicks by day"))).to_be_visible()


def test_clicks_and_changes_appear_while_one_looks(tabs: Tabs, api: Api, account: Account) -> None:
    code = account.shorten("https://example.com/fresh", title="Old")
    tab = tabs.open(account, f"links/{code}")
    expect(tab.page.get_by_text("Nobody has followed this link yet.")).to_be_visible()
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
    tab.write(form.get_by_label("Title"), "New")
    tab.press(tab.button("Save", form))
    expect(tab.page.get_by_role("main")).to_contain_text("New")

    tab.press(tab.button("Switch off"))
    tab.says(re.compile("Switched off"))
    expect(tab.button("Switch on")).to_be_visible()

    tab.press(tab.button("More"))
    expect(tab.page.get_by_role("menuitem", name=re.compile("Delete"))).to_have_text(["Delete", "Delete with statistics"])
    tab.page.keyboard.press("Escape")
    tab.pick(tab.button("More"), "Delete with statistics")
    tab.press(tab.button("Delete with statistics", tab.dialog(f"Delete {code} with its statistics?")))
    expect(tab.heading("Links")).to_be_attached()
    tab.says("Link deleted, with its statistics.")
    assert account.call("GET", "/api/links")["links"] == []


def test_the_latest_clicks_are_read_once_and_then_followed(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "account")
    asked = tab.requests(r"/clicks\?")
    tab.go(f"links/{sale_of(filled)}")
    expect(tab.page.get_by_role("table", name="Latest clicks")).to_be_visible()
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
    form.get_by_label("Title").fill("Mine")

    account.call("PATCH", path, {"title": "Theirs"})
    tab.button("Save", form).click()
    expect(form.get_by_role("alert")).to_contain_text("somebody has changed: title. Save again to put yours in its place.")
    expect(form.get_by_label("Title")).to_have_value("Mine")
    assert account.call("GET", path)["title"] == "Theirs"

    # What they change between the look and the write isn't overwritten either.
    theirs = [{"tags": ["spring", "theirs"]}]

    def overtake(route: Route) -> None:
        if route.request.method == "PATCH" and theirs:
            account.call("PATCH", path, theirs.pop())
        route.continue_()

    tab.page.route(f"**{path}", overtake)
    tab.refused.add("412")
    tab.button("Save", form).click()
    tab.says("Saved.")
    link = account.call("GET", path)
    assert (link["title"], sorted(link["tags"])) == ("Mine", ["spring", "theirs"])


def test_a_qr_code_warns_of_colours_that_cameras_do_not_read(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    tab.press(tab.button("QR code").first)
    dialog = tab.dialog("QR code")
    tab.write(dialog.get_by_label("Colour", exact=True), "#dddddd")
    expect(dialog.get_by_text("These colours are too alike")).to_be_visible()
    for name in ("Copy picture", "SVG", "PNG"):
        expect(tab.button(name, dialog)).to_be_disabled()
    tab.write(dialog.get_by_label("Colour", exact=True), "#1a2b3c")
    expect(dialog.get_by_text("These colours are too alike")).to_have_count(0)
    tab.press(tab.button("1024", dialog))
    for kind in ("SVG", "PNG"):
        with tab.page.expect_download() as download:
            tab.press(dialog.get_by_role("link", name=kind))
        assert download.value.suggested_filename == f"{sale_of(filled)}.{kind.lower()}"
        assert download.value.failure() is None
    tab.press(tab.button("Copy picture", dialog))
    tab.says("Picture copied.")
