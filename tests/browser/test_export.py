"""What a workspace takes along."""

import csv
import json
import re
from pathlib import Path

from playwright.sync_api import Download, expect

from support.api import Account
from support.faults import assert_usable_by_everybody
from support.tab import Tab, Tabs

FORMATS = {"links": ["CSV", "JSON"], "clicks": ["CSV", "JSON"], "daily clicks": ["CSV", "JSON"], "workspace": ["JSON"], "activity": ["CSV", "JSON"]}


def downloaded(tab: Tab, what: str, form: str) -> Download:
    with tab.page.expect_download() as download:
        tab.press(tab.button(f"{form} of {what}"))
    tab.says(f"{what.capitalize()} downloaded.")
    return download.value


def test_everything_is_a_file(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://example.com/a", title="=a", tags=["sale"])
    account.api.click(code)
    account.wait_for(f"/api/links/{code}", lambda link: link["total_clicks"] == 1)
    tab = tabs.open(account, "settings")
    for what, forms in FORMATS.items():
        for form in forms:
            file = downloaded(tab, what, form)
            assert re.fullmatch(rf"linklet-[a-z]+-\d{{4}}-\d\d-\d\d\.{form.lower()}", file.suggested_filename)
            text = Path(file.path()).read_text()
            if form == "JSON":
                assert json.loads(text)["version"] == 1
            else:
                assert list(csv.DictReader(text.splitlines())), what
    links = json.loads(Path(downloaded(tab, "links", "JSON").path()).read_text())["links"]
    assert [(link["short_code"], link["title"], link["tags"]) for link in links] == [(code, "=a", ["sale"])]


def test_many_pages_are_one_file_that_can_be_stopped(tabs: Tabs, account: Account) -> None:
    codes = {account.shorten(f"https://example.com/{name}") for name in "abc"}
    tab = tabs.open(account, "settings")
    pages = re.compile(r"/api/export/links\?")
    tab.page.route(pages, lambda route: route.continue_(url=f"{route.request.url.replace('&limit=1', '')}&limit=1"))
    held = tab.hold(re.compile(r"/api/export/links\?.*after="))
    tab.press(tab.button("CSV of links"))
    expect(tab.page.get_by_role("status").filter(has_text="Downloading links…")).to_be_visible()
    assert_usable_by_everybody(tab, "an export")
    tab.press(tab.button("Stop"), lacks=tab.button("Stop"))
    held.let_go()
    tab.page.unroute(re.compile(r"/api/export/links\?.*after="))
    rows = list(csv.DictReader(Path(downloaded(tab, "links", "CSV").path()).read_text().splitlines()))
    assert [row["short_code"] for row in rows] == sorted(codes, key=[row["short_code"] for row in rows].index)
    assert len(rows) == 3


def test_members_take_no_activity_along(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account.add_member(enters=True), "settings", heading="Settings", refused={403})
    expect(tab.button("CSV of links")).to_be_visible()
    expect(tab.button("CSV of activity")).to_have_count(0)
