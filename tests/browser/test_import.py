"""Links of another system come from a file, and new ones from any page."""

import csv
import json
import re
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from support.api import PASSWORD, Account, Api
from support.faults import assert_usable_by_everybody
from support.tab import Tab, Tabs

IMPORT = re.compile(r"/api/import$")
HEAD = "long_url,custom_bitlinks,title,tags,created_at,clicks"


def code_of(account: Account, letter: str) -> str:
    """One that nobody else has."""
    return f"{letter}{account.email[4:14]}"


def bitly(account: Account, *letters: str) -> str:
    """An export with a link for each letter."""
    return "\n".join([HEAD, *(f"https://example.com/{letter},bit.ly/{code_of(account, letter)},Link {letter},sale,2025-03-01T10:00:00Z,1234" for letter in letters)]) + "\n"


def choose_file(tab: Tab, text: str, name: str = "export.csv") -> Locator:
    drawer = tab.dialog("Import links")
    with tab.page.expect_file_chooser() as chooser:
        tab.press(tab.button(re.compile("^Choose (a|another) file$"), drawer))
    chooser.value.set_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})
    return drawer


def open_drawer(tab: Tab, text: str, **named: str) -> Locator:
    tab.open("settings")
    tab.open_dialog("Import links", "Import links")
    return choose_file(tab, text, **named)


def result(tab: Tab, *parts: str) -> None:
    for part in parts:
        expect(tab.dialog("Import links").get_by_role("region", name="Result")).to_contain_text(part)


def codes_of(account: Account) -> set[str]:
    return {link["short_code"] for link in account.call("GET", "/api/links?per_page=100")["links"]}


@pytest.mark.usefixtures("input_device")
def test_a_newcomer_moves_here(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    tab.press(tab.page.get_by_role("link", name="Import your links"))
    drawer = choose_file(tab, bitly(account, "a", "b"))
    expect(drawer.get_by_role("heading", name="First rows")).to_be_focused()
    expect(drawer.get_by_role("status").first).to_contain_text("Bitly")
    expect(drawer.get_by_role("row", name=code_of(account, "a"))).to_contain_text("Can be imported")
    assert_usable_by_everybody(tab, "a file to import")
    tab.write(drawer.get_by_role("combobox", name="Tags for all links"), "moved,")

    tab.press(tab.button("Test without importing", drawer))
    result(tab, "Tested. Nothing was imported.", "2 can be imported")
    assert codes_of(account) == set()

    tab.press(tab.button("Import", drawer))
    result(tab, "Import finished.", "2 imported")
    expect(drawer.get_by_role("region", name="Result")).to_be_focused()
    assert_usable_by_everybody(tab, "an import that has finished")
    tab.press(drawer.get_by_role("link", name="Show links"), links=2)
    link = account.call("GET", f"/api/links/{code_of(account, 'a')}")
    assert (sorted(link["tags"]), link["imported_clicks"], link["created_at"]) == (["moved", "sale"], 1234, "2025-03-01T10:00:00.000Z")
    tab.open(f"links/{link['short_code']}")
    expect(tab.page.get_by_text("1,234 imported clicks, not in the statistics")).to_be_visible()
    expect(tab.figures()).to_contain_text("+ 1,234 imported")


def test_rows_that_fail_are_a_file_with_line_and_reason(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account)
    text = bitly(account, "a") + "https://example.com/x,bit.ly/api,X,,,\n" + "ftp://example.com/y,bit.ly/yyyyyy,Y,,,\n"
    drawer = open_drawer(tab, text)
    tab.press(tab.button("Import", drawer))
    result(tab, "Import finished. 2 rows weren’t imported.", "1 imported · 1 invalid · 1 unsupported code")
    assert_usable_by_everybody(tab, "an import with failures")
    with tab.page.expect_download() as download:
        tab.press(tab.button("Download 2 rows as CSV", drawer))
    with Path(download.value.path()).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["line"], row["status"], row["destination"]) for row in rows] == [("3", "unsupported", "https://example.com/x"), ("4", "invalid", "ftp://example.com/y")]
    assert all(row["reason"] for row in rows)

    # With a code of its own, the first of them comes, and what is here stays.
    choose_file(tab, text)
    tab.press(tab.button("Generate a code", drawer))
    tab.press(tab.button("Import", drawer))
    result(tab, "1 imported · 1 already here · 1 invalid")


