"""That nothing goes unnoticed in a tab, without which the other tests would prove little."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from support.api import Api
from support.axe import assert_usable_by_everybody
from support.tab import Tab, Tabs


@pytest.fixture
def tab(browser: Browser, profiles: list[BrowserContext], api: Api) -> Iterator[Tab]:
    """A tab that isn't judged at the end."""
    tabs = Tabs(browser, api, profiles)
    tab = tabs.open(None, "sign-in")
    expect(tab.heading("Sign in")).to_be_visible()
    tab.settled()
    tab.assert_nothing_noticed()
    yield tab
    tabs.close()


NOTICED_WITHIN = 10
NOTICED = {
    "console.debug('hm')": "in the console: debug: hm",
    "setTimeout(() => { throw new Error('oops'); })": "an error: oops",
    "fetch('https://example.com/').catch(() => {})": "Content Security Policy",
    "location.assign('https://example.com/')": "a request to elsewhere: GET https://example.com/",
    "document.body.insertAdjacentHTML('beforeend', '<img src=\"https://example.com/a.png\">')": "a request to elsewhere",
    "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">')": "Content Security Policy",
    "{ const script = document.createElement('script'); script.text = '1'; document.body.append(script); }": "Content Security Policy",
    "fetch('no-such-file')": "status of 404",
}


def test_it_is_noticed(tab: Tab, subtests: pytest.Subtests) -> None:
    for script, words in NOTICED.items():
        with subtests.test(script):
            tab.open("sign-in").page.reload()
            tab.settled()
            tab.noticed.clear()
            tab.page.evaluate(f"() => {{ {script} }}")
            until = time.monotonic() + NOTICED_WITHIN
            while not any(words in each for each in tab.noticed):
                assert time.monotonic() < until, tab.noticed
                tab.page.title()


def test_what_not_everybody_can_use_is_noticed(tab: Tab) -> None:
    tab.page.evaluate("document.querySelector('label').remove()")
    with pytest.raises(AssertionError, match="label"):
        assert_usable_by_everybody(tab)


def test_what_is_too_wide_is_noticed(tab: Tab) -> None:
    tab.page.evaluate("document.querySelector('h1').style.width = '3000px'")
    with pytest.raises(AssertionError, match="pixels wide"):
        tab.assert_not_sideways()
