"""Finds every fault of what a tab shows, in each way in which somebody may come to see it."""

from collections.abc import Callable, Iterable
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from .input import MOST_STOPS
from .tab import Tab

# Width and height in the page's own pixels, how many of the screen each of them has, and whether the screen is touched.
Window = tuple[int, int, int, bool]
WIDE: Window = (1280, 800, 1, False)
# The narrowest phone.
NARROW: Window = (320, 640, 1, False)
PHONE: Window = (360, 800, 1, False)
# Touch comes last: a page that had it says until it is loaded again that nothing can hover.
ENLARGED: dict[str, Window] = {"1280 × 1024 at 200 %": (640, 512, 2, False), "720 × 1280 at 200 %": (360, 640, 2, True)}
WITH_LARGE_LETTERS: Window = (360, 740, 1, True)
LETTERS = 24

# Whether there is room: with a large font, or enlarged, nothing may be lost.
LOST = Path(__file__).with_name("layout.js").read_text()
# Whether everybody can use it, as far as a program can tell: axe-core, WCAG 2.2 AA.
AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN_AXE = """
async (rules) => {
  // What it loads ahead, it would put into the page as a style, which the content security policy forbids.
  const { violations } = await axe.run(document, { runOnly: rules, rules: { 'label-content-name-mismatch': { enabled: true } }, resultTypes: ['violations'], preload: false, elementRef: true });
  // The arrow keys scroll a menu, which axe doesn't know.
  const isFault = (id, element) => id !== 'scrollable-region-focusable' || !element.matches('[role=menu]');
  return violations.flatMap(({ id, nodes }) => nodes.filter(({ element }) => isFault(id, element)).map(({ html, failureSummary }) =>
    `${id}: ${html.slice(0, 200)}\\n    ${failureSummary.replace(/\\s+/g, ' ')}`));
}
"""
# How large each text is that can be seen.
SIZES = """
() => [...document.querySelectorAll('body *')]
  .filter((element) => element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
  .map((element) => [element.outerHTML.slice(0, 100), parseFloat(getComputedStyle(element).fontSize)])
"""
# Where the focus is: whether it is in the page's own part, its place, and what it is.
PLACE = """
() => {
  const element = document.activeElement;
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return { id: (element.tabStop ??= (window.tabStops = (window.tabStops ?? 0) + 1)), isPage: element === document.body, isMain: Boolean(element.closest('main')),
    isSkip: element.matches('.skip'), left, right, top: top + scrollY, bottom: bottom + scrollY, is: element.outerHTML.slice(0, 120) };
}
"""
# Of a group of radio buttons, the tabulator reaches one, and arrows the others.
REACHABLE = """
() => [...document.querySelectorAll('a[href], button, input:not([type=radio]:not(:checked)), select, textarea, summary, [tabindex="0"]')]
  .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility({ visibilityProperty: true }) && !element.tabStop)
  .map((element) => element.outerHTML.slice(0, 120))
"""