def test_an_import_is_stopped_and_goes_on(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account)
    rows = "".join(f"https://example.com/{at},bit.ly/{code_of(account, 's')}{at},,,,\n" for at in range(501))
    drawer = open_drawer(tab, f"{HEAD}\n{rows}")
    expect(drawer.get_by_role("heading", name="First rows")).to_be_focused()
    asked: list[dict[str, Any]] = []

    def answer(route: Route) -> Any:
        """As the API does, without its time."""
        body = route.request.post_data_json
        asked.append(body)
        count = body["text"].count("\n") - 1
        results = [{"line": body["first_line"] + 1 + at, "status": "created", "short_code": "a", "original_url": "https://example.com/", "reason": None, "ignored": []} for at in range(count)]
        return route.fulfill(json={"format": "bitly", "written": True, "results": results})

    tab.page.route(IMPORT, answer)
    held = tab.hold(IMPORT)
    tab.press(tab.button("Import", drawer))
    tab.press(tab.button("Stop", drawer))
    held.let_go()
    result(tab, "Stopped. Imported links stay.", "500 imported")
    assert_usable_by_everybody(tab, "an import that was stopped")
    tab.press(tab.button("Continue", drawer))
    result(tab, "Import finished.", "501 imported")
    assert [body["first_line"] for body in asked] == [1, 501]


def test_an_import_waits_as_long_as_the_api_wants(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account)
    drawer = open_drawer(tab, bitly(account, "w"))
    expect(drawer.get_by_role("heading", name="First rows")).to_be_focused()
    with tab.failing(IMPORT, 429, "too_many_requests", headers={"retry-after": "3"}):
        tab.press(tab.button("Import", drawer))
        result(tab, "Continues in")
    result(tab, "1 imported")


def test_clicks_that_come_before_their_links_count_once(tabs: Tabs, account: Account) -> None:
    code = code_of(account, "y")
    clicks = ",".join(f"({at},'2026-11-2{at} 10:00:00','{code}','direct','Mozilla/5.0 Firefox/140.0','192.0.2.{at}','NO')" for at in range(1, 6))
    dump = (
        "CREATE TABLE `yourls_log` (\n  `click_id` int,\n  `click_time` datetime,\n  `shorturl` varchar(100),\n  `referrer` varchar(200),\n"
        "  `user_agent` varchar(255),\n  `ip_address` varchar(41),\n  `country_code` char(2)\n);\n"
        f"INSERT INTO `yourls_log` VALUES {clicks};\n"
        "CREATE TABLE `yourls_options` (\n  `option_id` bigint,\n  `option_name` varchar(64),\n  `option_value` longtext\n);\nINSERT INTO `yourls_options` VALUES (1,'version','1.9');\n"
        "CREATE TABLE `yourls_url` (\n  `keyword` varchar(100),\n  `url` text,\n  `title` text,\n  `timestamp` timestamp,\n  `ip` varchar(41),\n  `clicks` int\n);\n"
        f"INSERT INTO `yourls_url` VALUES ('{code}','https://example.com/y','Y','2026-11-01 10:00:00','192.0.2.1',9);\n"
    )
    tab = tabs.open(account)
    for links, counted, offered in (("1 imported", "5 imported", "Europe/Zurich"), ("1 already here", "5 already here", "Asia/Tokyo")):
        drawer = open_drawer(tab, dump, name="yourls.sql")
        # Times in another zone would be other clicks.
        zone = drawer.get_by_label("Time zone")
        expect(zone).to_have_value(offered)
        zone.select_option("Asia/Tokyo")
        tab.press(tab.button("Import", drawer))
        result(tab, f"Links{links}", f"Clicks{counted}", "Import finished.")
        expect(drawer.get_by_text("Imported clicks appear in statistics")).to_have_count(int(offered != "Asia/Tokyo"))
        tab.press(tab.button("Done", drawer))
    assert account.call("GET", f"/api/links/{code}")["imported_clicks"] == 4


