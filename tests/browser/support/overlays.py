"""What lies over a page when somebody opens it: dialogs, drawers and menus."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from playwright.sync_api import expect

from .tab import Tab
from .tree import tree_of, wrong_names


@dataclass(frozen=True)
class Overlay:
    view: str
    open: Callable[[Tab], object]
    role: str
    name: str | re.Pattern[str]
    # Whether the page behind it stays in use.
    is_popover: bool = False


def press(*keys: str) -> Callable[[Tab], object]:
    return lambda tab: tab.keys(*keys)


def click(name: str | re.Pattern[str]) -> Callable[[Tab], object]:
    """On the one that can be seen: narrow windows have other menus than wide ones."""
    return lambda tab: tab.button(name).locator("visible=true").first.click()


def act_on_selected(action: str) -> Callable[[Tab], object]:
    def act(tab: Tab) -> None:
        show_more_for_selected(tab)
        target = tab.page.get_by_role("menuitem", name=action, exact=True)
        if not target.is_visible():
            # Where there is room, it is a button.
            tab.page.keyboard.press("Escape")
            target = tab.button(action, tab.page.get_by_role("region", name="Selected links"))
        target.click()

    return act


def show_more_for_selected(tab: Tab) -> None:
    if not tab.page.get_by_role("region", name="Selected links").is_visible():
        press("j", "x")(tab)
    tab.button("More for the selected links").click()


def expire_selected(tab: Tab) -> None:
    show_more_for_selected(tab)
    tab.page.get_by_role("menuitem", name="Set expiration").click()


def find(tab: Tab, text: str = "sale", found: str = "Spring sale") -> None:
    tab.keys("Control+k")
    tab.page.get_by_role("combobox", name="Find anything").fill(text)
    expect(tab.dialog("Find anything").get_by_text(found).last).to_be_visible()


def choose_days(tab: Tab) -> None:
    tab.button(DATES).click()
    tab.page.get_by_role("menuitemradio", name="Custom range").click()


def merge_tags(tab: Tab) -> None:
    tab.button("Rename sale").click()
    tab.dialog("Rename the tag sale").get_by_label("Name").fill("News")


def show_terms(tab: Tab) -> None:
    tab.page.keyboard.press("c")
    form = tab.dialog("New link")
    form.locator("summary", has_text="Access and limits").click()


def show_rules(tab: Tab) -> None:
    tab.page.keyboard.press("r")
    drawer = tab.dialog(re.compile("^Edit "))
    drawer.locator("summary", has_text="Test the rules").click()


# What shows the dates of a range, whose clicks there are, and what they are counted by.
DATES = re.compile("^Days: ")
WHOSE = re.compile("^Clicks by: ")
GROUPED = re.compile("^Group by: ")
# The link that skips to the content lies over it while it has the focus, so it is opened with a key. A phone has no such menu.
SWITCHER = re.compile("Switch workspace|^More$")
OVERLAYS = {
    "a new link": Overlay("links", press("c"), "dialog", "New link"),
    "several new links": Overlay("links", press("C"), "dialog", "Bulk create"),
    "when and for whom a link works": Overlay("links", show_terms, "dialog", "New link"),
    "rules and variants": Overlay("links/{code}", show_rules, "dialog", re.compile("^Edit ")),
    "another destination": Overlay("links/{code}", click("Change destination"), "dialog", re.compile("^Edit ")),
    "a link that is changed": Overlay("links/{code}", press("e"), "dialog", re.compile("^Edit ")),
    "a QR code": Overlay("links/{code}", press("q"), "dialog", "QR code"),
    "a click": Overlay("links/{code}", lambda tab: tab.page.locator(".click-opener").first.click(), "dialog", "Click"),
    "named times": Overlay("links/{code}", click(DATES), "menu", DATES),
    "days of an overview": Overlay("overview", choose_days, "dialog", "Custom range", is_popover=True),
    "tags": Overlay("overview", click(re.compile("^Links: ")), "menu", re.compile("^Links: ")),
    "a tag that is renamed": Overlay("tags", click("Rename sale"), "dialog", "Rename the tag sale"),
    "tags that are merged": Overlay("tags", merge_tags, "dialog", "Rename the tag sale"),
    "a tag that is deleted": Overlay("tags", click("Delete sale"), "dialog", "Delete the tag “sale”?"),
    "the order of tags": Overlay("tags", click(re.compile("^Sort by")), "menu", re.compile("^Sort by")),
    "what can be downloaded": Overlay("links/{code}", click("Download"), "menu", "Download"),
    "dates": Overlay("links", click("Created"), "dialog", "Created between", is_popover=True),
    "a question": Overlay("links?tag=spring", act_on_selected("Delete"), "dialog", "Delete 1 link?"),
    "what else can be done to a selection": Overlay("links?tag=spring", show_more_for_selected, "menu", "More for the selected links"),
    "the expiry of a selection": Overlay("links?tag=spring", expire_selected, "dialog", "Expiration of 1 link"),
    "the QR codes of a selection": Overlay("links?tag=spring", act_on_selected("QR codes"), "dialog", "QR codes of 1 link"),
    "the list of keys": Overlay("links", press("?"), "dialog", "Keyboard shortcuts"),
    "the palette": Overlay("links", press("Control+k"), "dialog", "Find anything"),
    "what the palette finds": Overlay("overview", find, "dialog", "Find anything"),
    "a palette that finds nothing": Overlay("overview", partial(find, text="nothing has this name", found="No results"), "dialog", "Find anything"),
    "a new key": Overlay("keys", press("c"), "dialog", re.compile("key")),
    "a key that is renamed": Overlay("keys", click("Rename Nightly export"), "dialog", re.compile("Nightly export|Rename")),
    "an account that is closed": Overlay("account?view=data", click("Close my account"), "dialog", "Close your account?"),
    "closing the workspace": Overlay("settings", click("Close this workspace"), "dialog", re.compile("^Close .+")),
    "a new UTM template": Overlay("settings", click("New template"), "dialog", "New template"),
    "an import": Overlay("settings", click("Import links"), "dialog", "Import links"),
    "whose activity": Overlay("activity", click("Person"), "menu", "Person"),
    "of what kind activity is": Overlay("activity", click("Action"), "menu", "Action"),
    "days of activity": Overlay("activity", click("Date"), "dialog", "Date range", is_popover=True),
    "a new workspace": Overlay("settings", click("New workspace"), "dialog", "New workspace"),
    "a row's menu": Overlay("links?tag=spring", click(re.compile("^More for ")), "menu", re.compile("^More for ")),
    "a link's menu": Overlay("links/{code}", lambda tab: tab.page.get_by_role("main").get_by_role("button", name="More").click(), "menu", "More"),
    "the order": Overlay("links", click(re.compile("^Sort by")), "menu", re.compile("^Sort by")),
    "the workspaces": Overlay("links", lambda tab: tab.button(SWITCHER).locator("visible=true").press("Enter"), "menu", SWITCHER),
    "the account's menu": Overlay("links", click(re.compile("@example.com|^More$")), "menu", re.compile("@example.com|^More$")),
}


def open_overlay(tab: Tab, overlay: Overlay) -> None:
    """Opens it and waits until it is there."""
    tab.settled()
    # Something has the focus, to which it comes back.
    tab.page.keyboard.press("Tab")
    overlay.open(tab)
    expect(tab.page.get_by_role(overlay.role, name=overlay.name).first).to_be_visible()


def reopen(tab: Tab, overlay: Overlay) -> None:
    """A menu has its place by the window in which it was opened."""
    if overlay.role == "menu":
        tab.page.locator("body").dispatch_event("pointerdown")
        overlay.open(tab)
        expect(tab.page.get_by_role("menu", name=overlay.name)).to_be_visible()


def wrong_overlay(tab: Tab, overlay: Overlay) -> list[str]:
    """What a screen reader gets wrong of it."""
    tree = tree_of(tab)
    wrong = wrong_names(tree)
    opened, *more = tree.find(overlay.role)
    # Nothing else can be read behind a dialog.
    if more or (overlay.role == "dialog" and not overlay.is_popover and (tree.find("main", "navigation", "banner", "contentinfo") or not opened.states.get("modal"))):
        wrong.append(f"more than {opened} can be read: {', '.join(map(str, tree.all()))}")
    if not tab.page.evaluate(f"document.activeElement.closest('[role={overlay.role}], {overlay.role}') !== null"):
        wrong.append(f"the focus is at {tab.page.evaluate('document.activeElement.outerHTML.slice(0, 200)')}")
    if overlay.is_popover:
        return wrong
    if overlay.role == "menu":
        titles = [node.name for node in tree.find("button") if node.states.get("expanded") and node.states.get("hasPopup") == "menu"]
    else:
        titles = [node.name for node in opened.find("heading") if node.states.get("level") == 2]
        # What happens is said within.
        wrong += [] if any(node.states.get("live") == "polite" for node in opened.find("status")) else ["nothing waits to say what happens"]
    return wrong if titles == [opened.name] else [*wrong, f"{opened} is the {overlay.role} of {titles}"]


def assert_left(tab: Tab, overlay: Overlay) -> None:
    """Escape leads back to where one was."""
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role(overlay.role, name=overlay.name)).to_have_count(0)
    assert tab.page.evaluate("document.activeElement !== document.body"), "the focus is lost"
