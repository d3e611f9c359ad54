"""What the application keeps while it is used for long: it levels off. `LASTING_SECONDS=600` uses it for ten minutes."""

import os
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, CDPSession, Locator, Playwright, expect

from support.api import Account, Api
from support.sample_data import sale_of
from support.tab import Tab, Tabs, flags

SECONDS = float(os.environ.get("LASTING_SECONDS", "20"))
# Rounds after which everything that is kept is there, such as what was read once. One page more is kept from about the fifth round on.
WARM = 6
# What is kept for good is there after each of the last rounds. A single round can end with a message that is still shown.
LAST = 3
# Of the heap, the nodes and the listeners. A round ends with one or another number of rows and messages.
MOST_GROWTH = (1.06, 1.15, 1.15)
# The engine goes on compiling what is used much, for longer than this test, and keeps the code beside the objects. That is its own.
WITHOUT_COMPILED_CODE = "--js-flags=--jitless"


@pytest.fixture(scope="module")
def browser(playwright: Playwright, api: Api) -> Iterator[Browser]:
    with playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=[*flags(api.host), WITHOUT_COMPILED_CODE]) as launched:
        yield launched


def kept(devtools: CDPSession) -> tuple[float, int, int]:
    """The bytes in use after what nothing uses was collected, the nodes and the listeners."""
    for _ in range(2):
        devtools.send("HeapProfiler.collectGarbage")
    counters = devtools.send("Memory.getDOMCounters")
    return devtools.send("Runtime.getHeapUsage")["usedSize"], counters["nodes"], counters["jsEventListeners"]


def close(tab: Tab, dialog: Locator) -> None:
    expect(dialog).to_be_visible()
    tab.settled()
    tab.keys("Escape", lacks=dialog)


def go_round(tab: Tab, code: str) -> None:
    """Every page, a search, a form, a dialog and the palette."""
    for name in ("Overview", "Tags", "Monitoring", "Notifications", "Members", "API keys", "Activity", "Settings", "Links"):
        tab.page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).first.click()
        expect(tab.heading(name)).to_be_attached()
    tab.page.get_by_role("searchbox", name="Search links").fill("sale")
    tab.settled()
    tab.page.get_by_role("searchbox", name="Search links").fill("")
    tab.go(f"links/{code}")
    expect(tab.page.locator(".chart canvas, .chart table").first).to_be_attached()
    tab.keys("q")
    close(tab, tab.dialog("QR code"))
    tab.keys("Control+k")
    tab.page.keyboard.type("members")
    expect(tab.page.get_by_role("option").first).to_be_visible()
    close(tab, tab.dialog("Find anything"))
    tab.page.get_by_role("navigation", name="Pages").get_by_role("link", name="Links").first.click()
    expect(tab.heading("Links")).to_be_attached()
    tab.settled()
    tab.keys("c")
    close(tab, tab.dialog("New link"))
    tab.settled()


def test_what_is_kept_levels_off(tabs: Tabs, filled: Account, measured: Callable[[str], None]) -> None:
    tab = tabs.open_new(filled)
    tab.open("links")
    devtools = tab.context.new_cdp_session(tab.page)
    code, began = sale_of(filled), time.monotonic()
    taken = []
    while time.monotonic() - began < SECONDS or len(taken) <= WARM + LAST:
        go_round(tab, code)
        taken.append(kept(devtools))
    warm, last = taken[WARM], tuple(map(min, zip(*taken[-LAST:], strict=True)))
    measured(
        f"used for {time.monotonic() - began:.0f} s in {len(taken)} rounds: heap {warm[0] / 1e6:.1f} MB after {WARM + 1} rounds, {last[0] / 1e6:.1f} MB at the end, "
        f"at most {max(size for size, *_ in taken) / 1e6:.1f} MB; {warm[1]:,} and {last[1]:,} nodes, {warm[2]:,} and {last[2]:,} listeners"
    )
    for before, after, growth in zip(warm, last, MOST_GROWTH, strict=True):
        assert after <= before * growth