def test_a_viewer_is_offered_no_import(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account.add_member(enters=True, role="viewer"), "settings?open=import", heading="Settings", refused={403})
    expect(tab.button("Import links")).to_have_count(0)
    expect(tab.dialog("Import links")).to_have_count(0)


def test_the_palette_opens_an_import(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "overview")
    tab.keys("Control+k")
    tab.page.get_by_role("combobox", name="Find anything").fill("import")
    expect(tab.dialog("Find anything").get_by_role("option", name="Import links")).to_be_visible()
    tab.keys("Enter")
    expect(tab.dialog("Import links")).to_be_visible()
    tab.keys("Escape", lacks=tab.dialog("Import links"), at="settings")


GIVEN = urllib.parse.urlencode({"url": "https://example.com/given?a=b&c", "title": "A page"})
SHARED = urllib.parse.urlencode({"text": "Look: https://example.com/given?a=b&c", "title": "A page"})


@pytest.mark.parametrize("query", [GIVEN, SHARED])
def test_an_address_with_a_url_fills_in_the_form_and_nothing_else(tabs: Tabs, account: Account, query: str) -> None:
    tab = tabs.open(account)
    sent = tab.requests("/api/shorten")
    tab.page.goto(f"{tab.api.app}?{query}")
    form = tab.dialog("New link")
    expect(form.get_by_role("textbox", name="Destination")).to_have_value("https://example.com/given?a=b&c")
    expect(form.get_by_role("textbox", name="Title").first).to_have_value("A page")
    tab.settled()
    assert sent == []
    assert "?" not in tab.page.url
    tab.press(tab.button("Create link", form), says="Link created.")
    assert [link["original_url"] for link in account.call("GET", "/api/links")["links"]] == ["https://example.com/given?a=b&c"]


def test_the_form_is_filled_in_after_signing_in(tabs: Tabs, api: Api, account: Account) -> None:
    tab = tabs.open_new()
    tab.page.goto(f"{api.app}?{GIVEN}")
    tab.sign_in(account.email, PASSWORD)
    expect(tab.dialog("New link").get_by_role("textbox", name="Destination")).to_have_value("https://example.com/given?a=b&c")
    assert "?" not in tab.page.url


def test_a_url_that_runs_something_is_none(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account)
    tab.page.goto(f"{tab.api.app}?url=javascript:alert(1)")
    form = tab.dialog("New link")
    tab.press(tab.button("Create link", form), shows="Enter a URL that starts with http:// or https://.")


def test_the_bookmarklet_opens_the_form_from_any_page(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "settings")
    button = tab.page.get_by_role("link", name="Shorten with Linklet")
    code = button.get_attribute("href") or ""
    assert code.startswith("javascript:")
    tab.press(button, says="Drag this button to your bookmarks bar")
    tab.press(tab.button("Copy", tab.page.locator(".field", has_text="Bookmarklet")), says="Copied")
    assert tab.clipboard() == code
    opened = tab.page.evaluate("(code) => { let opened; const open = (url) => { opened = url; }; new Function('open', code)(open); return opened; }", code.removeprefix("javascript:"))
    assert opened.startswith(f"{tab.api.app}?url=http")


def test_a_browser_can_install_the_application(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account)
    session = tab.context.new_cdp_session(tab.page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    base = urllib.parse.urljoin(manifest["url"], json.loads(manifest["data"])["start_url"])
    assert base == tab.api.app
