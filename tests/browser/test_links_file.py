"""The list of links as a file."""

import csv
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Download, Route, expect

from support.answers import listed, made_up_links, query_of
from support.api import Account
from support.faults import assert_usable_by_everybody
from support.tab import Tab, Tabs

PAGES = re.compile(r"/api/links\?.*per_page=100")


def rows_of(download: Download) -> list[dict[str, str]]:
    with Path(download.path()).open(newline="") as file:
        return list(csv.DictReader(file))


def downloaded(tab: Tab) -> list[dict[str, str]]:
    with tab.page.expect_download() as download:
        tab.press(tab.button("Download CSV"))
    assert re.fullmatch(r"links-\d{4}-\d\d-\d\d\.csv", download.value.suggested_filename)
    return rows_of(download.value)


def test_one_press_downloads_the_links_that_are_listed(tabs: Tabs, account: Account) -> None:
    for name, tags in (("a", ["sale", "red"]), ("b", ["sale"]), ("c", [])):
        account.shorten(f"https://example.com/{name}", title=f"={name}", tags=tags)
    account.wait_for("/api/links?tag=sale", lambda answer: answer["total"] == 2)
    tab = tabs.open(account, "links?tag=sale&sort=oldest")
    rows = downloaded(tab)
    tab.says("2 links downloaded.")
    assert [(row["original_url"], row["title"], row["tags"], row["total_clicks"]) for row in rows] == [("https://example.com/a", "'=a", "sale|red", "0"), ("https://example.com/b", "'=b", "sale", "0")]
    tab.open("links?sort=clicks")
    assert {row["original_url"] for row in downloaded(tab)} == {f"https://example.com/{name}" for name in "abc"}


def test_many_links_show_how_far_they_are_and_can_be_stopped(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links", answers=listed(made_up_links(1_234)))
    held = tab.hold(re.compile(r"/api/links\?.*after=300"))
    tab.press(tab.button("Download CSV"))
    expect(tab.page.get_by_role("status").filter(has_text="Downloading links: 300 of 1,234…")).to_be_visible()
    assert_usable_by_everybody(tab, "links that are downloaded")
    tab.press(tab.button("Stop"), focuses=tab.button("Download CSV"), lacks=tab.button("Stop"))
    held.let_go()
    assert len(downloaded(tab)) == 1_234


def test_a_download_that_has_failed_goes_on_where_it_was(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links", answers=listed(made_up_links(300)))
    asked: list[str] = []

    def note(route: Route) -> Any:
        asked.append(query_of(route).get("after", ""))
        return route.fallback()

    tab.page.route(PAGES, note)
    with tab.failing(re.compile(r"/api/links\?.*after=200"), 503, "unavailable"):
        tab.press(tab.button("Download CSV"))
        expect(tab.page.get_by_role("alert")).to_contain_text("The download stopped after 200 links.")
    asked.clear()
    with tab.page.expect_download() as download:
        tab.press(tab.button("Try again"))
    assert len(rows_of(download.value)) == 300
    assert asked == ["200"]
