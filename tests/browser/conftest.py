"""Fixtures of the tests in a browser. infra/browser.py runs them, against the system that API_URL names."""

import os
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright

from support.api import Account, Api
from support.sample_data import fill
from support.input import DEVICES
from support.tab import Tabs, flags

# A machine on which other tests run at the same time is slow.
expect.set_options(timeout=15_000)
MEASURED = "measured"


@pytest.fixture(scope="session")
def api() -> Api:
    return Api(os.environ["API_URL"])


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright: Playwright, api: Api) -> Iterator[Browser]:
    with playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=flags(api.host)) as launched:
        yield launched


@pytest.fixture(scope="session")
def profiles() -> list[BrowserContext]:
    """Those that no test uses at the moment."""
    return []


@pytest.fixture
def tabs(browser: Browser, profiles: list[BrowserContext], api: Api) -> Iterator[Tabs]:
    """Opens tabs. Each is closed at the end, and whatever it has noticed fails the test."""
    tabs = Tabs(browser, api, profiles)
    yield tabs
    try:
        for tab in tabs.opened:
            tab.assert_nothing_noticed()
    finally:
        tabs.close()


@pytest.fixture(scope="session")
def filled(api: Api) -> Account:
    """A workspace with links, clicks, members and all else, for tests that only look."""
    return fill(api.register("Ada Lovelace"))


@pytest.fixture(scope="session")
def target(filled: Account) -> str:
    """The id of a monitored URL."""
    return filled.call("GET", "/v1/targets")["items"][0]["id"]


@pytest.fixture
def account(api: Api) -> Account:
    """Somebody new, for tests that change things."""
    return api.register()


@pytest.fixture(params=DEVICES)
def input_device(request: pytest.FixtureRequest, tabs: Tabs) -> str:
    """The test is taken with the pointer, and with the keyboard alone."""
    tabs.device = DEVICES[request.param]
    return request.param


@pytest.fixture
def measured(record_property: Callable[[str, str], None]) -> Callable[[str], None]:
    """Keeps a line for the end."""
    return partial(record_property, MEASURED)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome) if report.when == "call"]
    lines = [text for report in reports for name, text in report.user_properties if name == MEASURED]
    if lines:
        terminalreporter.section("measured")
        terminalreporter.write_line("\n".join(lines))
