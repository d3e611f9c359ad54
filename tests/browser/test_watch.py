"""That nothing goes unnoticed in a tab, without which the other tests would prove little."""

import time
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from support.api import Account, Api
from support.faults import faults_of, layout_faults
from support.overlays import OVERLAYS, assert_left, open_overlay, wrong_overlay
from support.tab import Tab, Tabs
from support.tree import tree_of, wrong_page


@pytest.fixture
def tab(browser: Browser, profiles: list[BrowserContext], api: Api) -> Iterator[Tab]:
    """A tab that isn't judged at the end."""
    tabs = Tabs(browser, api, profiles)
    tab = tabs.open(None, "sign-in", heading="Sign in")
    tab.assert_nothing_noticed()
    yield tab
    tabs.close()


NOTICED_WITHIN = 10
NOTICED = {
    "console.debug('hm')": "in the console: debug: hm",
    "setTimeout(() => { throw new Error('oops'); })": "an error: oops",
    "fetch('https://example.com/').catch(() => {})": "Content Security Policy",
    "document.body.insertAdjacentHTML('beforeend', '<img src=\"https://example.com/a.png\">')": "a request to elsewhere",
    "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">')": "Content Security Policy",
    "{ const script = document.createElement('script'); script.text = '1'; document.body.append(script); }": "Content Security Policy",
    "fetch('no-such-file')": "status of 404",
    # The last, since the page of the error would interrupt the next one.
    "location.assign('https://example.com/')": "a request to elsewhere: GET https://example.com/",
}


def test_it_is_noticed(tab: Tab, subtests: pytest.Subtests) -> None:
    for script, words in NOTICED.items():
        with subtests.test(script):
            tab.reload()
            tab.settled()
            tab.noticed.clear()
            tab.page.evaluate(f"() => {{ {script} }}")
            until = time.monotonic() + NOTICED_WITHIN
            while not any(words in each for each in tab.noticed):
                assert time.monotonic() < until, tab.noticed
                tab.page.title()
    expect(tab.page).to_have_url("chrome-error://chromewebdata/")


LOSSES = {
    "document.querySelector('h1').style.cssText = 'width: 3000px'": "wide where there are",
    "document.querySelector('.button.primary').style.cssText = 'width: 20px; overflow: hidden'": "cut off: “Sign in”",
    "document.querySelector('.button.primary').style.cssText = 'position: absolute; left: 340px'": "outside of the window: “Sign in”",
    "document.querySelector('label').style.cssText = 'height: 4px; overflow: hidden'": "cut off: “Email”",
    "document.querySelector('h1').style.cssText = 'width: 40px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap'": "nowhere whole: “Sign in”",
    "document.querySelector('label').style.cssText = 'position: relative; top: -40px'": "over each other: “Sign in” and “Email”",
    "document.querySelectorAll('input').forEach((one) => { one.style.position = 'absolute'; one.style.top = 0; })": "controls over each other",
    "document.body.append(Object.assign(document.createElement('div'), { style: 'position: fixed; inset: 0' }))": "hidden by <div",
    "document.querySelector('input').placeholder = 'a text that is longer than there is room for, by far'": "cut off: the placeholder",
}


def test_what_is_lost_is_noticed(tab: Tab, subtests: pytest.Subtests) -> None:
    tab.page.set_viewport_size({"width": 360, "height": 800})
    for script, words in LOSSES.items():
        with subtests.test(script):
            tab.reload(heading="Sign in")
            tab.settled()
            assert layout_faults(tab) == []
            tab.page.evaluate(f"() => {{ {script} }}")
            assert any(words in each for each in layout_faults(tab)), layout_faults(tab)


# Faults that are there in one way only in which a page is looked at, and what is reported of each.
PLANT = """
() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    h1 { font-size: 20px; }
    @media (width: 1280px) and (prefers-color-scheme: dark) { h1 { color: #222; } }
    @media (width: 1280px) and (prefers-color-scheme: light) { h1 { color: #eee; } }
    @media (width: 320px) { h1 { width: 3200px; color: #eee; } }
    @media (width: 640px) and (resolution: 2dppx) { h1 { width: 6400px; } }
    @media (width: 360px) and (pointer: coarse) and (resolution: 2dppx) { h1 { width: 7200px; } }
    @media (width: 15rem) and (pointer: coarse) { h1 { width: 2400px; } }
  `);
  document.adoptedStyleSheets.push(sheet);
  const main = document.querySelector('main');
  main.querySelector('button, input').inert = true;
  main.append(Object.assign(document.createElement('h1'), { innerText: 'Another' }), document.createElement('input'));
}
"""
PLANTED = """
read aloud: 2 headings of the page
dark: color-contrast
dark: label
light: color-contrast
letters: <h1
tabulator, wide: never reached
made narrow: #/account is 32
narrow: #/account is 32
narrow: color-contrast
tabulator, narrow: never reached
1280 × 1024 at 200 %: the page is 64
720 × 1280 at 200 %: the page is 72
360 × 740 with letters of 24 px: the page is 24
"""


def test_every_fault_of_a_page_is_reported(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account")

    def shown() -> None:
        expect(tab.heading("Account")).to_be_visible()
        tab.settled()
        tab.page.evaluate(PLANT)

    found = faults_of(tab, shown, lambda: wrong_page(tree_of(tab)), is_page=True)
    assert [fault for fault in PLANTED.strip().splitlines() if not any(each.startswith(fault) for each in found)] == [], found


def test_every_fault_of_a_dialog_is_reported(tabs: Tabs, account: Account) -> None:
    overlay = OVERLAYS["a new key"]
    tab = tabs.open(account, overlay.view)

    def shown() -> None:
        open_overlay(tab, overlay)
        # Its title goes, and what had the focus before it.
        tab.page.evaluate("document.querySelectorAll('dialog h2, .skip').forEach((one) => one.remove())")

    found = faults_of(tab, shown, partial(wrong_overlay, tab, overlay), leave=partial(assert_left, tab, overlay))
    assert any(each.startswith("read aloud: a dialog in") for each in found) and "left: the focus is lost" in str(found), found
