"""Whether what a tab shows has room: with a large font, or enlarged, nothing may be lost."""

from pathlib import Path

from .tab import Tab

LOST = Path(__file__).with_suffix(".js").read_text()


def layout_faults(tab: Tab) -> list[str]:
    """What is lost in this window."""
    return tab.page.evaluate(LOST)
