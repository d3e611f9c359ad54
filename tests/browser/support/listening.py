"""What a screen reader says by itself while a tab is used: texts that come into live regions.

A region that is new together with its text isn't read, unless it is an alert; nor is one that can't be seen, or that lies beside an
open dialog."""

import re
from pathlib import Path

from .tab import Tab


def listen(tab: Tab) -> Tab:
    """From the next loading of the page on."""
    tab.page.add_init_script(path=Path(__file__).with_suffix(".js"))
    tab.reload()
    tab.settled()
    forget(tab)
    return tab


def forget(tab: Tab) -> None:
    tab.page.evaluate("window.heard.length = 0")


def hears(tab: Tab, text: str | re.Pattern[str]) -> None:
    """Waits until this is said, and forgets what was said so far."""
    wanted = text if isinstance(text, re.Pattern) else re.compile(re.escape(text))
    try:
        tab.page.wait_for_function("([source]) => window.heard.some((text) => new RegExp(source).test(text))", arg=[wanted.pattern], timeout=5_000)
    except Exception:
        raise AssertionError(f"Nobody says “{wanted.pattern}”, but {tab.page.evaluate('window.heard')}.") from None
    forget(tab)
