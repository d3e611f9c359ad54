"""Makes a picture of each page, light and dark, of a workspace that is made up: `make screenshots` runs it.

Usage: screenshots.py FOLDER [NAME …]; without names, all. Those of `CHOSEN` are the ones in docs/pictures, which the README shows:
look at them, and copy them there if they are better than those that are.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from support.api import Api
from support.chromium import flags
from support.studio import ALONE, APP, BOUNCED, CLOSED_LAST, CLOSED_OTHERS, DOMAINS, FIXED, INVITED, JOBS, JONAS, LARGE, LEAVING, MANY_TAGS, MORE, NOW, NOWHERE, OTHERS_LINK, PART, PASTED, PENDING, RECLAIMED, RUNNING, SESSION, SHORT, SPENT, STAR, SUSPENDED, TAKEN, UNTAGGED, Answer, answer_everything, target_id
from support.tab import TOKEN_FORM_HAS_NO_NAME, Tab, Tabs

CHOSEN = ["links", "link", "overview-dark", "new-link", "qr", "monitoring"]
WIDE = (1280, 800)
PHONE = (390, 844)
NARROW = (320, 640)
COLOURS = 256


@dataclass(frozen=True)
class Picture:
    name: str
    view: str
    act: Callable[[Tab], None] = lambda tab: None
    size: tuple[int, int] = WIDE
    themes: tuple[str, ...] = ("light", "dark")
    is_public: bool = False
    # What the API answers otherwise than in most pictures.
    otherwise: dict[str, Answer] = field(default_factory=dict)


def write_link(tab: Tab) -> None:
    tab.page.keyboard.press("c")
    form = tab.dialog("New link")
    form.get_by_label("Target", exact=True).fill("https://shop.fjord.example/products/harbour-lamp")
    form.get_by_label("Code").fill("harbour")
    form.get_by_label("Title").fill("Harbour lamp, second edition")
    form.get_by_text("This code is free.").wait_for()
    form.get_by_role("button", name="30 days").click()
    form.get_by_role("combobox", name="Tags").fill("newsletter")
    tab.page.keyboard.press("Enter")
    form.get_by_label("Target", exact=True).focus()


def show_qr(tab: Tab) -> None:
    tab.page.keyboard.press("q")
    picture = tab.dialog("QR code").get_by_role("img")
    picture.evaluate("(image) => image.decode()")


def select_three(tab: Tab) -> None:
    for key in ["j", "x", "j", "x", "j", "x"]:
        tab.page.keyboard.press(key)


def select_all(tab: Tab) -> None:
    for key in ["j", "x"]:
        tab.page.keyboard.press(key)
    tab.button(re.compile(r"^All \d+$")).click()


def select_matching(tab: Tab) -> None:
    select_all(tab)
    tab.button(re.compile("that match$")).click()


def ask_for_matching(tab: Tab) -> None:
    select_matching(tab)
    tab.button("Delete").click()
    tab.dialog(re.compile("^Delete")).wait_for()


def tag_matching(tab: Tab) -> None:
    select_matching(tab)
    tab.button("Tags").click()
    tab.page.get_by_role("combobox", name="Tag").fill("winter")
    tab.page.keyboard.press("Enter")


def expire_three(tab: Tab) -> None:
    select_three(tab)
    tab.button("More for the selected links").click()
    tab.page.get_by_role("menuitem", name="Set expiry").click()
    tab.button("30 days").click()


def show_more(tab: Tab) -> None:
    select_three(tab)
    tab.button("More for the selected links").click()


def write_several(tab: Tab) -> None:
    tab.page.keyboard.press("C")
    form = tab.dialog("New links")
    form.get_by_label("URLs, one a line").fill("\n".join(PASTED))
    form.get_by_role("combobox", name="Tags of all").fill("summer")
    tab.page.keyboard.press("Enter")


def mistake_several(tab: Tab) -> None:
    tab.page.keyboard.press("C")
    form = tab.dialog("New links")
    form.get_by_label("URLs, one a line").fill("\n".join([PASTED[0], "shop fjord example", PASTED[3], f"{PASTED[1]}\tsummer27", f"{PASTED[2]}\tpi"]))
    tab.button("Create 5 links").click()
    form.get_by_text("another look").wait_for()


def make_several(tab: Tab) -> None:
    write_several(tab)
    send_several(tab, 6)


def make_all(tab: Tab) -> None:
    write_several(tab)
    tab.dialog("New links").get_by_label("URLs, one a line").fill("\n".join(PASTED[:4]))
    send_several(tab, 4)


def send_several(tab: Tab, count: int) -> None:
    tab.button(f"Create {count} links").click()
    tab.page.get_by_role("region", name="Made").wait_for()


def begin_several(tab: Tab) -> None:
    tab.page.keyboard.press("C")
    tab.dialog("New links").wait_for()


def write_terms(tab: Tab) -> None:
    write_link(tab)
    form = tab.dialog("New link")
    form.get_by_text("When and for whom").click()
    form.get_by_role("button", name="On a date").click()
    form.get_by_label("How often it may be used").fill("250")
    form.get_by_label("Otherwise, visitors go to").fill("https://shop.fjord.example/waiting-list")
    form.get_by_label("Password").fill("harbour lights")
    form.get_by_text("When and for whom").evaluate("(element) => element.scrollIntoView()")


def write_preview(tab: Tab) -> None:
    write_terms(tab)
    form = tab.dialog("New link")
    form.get_by_label("Headline").fill("Harbour lamp, second edition")
    form.get_by_label("Text below it").fill("Blown by hand in Bergen. 200 pieces, numbered and signed.")
    form.get_by_label("Picture").fill("https://shop.fjord.example/pictures/harbour-lamp.jpg")
    form.locator("figcaption").scroll_into_view_if_needed()


def edit_terms(tab: Tab) -> None:
    tab.page.keyboard.press("e")
    tab.page.get_by_text("When and for whom").evaluate("(element) => element.scrollIntoView()")


def show_rules(tab: Tab) -> None:
    tab.page.keyboard.press("r")
    tab.page.get_by_role("heading", name="Variants", exact=True).wait_for()


def try_rules(tab: Tab) -> None:
    show_rules(tab)
    tab.page.get_by_text("Try them out").click()
    tab.page.get_by_label("Device", exact=True).select_option("ios")
    tab.button("Try").click()
    tab.page.get_by_text("Leads to apps").scroll_into_view_if_needed()


def show_history(tab: Tab) -> None:
    tab.page.get_by_role("heading", name="History").click()
    tab.page.get_by_role("button", name="Load more").scroll_into_view_if_needed()


def down_to_clicks(tab: Tab) -> None:
    tab.page.get_by_role("table", name="Latest clicks").scroll_into_view_if_needed()


def filter_by(*labels: str) -> Callable[[Tab], None]:
    def press_bars(tab: Tab) -> None:
        for label in labels:
            tab.button(re.compile(f"^{label},")).first.click()
            tab.settled()
        tab.page.evaluate("scrollTo(0, 0)")

    return press_bars


def down_to(heading: str) -> Callable[[Tab], None]:
    return lambda tab: tab.page.get_by_role("heading", name=heading, exact=True).evaluate("(element) => element.scrollIntoView()")


def show_map(tab: Tab) -> None:
    tab.page.get_by_role("listbox", name="Countries").wait_for()
    tab.page.get_by_role("listbox", name="Countries").scroll_into_view_if_needed()
    tab.page.get_by_role("option", name=re.compile("^Germany")).hover()


def open_downloads(tab: Tab) -> None:
    tab.button("Download").click()


def merge_tags(tab: Tab) -> None:
    tab.button("Rename journal").click()
    tab.dialog("Rename the tag journal").get_by_label("Name").fill("Press")


def delete_tag(tab: Tab) -> None:
    tab.button("Delete winter").click()


def show_jobs(tab: Tab) -> None:
    tab.page.locator(".job-wanted summary").click()
    down_to("Jobs")(tab)


def close_workspace(tab: Tab) -> None:
    tab.button("Close this workspace").click()
    form = tab.dialog("Close Fjord Studio?")
    form.get_by_label("Type fjord to go on").fill("fjord")
    form.get_by_label("Your password").fill("harbour lights")


def mistake_closing(tab: Tab) -> None:
    tab.button("Close this workspace").click()
    form = tab.dialog("Close Fjord Studio?")
    form.get_by_label("Type fjord to go on").fill("Fjord Studio")
    tab.button("Close workspace", form).click()


def sign_up(tab: Tab) -> None:
    tab.page.get_by_label("Email").fill("sofia@fjord.example")
    tab.button("Create account").click()
    tab.page.get_by_text("A mail is on its way").wait_for()


def confirm(tab: Tab) -> None:
    tab.button("Confirm this address").click()
    tab.page.get_by_label("Password of that account").wait_for()


def change_address(tab: Tab) -> None:
    tab.button("Change your address").click()
    tab.page.get_by_label("New address").fill("maya.lindqvist@northern-glass.example")
    tab.page.get_by_label("Your password").fill("harbour lights")


def close_account(tab: Tab) -> None:
    tab.button("Close my account").click()
    tab.settled()
    form = tab.dialog("Close your account?")
    form.get_by_label("Your password").fill("harbour lights")
    tab.button("Close account", form).click()


def found(tab: Tab) -> None:
    tab.page.get_by_label("Name").fill("Fjord")
    tab.button("Create").click()
    tab.page.get_by_text("Whoever runs this Linklet").wait_for()


def switch(tab: Tab) -> None:
    tab.button(re.compile("Switch workspace")).click()


def press(key: str) -> Callable[[Tab], None]:
    return lambda tab: tab.page.keyboard.press(key)


APP_LINK = f"links/{APP['short_code']}"
LINK = f"links/{STAR['short_code']}"
COMPARED = "compare?codes=winter26,lamp,menu,Qm5tY7a,gone"
TOUR = [
    Picture("sign-in", "sign-in", is_public=True),
    Picture("sign-up", "sign-up", is_public=True),
    Picture("sign-up-domains", "sign-up", is_public=True, otherwise=DOMAINS),
    Picture("sign-up-mailed", "sign-up", sign_up, is_public=True, otherwise=DOMAINS),
    Picture("sign-up-invited", "sign-up", is_public=True, otherwise=INVITED),
    Picture("forgotten", "forgot", is_public=True),
    Picture("forgotten-no-mail", "forgot", is_public=True, otherwise=INVITED),
    Picture("reset", "reset?token=rst_0", is_public=True),
    Picture("first-password", "first-password?token=vrf_0", is_public=True),
    Picture("verify", "verify?token=vrf_0", is_public=True),
    Picture("verify-signed-in", "verify?token=vrf_0"),
    Picture("verify-others", "verify?token=vrf_0", confirm, otherwise=OTHERS_LINK),
    Picture("verify-taken", "verify?token=vrf_0", lambda tab: tab.button("Confirm this address").click(), otherwise=TAKEN | PENDING),
    Picture("verify-pending", "verify?token=vrf_0", otherwise=PENDING),
    Picture("keep-address", "keep-address?token=kep_0", is_public=True),
    Picture("keep-address-kept", "keep-address?token=kep_0", lambda tab: tab.button("Keep my address").click(), is_public=True),
    Picture("keep-address-spent", "keep-address?token=kep_0", lambda tab: tab.button("Keep my address").click(), is_public=True, otherwise=SPENT),
    Picture("unsubscribe", "unsubscribe?token=uns_0", is_public=True),
    Picture("unsubscribe-phone", "unsubscribe?token=uns_0", is_public=True, size=PHONE),
    Picture("unsubscribed", "unsubscribe?token=uns_0", lambda tab: tab.button("Stop these mails").click(), is_public=True),
    Picture("unsubscribe-spent", "unsubscribe?token=uns_0", lambda tab: tab.button("Stop these mails").click(), is_public=True, otherwise=SPENT),
    Picture("invitation", "invitation?token=inv_0", is_public=True),
    Picture("links", "links"),
    Picture("links-selected", "links", select_three),
    Picture("links-archived", "links?archived=true"),
    Picture("links-phone", "links", size=PHONE),
    Picture("links-selected-phone", "links", select_three, size=PHONE),
    Picture("links-selected-narrow", "links", select_three, size=(320, 640)),
    Picture("links-selected-more", "links", show_more),
    Picture("links-selected-all", "links", select_all, otherwise=MORE),
    Picture("links-selected-all-phone", "links", select_all, size=PHONE, otherwise=MORE),
    Picture("links-matching", "links", select_matching, otherwise=MORE),
    Picture("links-matching-phone", "links", select_matching, size=PHONE, otherwise=MORE),
    Picture("links-matching-question", "links", ask_for_matching, otherwise=MORE),
    Picture("links-matching-tag", "links", tag_matching, otherwise=MORE),
    Picture("links-expiry", "links", expire_three),
    Picture("new-links", "links", begin_several),
    Picture("new-links-written", "links", write_several),
    Picture("new-links-written-phone", "links", write_several, size=PHONE),
    Picture("new-links-mistakes", "links", mistake_several),
    Picture("new-links-mistakes-phone", "links", mistake_several, size=PHONE),
    Picture("new-links-made", "links", make_all),
    Picture("new-links-partly", "links", make_several),
    Picture("new-links-partly-phone", "links", make_several, size=PHONE),
    Picture("new-link", "links", write_link),
    Picture("new-link-phone", "links", write_link, size=PHONE),
    Picture("link", LINK),
    Picture("link-table", f"{LINK}?table=1"),
    Picture("link-clicks", LINK, down_to_clicks),
    Picture("link-clicks-phone", LINK, down_to_clicks, size=PHONE),
    Picture("link-phone", LINK, size=PHONE),
    Picture("link-all", f"{LINK}?audience=human&audience=bot&audience=prefetch&range=12m"),
    Picture("link-filtered", LINK, filter_by("Country: Norway", "Country: Sweden", "Source: Campaign")),
    Picture("link-filtered-phone", LINK, filter_by("Country: Norway", "Source: Campaign"), size=PHONE),
    Picture("link-part", f"{LINK}?country=NO&range=12m", otherwise=PART),
    Picture("link-panels", LINK, down_to("Referrers")),
    Picture("link-panels-phone", LINK, down_to("Referrers"), size=PHONE),
    Picture("link-map", f"{LINK}?map=1", show_map),
    Picture("link-map-phone", f"{LINK}?map=1", show_map, size=PHONE),
    Picture("link-week", LINK, down_to("Days and hours")),
    Picture("link-week-phone", LINK, down_to("Days and hours"), size=PHONE),
    Picture("link-download", LINK, open_downloads),
    Picture("link-download-phone", LINK, open_downloads, size=PHONE),
    Picture("compare", COMPARED),
    Picture("compare-table", f"{COMPARED}&table=1"),
    Picture("compare-phone", COMPARED, size=PHONE),
    Picture("compare-none", "compare"),
    Picture("qr", LINK, show_qr),
    Picture("new-link-terms", "links", write_terms),
    Picture("new-link-terms-phone", "links", write_terms, size=PHONE),
    Picture("new-link-preview", "links", write_preview),
    Picture("edit-link-terms", APP_LINK, edit_terms),
    Picture("edit-link-terms-fixed", APP_LINK, edit_terms, otherwise=FIXED),
    Picture("link-terms", APP_LINK),
    Picture("link-terms-phone", APP_LINK, size=PHONE),
    Picture("link-history", APP_LINK, show_history),
    Picture("link-history-phone", APP_LINK, show_history, size=PHONE),
    Picture("destination", APP_LINK, press("d")),
    Picture("rules", APP_LINK, show_rules),
    Picture("rules-phone", APP_LINK, show_rules, size=PHONE),
    Picture("rules-tried", APP_LINK, try_rules),
    Picture("rules-fixed", APP_LINK, show_rules, otherwise=FIXED),
    Picture("overview", "overview"),
    Picture("overview-phone", "overview", size=PHONE),
    Picture("overview-panels", "overview", down_to("Visitors")),
    Picture("overview-panels-phone", "overview", down_to("Visitors"), size=PHONE),
    Picture("overview-large", "overview?range=12m&audience=human&audience=bot&audience=prefetch", down_to("Clicks over time"), otherwise=LARGE),
    Picture("tag", "tags/newsletter"),
    Picture("tag-phone", "tags/newsletter", size=PHONE),
    Picture("tag-panels", "tags/caf%C3%A9?range=7d&map=1", down_to("Visitors")),
    Picture("tags", "tags"),
    Picture("tags-phone", "tags", size=PHONE),
    Picture("tags-running", "tags", otherwise=RUNNING),
    Picture("tags-running-phone", "tags", size=PHONE, otherwise=RUNNING),
    Picture("tags-many", "tags?sort=name", otherwise=MANY_TAGS),
    Picture("tags-merge", "tags", merge_tags),
    Picture("tags-merge-phone", "tags", merge_tags, size=PHONE),
    Picture("tags-delete", "tags", delete_tag),
    Picture("tags-none", "tags", otherwise=UNTAGGED),
    Picture("tag-unknown", "tags/no%2Fsuch"),
    Picture("monitoring", "monitoring"),
    Picture("target", f"monitoring/{target_id(3)}"),
    Picture("notifications", "notifications"),
    Picture("notifications-phone", "notifications", size=PHONE),
    Picture("members", "members"),
    Picture("members-paused", "members", otherwise=RECLAIMED),
    Picture("members-paused-phone", "members", size=PHONE, otherwise=RECLAIMED),
    Picture("keys", "keys"),
    Picture("keys-paused", "keys", otherwise=RECLAIMED),
    Picture("keys-paused-phone", "keys", size=PHONE, otherwise=RECLAIMED),
    Picture("links-suspended", "links", otherwise=SUSPENDED),
    Picture("links-suspended-phone", "links", size=PHONE, otherwise=SUSPENDED),
    Picture("link-suspended", LINK, otherwise=SUSPENDED),
    Picture("link-suspended-phone", LINK, size=PHONE, otherwise=SUSPENDED),
    Picture("activity", "activity"),
    Picture("activity-phone", "activity", size=PHONE),
    Picture("activity-narrow", "activity", size=(320, 640)),
    Picture("activity-filtered", f"activity?what=key&who={JONAS}&from=2026-08-01"),
    Picture("activity-filtered-phone", f"activity?what=key&who={JONAS}&from=2026-08-01", size=PHONE),
    Picture("activity-who", "activity", lambda tab: tab.button("Who").click()),
    Picture("workspaces-closed", "links", switch, otherwise=CLOSED_OTHERS),
    Picture("workspace-closed", "w/harbour/links", otherwise=CLOSED_OTHERS),
    Picture("workspaces-paused", "links", switch, otherwise=RECLAIMED),
    Picture("no-workspace", "links", otherwise=NOWHERE),
    Picture("no-workspace-refused", "links", found, otherwise=NOWHERE),
    Picture("no-workspace-phone", "links", size=PHONE, otherwise=NOWHERE),
    Picture("workspace-closed-last", "links", otherwise=CLOSED_LAST),
    Picture("account-workspace-closed", "account", otherwise=CLOSED_LAST),
    Picture("workspace-closed-last-phone", "links", size=PHONE, otherwise=CLOSED_LAST),
    Picture("settings", "settings"),
    Picture("settings-closed", "settings", down_to("Your workspaces"), otherwise=CLOSED_OTHERS),
    Picture("close-workspace", "settings", close_workspace),
    Picture("close-workspace-phone", "settings", close_workspace, size=PHONE),
    Picture("close-workspace-mistake", "settings", mistake_closing),
    Picture("settings-jobs", f"settings?job={JOBS[1]['id']}", show_jobs, otherwise=RUNNING),
    Picture("settings-jobs-phone", f"settings?job={JOBS[1]['id']}", show_jobs, size=PHONE, otherwise=RUNNING),
    Picture("account", "account"),
    Picture("account-phone", "account", size=PHONE),
    Picture("account-name", "account", lambda tab: tab.button("Change your name").click()),
    Picture("account-address", "account", change_address),
    Picture("account-address-phone", "account", change_address, size=PHONE),
    Picture("account-pending", "account", otherwise=PENDING),
    Picture("account-pending-narrow", "account", size=NARROW, otherwise=PENDING),
    Picture("account-bounced", "account", otherwise=BOUNCED),
    Picture("account-mail", "account?view=mail"),
    Picture("account-mail-phone", "account?view=mail", size=PHONE),
    Picture("account-mail-bounced", "account?view=mail", otherwise=BOUNCED),
    Picture("account-sessions", "account?view=sessions"),
    Picture("account-sessions-phone", "account?view=sessions", size=PHONE),
    Picture("account-sessions-narrow", "account?view=sessions", size=NARROW),
    Picture("account-activity", "account?view=activity"),
    Picture("account-activity-phone", "account?view=activity", size=PHONE),
    Picture("account-data", "account?view=data"),
    Picture("account-data-phone", "account?view=data", size=PHONE),
    Picture("close-account", "account?view=data", close_account, otherwise=LEAVING),
    Picture("close-account-alone", "account?view=data", close_account, otherwise=ALONE),
    Picture("close-account-phone", "account?view=data", close_account, size=PHONE, otherwise=ALONE),
    Picture("shortcuts", "links", press("?")),
    Picture("palette", "links", press("Control+k")),
    Picture("palette-phone", "links", press("Control+k"), size=PHONE),
    Picture("nowhere", "no-such-page"),
]


def take(browser: Browser, api: Api, picture: Picture, theme: str, folder: Path) -> None:
    tabs = Tabs(browser, Api(SHORT))
    width, height = picture.size
    context = tabs.context(width=width, height=height, color_scheme=theme, reduced_motion="reduce")
    if not picture.is_public:
        context.add_init_script(tabs.entering(SESSION))
    tab = Tab(context, tabs.api, refused=[403, 404, 409])
    tab.expects(TOKEN_FORM_HAS_NO_NAME)
    tab.page.clock.set_fixed_time(NOW)
    answer_everything(tab.page, api.url, picture.otherwise)
    tab.open(picture.view)
    # Room for a bar to scroll with, which pictures don't have.
    tab.page.evaluate("document.documentElement.style.scrollbarGutter = 'auto'")
    tab.settled()
    picture.act(tab)
    tab.settled()
    tab.assert_nothing_noticed()
    write(tab.page, folder / f"{picture.name}{'-dark' if theme == 'dark' else ''}.png")
    context.close()


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
    api = Api(os.environ["API_URL"])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=flags(api.host))
        for picture in TOUR:
            for theme in picture.themes:
                if not wanted or picture.name in wanted:
                    take(browser, api, picture, theme, folder)
        browser.close()
    assert {name.removesuffix("-dark") for name in CHOSEN} <= {picture.name for picture in TOUR}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
