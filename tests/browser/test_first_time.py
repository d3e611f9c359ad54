"""Somebody who has never read a word about Linklet, beginning at its address."""

import re

from playwright.sync_api import expect

from support.api import FIREFOX, Api, new_email
from support.tab import Tabs


def test_a_newcomer_registers_shortens_a_url_and_sees_its_first_click(tabs: Tabs, api: Api) -> None:
    tab = tabs.open_new()
    page = tab.page
    page.goto(f"{api.url}/")

    expect(tab.heading("Sign in")).to_be_visible()
    tab.press(page.get_by_role("link", name="Create an account"))
    expect(tab.heading("Create an account")).to_be_visible()
    tab.sign_in(new_email(), button="Create account")

    expect(page.get_by_label("Paste a long URL")).to_be_focused()
    tab.write(page.get_by_label("Paste a long URL"), "https://doc.rust-lang.org/std/")
    tab.press(tab.button("Shorten"))
    tab.says("Link created. Copied.")
    row = page.get_by_role("list", name="Links").get_by_role("listitem")
    expect(row).to_have_count(1)
    short_url = page.evaluate("navigator.clipboard.readText()")
    code = short_url.rsplit("/", 1)[1]

    tab.press(row.get_by_role("link", name=re.compile("doc.rust-lang.org")))
    expect(page.get_by_text("Nobody has followed this link yet.")).to_be_visible()
    tab.press(tab.button("QR code").first)
    picture = tab.dialog("QR code").get_by_role("img", name=f"QR code of {short_url}")
    expect(picture).to_be_visible()
    picture.evaluate("(image) => image.decode()")
    with page.expect_download() as download:
        tab.press(tab.dialog("QR code").get_by_role("link", name="PNG"))
    assert download.value.suggested_filename == f"{code}.png"
    tab.press(tab.button("Close"))

    api.click(code, agent=FIREFOX, referer="https://news.example/today")

    # It appears by itself.
    clicks = page.get_by_role("table", name="Latest clicks")
    expect(clicks.get_by_role("row").filter(has_text="Firefox")).to_be_visible(timeout=60_000)
    expect(clicks.get_by_role("cell", name="news.example", exact=True)).to_be_visible()
