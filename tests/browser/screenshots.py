"""Makes a picture of each page, light, dark and on a phone, and of what lies over it, of a workspace that `make seed` and the tests'
sample data fill: `make screenshots` runs it.

Usage: screenshots.py FOLDER [NAME …]; without names, all. Those of `CHOSEN` are the ones in docs/pictures, which the README shows:
look at them, and copy them there if they are better than those that are.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, Route, sync_playwright

from support.api import Account, Api
from support.sample_data import fill
from support.overlays import OVERLAYS, open_overlay
from support.states import public_answers
from support.tab import WIDE, Tab, Tabs, flags
from test_every_page import PUBLIC, RARE, VIEWS

CHOSEN = ["links", "link", "overview-dark", "new-link", "qr", "monitoring"]
# Where the system seems to be.
SHORT = "https://go.example.com"
PHONE = (390, 844)
COLOURS = 256


@dataclass(frozen=True)
class Picture:
    name: str
    view: str
    act: Callable[[Tab], object] = Tab.settled
    answers: Mapping[str, Any] = field(default_factory=dict)
    is_public: bool = False
    is_page: bool = True


def write_link(tab: Tab) -> None:
    tab.page.keyboard.press("c")
    form = tab.dialog("New link")
    form.get_by_label("Destination", exact=True).fill("https://shop.example.com/products/harbour-lamp-two")
    form.get_by_label("Custom code").fill("harbour")
    form.get_by_label(re.compile("^Title")).fill("Harbour lamp, second edition")
    form.get_by_text("Available.").wait_for()
    form.get_by_role("button", name="30 days").click()
    form.get_by_role("combobox", name="Tags").fill("newsletter")
    tab.page.keyboard.press("Enter")
    form.get_by_label("Destination", exact=True).focus()


def show_qr(tab: Tab) -> None:
    tab.page.keyboard.press("q")
    tab.dialog("QR code").get_by_role("img").evaluate("(image) => image.decode()")


def named(text: str) -> str:
    """A file's name: `link-country-no` of `links/{code}?country=NO`."""
    return re.sub(r"\W+", "-", text.replace("links/{code}", "link").replace("monitoring/{target}", "target")).strip("-").lower()


TOUR = [
    Picture("links", "links?sort=clicks"),
    Picture("new-link", "links?sort=clicks", write_link),
    Picture("qr", "links/{code}", show_qr),
    *(Picture(named(view), view) for view in VIEWS if view != "links"),
    *(Picture(named(view), view, answers=public_answers(view), is_public=True) for view in PUBLIC),
    *(Picture(f"rare-{named(view)}", view, answers=answers, is_page=False) for view, (answers, *_) in RARE.items()),
    *(Picture(f"opened-{named(what)}", each.view, partial(open_overlay, overlay=each), is_page=False) for what, each in OVERLAYS.items()),
]


def take(browser: Browser, account: Account, picture: Picture, file: Path, size: tuple[int, int] = WIDE, theme: str = "light") -> None:
    tabs = Tabs(browser, Api(SHORT))
    context = tabs.context(width=size[0], height=size[1], color_scheme=theme, reduced_motion="reduce")
    if not picture.is_public:
        context.add_init_script(tabs.entering(account.kept))
    tab = Tab(context, tabs.api, refused=[404])
    tab.page.route(f"{SHORT}/**", partial(answer, account.api))
    for pattern, body in picture.answers.items():
        tab.answers(pattern, body)
    clicked = account.call("GET", "/api/links?sort=clicks")["links"][0]["short_code"]
    tab.open(picture.view.format(code=clicked, target=account.call("GET", "/v1/targets")["items"][0]["id"]))
    # Room for a bar to scroll with, which pictures don't have.
    tab.page.evaluate("document.documentElement.style.scrollbarGutter = 'auto'")
    tab.settled()
    picture.act(tab)
    tab.settled()
    tab.assert_nothing_noticed()
    write(tab.page, file)
    tab.page.unroute_all(behavior="ignoreErrors")
    context.close()


def answer(api: Api, route: Route) -> None:
    """What the system answers, with `SHORT` as its address."""
    answered = route.fetch(url=api.url + route.request.url.removeprefix(SHORT))
    route.fulfill(response=answered, body=answered.body().replace(api.url.encode(), SHORT.encode()))


def write(page: Page, file: Path) -> None:
    """With the colours that it has most of, so that the file is small."""
    image = Image.open(BytesIO(page.screenshot())).convert("RGB")
    colours = sorted(image.getcolors(image.width * image.height), reverse=True)[:COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in colours for part in colour])
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name:28} {file.stat().st_size / 1000:6.1f} KB")


def main(folder: Path, wanted: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    account = fill(Api(os.environ["API_URL"]).log_in(os.environ["SEEDED"]))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=flags(account.api.host))
        for picture in TOUR:
            if not wanted or picture.name in wanted:
                take(browser, account, picture, folder / f"{picture.name}.png")
                take(browser, account, picture, folder / f"{picture.name}-dark.png", theme="dark")
                if picture.is_page:
                    take(browser, account, picture, folder / f"{picture.name}-phone.png", PHONE)
        browser.close()
    assert {name.removesuffix("-dark") for name in CHOSEN} <= {picture.name for picture in TOUR}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