def faults_of(
    tab: Tab, show: Callable[[], object], read: Callable[[], Iterable[str]], *, is_page: bool = False,
    resized: Callable[[], object] = lambda: None, leave: Callable[[], None] | None = None,
) -> list[str]:
    """All faults, each with where it is. `show` is called after each load, and waits for what is judged; `resized` is called after each
    change of the window. `read` judges the accessibility tree, and `leave` what remains when it is left. The letters and the tabulator
    of a page are judged, too.

    What is loaded wide and made narrow hides faults of what is loaded narrow, so that is loaded again; letters have the size that they
    had when it was loaded.
    """
    found: list[str] = []
    devtools = tab.context.new_cdp_session(tab.page)

    def note(where: str, judge: Callable[[], Iterable[str] | None]) -> None:
        try:
            faults = judge() or []
        except AssertionError as error:
            faults = [str(error)]
        found.extend(f"{where}: {fault}" for fault in faults)

    def resize(window: Window, then: Callable[[], object] = resized) -> None:
        width, height, scale, has_touch = window
        devtools.send("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})
        if has_touch:
            devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        then()
        tab.settled()

    def load() -> None:
        tab.reload()
        show()

    def note_losses(where: str, letters: int) -> None:
        note(where, lambda: expect(tab.page.locator("html")).to_have_css("font-size", f"{letters}px"))
        note(where, lambda: layout_faults(tab))

    show()
    tab.settled()
    note("read aloud", read)
    for scheme in ("dark", "light"):
        tab.page.emulate_media(color_scheme=scheme)
        note(scheme, lambda: unusable(tab))
    if is_page:
        note("letters", lambda: small_letters(tab))
        note("tabulator, wide", lambda: wrong_order(tab))
    resize(NARROW)
    note("made narrow", tab.assert_not_sideways)
    if leave:
        resize(WIDE)
        note("left", leave)

    resize(NARROW, load)
    note("narrow", tab.assert_not_sideways)
    note("narrow", lambda: unusable(tab))
    if is_page:
        resize(PHONE)
        note("tabulator, narrow", lambda: wrong_order(tab))
    for where, window in ENLARGED.items():
        resize(window)
        note_losses(where, 16)

    devtools.send("Page.setFontSizes", {"fontSizes": {"standard": LETTERS, "fixed": LETTERS}})
    resize(WITH_LARGE_LETTERS, load)
    note_losses(f"360 × 740 with letters of {LETTERS} px", LETTERS)
    return found


def layout_faults(tab: Tab) -> list[str]:
    """What is lost in this window."""
    return tab.page.evaluate(LOST)


def unusable(tab: Tab) -> list[str]:
    """What not everybody can use."""
    if not tab.page.evaluate("'axe' in window"):
        tab.page.evaluate(AXE)
    return tab.page.evaluate(RUN_AXE, AXE_RULES)


def assert_usable_by_everybody(tab: Tab, what: str) -> None:
    violations = unusable(tab)
    assert not violations, f"{what} has {len(violations)} violations:\n" + "\n".join(violations)


def small_letters(tab: Tab) -> list[str]:
    """Texts that aren't as large as the browser is set to."""
    before = dict(tab.page.evaluate(SIZES))
    tab.page.evaluate("document.documentElement.style.fontSize = '24px'")
    after = dict(tab.page.evaluate(SIZES))
    tab.page.evaluate("document.documentElement.style.fontSize = ''")
    small = [text for text, size in after.items() if text in before and abs(size - 1.5 * before[text]) > 0.1]
    return small if len(before.keys() & after.keys()) > 10 else [*small, f"few texts to compare: {sorted(before)}"]


def goes_back(one: dict[str, Any], two: dict[str, Any]) -> bool:
    """Down is right, and to the right, or to the beginning of a column beside."""
    is_above = two["bottom"] <= one["top"] and two["left"] < one["right"]
    is_in_row = min(one["bottom"], two["bottom"]) - max(one["top"], two["top"]) > min(one["bottom"] - one["top"], two["bottom"] - two["top"]) / 2
    return is_above or (is_in_row and two["right"] <= one["left"])


def wrong_order(tab: Tab) -> list[str]:
    """What the tabulator doesn't reach, or not when it would be read."""
    # What is read when somebody comes to it is there before.
    tab.page.evaluate("document.scrollingElement.scrollTo(0, document.scrollingElement.scrollHeight)")
    tab.settled()
    tab.page.evaluate("document.scrollingElement.scrollTo(0, 0)")
    stops: list[dict[str, Any]] = []
    for _ in range(MOST_STOPS):
        tab.page.keyboard.press("Tab")
        place = tab.page.evaluate(PLACE)
        if place["isPage"] or any(place["id"] == stop["id"] for stop in stops):
            break
        stops.append(place)
    wrong = [f"never reached: {element}" for element in tab.page.evaluate(REACHABLE)]
    if not (stops and stops[0]["isSkip"]):
        wrong.append(f"the first stop doesn't skip to the content: {stops[:1]}")
    # The frame is before the page and, on a phone, its bar is behind it.
    is_phone = tab.page.evaluate("innerWidth < 960")
    parts = [list(part) for _, part in groupby(stops, lambda stop: stop["isMain"])]
    if [part[0]["isMain"] for part in parts] != [False, True, False][: 2 + is_phone] or (is_phone and len(parts[0]) > 1):
        wrong.append(f"the page isn't between the parts of its frame: {[[stop['is'] for stop in part] for part in parts if not part[0]['isMain']]}")
    tab.page.evaluate("document.activeElement.blur()")
    own = [stop for stop in stops if stop["isMain"]]
    return wrong + [f"goes back: {one['is']} … {two['is']}" for one, two in zip(own, own[1:]) if goes_back(one, two)]
