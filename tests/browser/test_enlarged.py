"""Nothing is lost at 200 % zoom, nor with a browser's letters of 24 px on a phone: nothing is cut, covered, out of reach, or needs
scrolling to the side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import expect

from support.api import Account
from support.furniture import sale_of
from support.openings import OPENINGS, open_one
from support.room import lost
from support.states import public_answers
from support.tab import TOKEN_FORM_HAS_NO_NAME, Tab, Tabs
from test_every_page import PUBLIC, VIEWS


@dataclass(frozen=True)
class Window:
    """What a page has of it, in its own pixels."""

    width: int
    height: int
    letters: int = 16
    more: dict[str, Any] = field(default_factory=dict)


WINDOWS = {
    "1280 × 1024 at 200 %": Window(640, 512, more={"device_scale_factor": 2}),
    "720 × 1280 at 200 %": Window(360, 640, more={"device_scale_factor": 2, "has_touch": True}),
    "360 × 740 with letters of 24 px": Window(360, 740, letters=24, more={"has_touch": True}),
}
Enlarged = Callable[[Account | None, str], Tab]


@pytest.fixture(params=WINDOWS)
def enlarged(request: pytest.FixtureRequest, tabs: Tabs) -> Enlarged:
    window = WINDOWS[request.param]

    def open_view(account: Account | None, view: str) -> Tab:
        context = tabs.context(width=window.width, height=window.height, **window.more)
        tab = tabs.keep(Tab(context, tabs.api, refused=[404] if "nowhere" in view else []))
        tab.expects(TOKEN_FORM_HAS_NO_NAME)
        if account:
            tab.page.add_init_script(tabs.entering(account.kept))
        for pattern, body in public_answers(view).items():
            tab.answers(pattern, body)
        tab.open(view)
        if window.letters != 16:
            # As somebody has set it in their browser. A page that is open already has its letters.
            context.new_cdp_session(tab.page).send("Page.setFontSizes", {"fontSizes": {"standard": window.letters, "fixed": window.letters}})
            tab.page.reload()
        tab.settled()
        expect(tab.page.locator("html")).to_have_css("font-size", f"{window.letters}px")
        return tab

    return open_view


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_loses_nothing(enlarged: Enlarged, furnished: Account, target: str, view: str) -> None:
    tab = enlarged(furnished, view.format(code=sale_of(furnished), target=target))
    expect(tab.heading(VIEWS[view])).to_be_attached()
    assert lost(tab) == []


@pytest.mark.parametrize("view", PUBLIC)
def test_a_way_in_loses_nothing(enlarged: Enlarged, view: str) -> None:
    tab = enlarged(None, view)
    expect(tab.heading(PUBLIC[view])).to_be_visible()
    assert lost(tab) == []


@pytest.mark.parametrize("what", OPENINGS)
def test_what_lies_over_a_page_loses_nothing(enlarged: Enlarged, furnished: Account, what: str) -> None:
    opening = OPENINGS[what]
    tab = enlarged(furnished, opening.view.format(code=sale_of(furnished)))
    open_one(tab, opening)
    assert lost(tab) == []
    if opening.role == "dialog":
        assert tab.page.get_by_role("dialog").last.evaluate("(one) => one.getBoundingClientRect().left >= 0 && one.getBoundingClientRect().right <= innerWidth")


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


@pytest.mark.parametrize("script", LOSSES)
def test_what_is_lost_is_noticed(tabs: Tabs, script: str) -> None:
    tab = tabs.open(None, "sign-in", width=360)
    tab.settled()
    assert lost(tab) == []
    tab.page.evaluate(f"() => {{ {script} }}")
    assert any(LOSSES[script] in each for each in lost(tab)), lost(tab)
