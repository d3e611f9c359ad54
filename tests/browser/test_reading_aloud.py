"""What a screen reader gets: names, roles and states in Chromium's accessibility tree, what it says by itself, and the order of the
tabulator. What axe finds, such as contrast, is in test_every_page.py."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import pytest
from playwright.sync_api import expect

from support.api import Account
from support.furniture import aged, sale_of
from support.hand import Keyboard
from support.listening import forget, hears, listen
from support.openings import OPENINGS, open_one
from support.states import DOMAINS, REGISTRATION, public_answers
from support.tab import TOKEN_FORM_HAS_NO_NAME, Tabs
from support.tree import Node, tree_of
from test_every_page import PUBLIC, VIEWS
from test_trouble import end_session

CONTROLS = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "menuitem", "menuitemradio", "option", "switch", "slider", "spinbutton", "ColorWell", "Date", "DisclosureTriangle"}
IMAGES = {"image", "img", "Canvas", "graphics-document", "SvgRoot"}
# What one hears before what is in it, if it has a name.
GROUPS = {"Date", "region", "search", "navigation", "dialog", "group", "form", "figure", "table", "list", "listbox", "menu", "main"}
# Each of them does the same, wherever it stands.
SAME_EFFECT = re.compile("^Only links with the tag ")


def group_of(node: Node) -> Node | None:
    """A row of a table is named by its first cell, but one of a list isn't."""
    group = node.parent
    while group and not (group.role == "row" or (group.role in GROUPS and group.name)):
        group = group.parent
    return group


def wrong_names(tree: Node) -> list[str]:
    wrong = []
    effects: dict[tuple[int, str, str], list[Any]] = defaultdict(list)
    for node in tree.all():
        if node.role in CONTROLS | IMAGES | {"table", "dialog", "menu", "heading", "columnheader", "region", "listbox"} and not node.name:
            wrong.append(f"a {node.role} in {node.parent} has no name")
        if node.role in CONTROLS and not SAME_EFFECT.match(node.name):
            # A description says what it is about, too.
            effects[id(group_of(node)), node.role, f"{node.name} {node.description}".strip()].append(node.states.get("url", node.element))
    wrong += [f"{role} “{name}” does {len(set(does))} things" for (_, role, name), does in effects.items() if len(set(does)) > 1]
    wrong += [f"{table} has no headers" for table in tree.find("table") if not table.find("columnheader")]
    wrong += [f"{list_} has nothing but {child}" for list_ in tree.find("listbox") for child in list_.children if child.role not in ("option", "group")]
    return wrong


def wrong_page(tree: Node, is_framed: bool) -> list[str]:
    wrong = wrong_names(tree)
    headings = [node for node in tree.find("heading") if node.states.get("level") == 1]
    if len(headings) != 1:
        wrong.append(f"{len(headings)} headings of the page: {[str(node) for node in headings]}")
    for role, count in {"main": 1, "navigation": int(is_framed), "banner": int(is_framed)}.items():
        if len(tree.find(role)) != count:
            wrong.append(f"{len(tree.find(role))} {role}")
    if not (main := tree.find("main")) or headings and headings[0].around("main") is not main[0]:
        wrong.append("the heading isn't in what is the page's own")
    # What happens is said here, so it has to be there before.
    regions = [node for node in tree.find("status") if node.states.get("live") == "polite" and not node.text()]
    if not regions:
        wrong.append("nothing waits to say what happens")
    return wrong


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_is_read_as_what_it_is(tabs: Tabs, furnished: Account, target: str, view: str) -> None:
    shown = view.format(code=sale_of(furnished), target=target)
    tab = tabs.open(furnished, shown, refused=[404] if "nowhere" in view else [])
    expect(tab.heading(VIEWS[view])).to_be_attached()
    tab.settled()
    tree = tree_of(tab)
    assert wrong_page(tree, is_framed=True) == []
    assert tree.name.endswith("· Linklet")
    assert tree.find("link")[0].name == "Skip to the content"
    # Where one is, is said.
    current = tab.page.get_by_role("navigation").locator("[aria-current=page]").locator("visible=true")
    page = view.split("?")[0].split("/")[0]
    if page in ("account", "no-such-page"):
        return expect(current).to_have_count(0)
    expect(current).to_have_count(1)
    expect(current).to_have_attribute("href", re.compile({"compare": "links"}.get(page, page)))


@pytest.mark.parametrize("view", PUBLIC)
def test_a_way_in_is_read_as_what_it_is(tabs: Tabs, view: str) -> None:
    tab = tabs.open(None, view, answers=public_answers(view))
    tab.expects(TOKEN_FORM_HAS_NO_NAME)
    expect(tab.heading(PUBLIC[view])).to_be_visible()
    tab.settled()
    assert wrong_page(tree_of(tab), is_framed=False) == []


@pytest.mark.parametrize("what", OPENINGS)
def test_what_lies_over_a_page_is_read_as_what_it_is(tabs: Tabs, furnished: Account, what: str) -> None:
    opening = OPENINGS[what]
    tab = tabs.open(furnished, opening.view.format(code=sale_of(furnished)))
    tab.settled()
    # Something has the focus, to which it comes back.
    tab.page.keyboard.press("Tab")
    open_one(tab, opening)
    tree = tree_of(tab)
    assert wrong_names(tree) == []
    (opened,) = tree.find(opening.role)
    assert opened.name
    focused = tab.page.evaluate(f"document.activeElement.closest('[role={opening.role}], {opening.role}') !== null")
    assert focused, f"the focus is at {tab.page.evaluate('document.activeElement.outerHTML.slice(0, 200)')}"
    if opening.role == "dialog":
        assert opened.states.get("modal")
        # Nothing else can be read, and what happens is said within.
        assert not tree.find("main", "navigation", "banner", "contentinfo")
        assert [node.name for node in opened.find("heading") if node.states.get("level") == 2] == [opened.name]
        assert any(node.states.get("live") == "polite" for node in opened.find("status"))
    else:
        (opener,) = [node for node in tree.find("button") if node.states.get("expanded") and node.states.get("hasPopup") == "menu"]
        assert opener.name == opened.name
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role(opening.role, name=opening.name)).to_have_count(0)
    assert tab.page.evaluate("document.activeElement !== document.body"), "the focus is lost"


def test_a_session_that_is_over_is_read_as_a_question(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "members")
    tab.settled()
    end_session(tab)
    tab.page.get_by_role("link", name="Overview").click()
    expect(tab.dialog("Your session is over")).to_be_visible()
    tree = tree_of(tab)
    assert wrong_names(tree) == []
    (opened,) = tree.find("dialog")
    assert opened.states.get("modal") and opened.text().startswith("Your session is over")
    assert [node.name for node in opened.find("textbox")] == ["Email", "Password"]


# -- what is said by itself


def test_what_happens_to_links_is_said(tabs: Tabs, account: Account) -> None:
    account.shorten("https://shop.example.com/winter", title="Winter sale", tags=["sale"])
    account.shorten("https://example.com/terms", title="Terms")
    account.wait_for("/api/links", lambda answer: len(answer["links"]) == 2)
    tab = listen(tabs.open(account, "links"))
    use = Keyboard(tab)
    use.write(tab.page.get_by_label("Paste a long URL"), "https://example.com/new")
    tab.page.keyboard.press("Enter")
    hears(tab, "Link created. Copied.")
    expect(tab.page.get_by_role("list", name="Links").get_by_role("listitem")).to_have_count(3)

    search = tab.page.get_by_label("Search links")
    use.write(search, "sale")
    hears(tab, re.compile("^1 link$"))
    use.write(search, "nothing has this name")
    hears(tab, re.compile("^0 links$"))
    use.press(tab.button("Show all links"))
    hears(tab, re.compile("^3 links$"))

    row = tab.page.get_by_role("list", name="Links").get_by_role("listitem").filter(has_text="Terms")
    use.press(row.get_by_role("checkbox"))
    hears(tab, re.compile("^1 link selected$"))
    use.press(tab.button("Select none"))
    hears(tab, re.compile("^3 links$"))
    use.press(row.get_by_role("button", name=re.compile(r"^Copy \w+$")))
    hears(tab, "Copied.")
    use.pick(row.get_by_role("button", name=re.compile("^More for ")), "Switch off")
    hears(tab, "Switched off: visitors see that it is.")


def test_what_happens_in_a_dialog_is_said(tabs: Tabs, furnished: Account) -> None:
    tab = listen(tabs.open(furnished, f"links/{sale_of(furnished)}"))
    tab.page.keyboard.press("q")
    qr = tab.dialog("QR code")
    expect(qr).to_be_visible()
    tab.settled()
    tab.button("Copy picture", qr).click()
    hears(tab, "Picture copied.")
    # It lies over the dialog, and can be used there.
    tab.button("Dismiss").click()
    expect(tab.page.locator(".toast")).to_have_count(0)
    expect(qr).to_be_visible()
    qr.get_by_label("Colour", exact=True).fill("#eeeeee")
    hears(tab, "These colours are too alike")
    # And it stays when the dialog goes.
    tab.button("Copy picture", qr).click()
    tab.says("Picture copied.")
    tab.page.keyboard.press("Escape")
    expect(qr).to_have_count(0)
    tab.says("Picture copied.")


def test_what_the_palette_finds_is_said(tabs: Tabs, furnished: Account) -> None:
    tab = listen(tabs.open(furnished, "overview"))
    tab.page.keyboard.press("Control+k")
    field = tab.page.get_by_role("combobox", name="Find anything")
    expect(tab.page.get_by_role("option", name=re.compile("^Overview"))).to_be_visible()
    tab.settled()
    forget(tab)
    field.press_sequentially("sale", delay=20)
    # Two links, and the tag that they have.
    hears(tab, re.compile("^3 results$"))
    field.press_sequentially("x", delay=20)
    hears(tab, "Nothing found for “salex”.")
    field.fill("settings")
    hears(tab, re.compile("^1 result$"))
    # Which one would be taken is said as that of the field.
    tree = tree_of(tab)
    (combobox,) = tree.find("combobox")
    assert combobox.states["expanded"] and combobox.states["focused"]
    (chosen,) = [node for node in tree.find("option") if node.states.get("selected")]
    assert chosen.name == "Settings"
    assert field.get_attribute("aria-activedescendant") == tab.page.get_by_role("option", name="Settings").get_attribute("id")
    assert [node.name for node in tree.find("group")] == ["Pages"]


def test_what_failed_is_said(tabs: Tabs, furnished: Account) -> None:
    tab = listen(tabs.open(furnished, "members"))
    tab.fails("**/api/overview", 503, "service_unavailable")
    tab.fails("**/api/links?*", 503, "service_unavailable")
    tab.page.get_by_role("link", name="Links", exact=True).click()
    hears(tab, "The links can’t be shown.")
    tab.page.get_by_role("link", name="API keys").click()
    tab.settled()
    tab.fails("**/api/keys/*", 503, "service_unavailable")
    tab.button("Pause Nightly export").click()
    tab.button("Pause", tab.dialog("Pause “Nightly export”?")).click()
    hears(tab, "The key wasn’t paused.")
    tab.refused.add("ERR_INTERNET_DISCONNECTED")
    tab.context.set_offline(True)
    hears(tab, "No connection.")
    tab.context.set_offline(False)


def test_a_mail_that_is_sent_again_is_said(tabs: Tabs) -> None:
    made = {"user_id": "u", "email": "ada@example.com", "workspace_id": "w"}
    tab = tabs.open(None, "sign-up", answers={REGISTRATION: DOMAINS, "**/api/auth/register": made, "**/api/auth/verification": {}})
    listen(tab)
    tab.page.get_by_label("Email").fill("ada@example.com")
    tab.button("Create account").click()
    # Its form is gone, and what has come of it has the focus.
    outcome = tab.page.get_by_text("A mail is on its way to ada@example.com.")
    expect(outcome).to_be_visible()
    assert outcome.evaluate("(element) => document.activeElement.contains(element) && document.activeElement !== document.body")
    tab.settled()
    tab.button("Send it again").click()
    hears(tab, "Sent again. It may take a minute.")


# -- chart and table


def test_a_chart_is_read_as_its_numbers(tabs: Tabs, furnished: Account) -> None:
    sale = sale_of(furnished)
    tab = listen(tabs.open(furnished, f"links/{sale}?audience=human&audience=bot&audience=prefetch", answers=aged(furnished, sale)))
    use = Keyboard(tab)
    figure = next(node for node in tree_of(tab).find("figure") if node.name == "Clicks by day, 30 days")
    (image,) = figure.find("image")
    assert image.name == "Clicks by day, 30 days. The table has the same numbers."
    assert image.children == [] and not figure.find("Canvas")
    assert pressed(figure, "Shown as") == ["Chart"]
    # Its points are said one by one.
    tab.page.get_by_role("img", name=re.compile("^Clicks by day")).focus()
    tab.page.keyboard.press("ArrowLeft")
    hears(tab, re.compile("People *6 *All clicks *8"))
    tab.page.keyboard.press("ArrowLeft")
    hears(tab, re.compile("People *0 *All clicks *0"))

    use.press(tab.button("Table"))
    figure = next(node for node in tree_of(tab).find("figure") if node.name == "Clicks by day, 30 days")
    (table,) = figure.find("table")
    assert table.name == "Clicks by day, 30 days" and not figure.find("image")
    assert [node.name for node in table.find("columnheader")] == ["Day", "People", "All clicks", "The 30 days before"]
    newest = table.find("row")[1]
    assert [node.name for node in newest.find("rowheader")] and [node.name for node in newest.find("cell")] == ["6", "8", "0"]
    assert pressed(figure, "Shown as") == ["Table"]


def pressed(tree: Node, group: str) -> list[str]:
    (choice,) = [node for node in tree.find("group") if node.name == group]
    return [node.name for node in choice.find("button") if node.states.get("pressed") == "true"]


def test_the_latest_clicks_are_read_as_a_table(tabs: Tabs, furnished: Account) -> None:
    tab = tabs.open(furnished, f"links/{sale_of(furnished)}")
    tab.settled()
    (table,) = [node for node in tree_of(tab).find("table") if node.name == "Latest clicks"]
    assert [node.name for node in table.find("columnheader")] == ["When", "Who", "With", "Place", "Referrer"]
    rows = table.find("row")[1:]
    # Those of people.
    assert len(rows) == 6 and all(len(row.find("rowheader")) == 1 for row in rows)
    assert all(re.search(r": all of the click, \w+day, \d", row.find("button")[0].name) for row in rows)


# -- states


def test_what_is_on_is_read(tabs: Tabs, furnished: Account) -> None:
    tab = tabs.open(furnished, "links?tag=sale")
    tab.settled()
    use = Keyboard(tab)
    sale = sale_of(furnished)

    def states(role: str, name: str) -> dict[str, Any]:
        (node,) = [node for node in tree_of(tab).find(role) if node.name == name]
        return node.states

    assert states("checkbox", f"Select {sale}")["checked"] == "false"
    use.press(tab.page.get_by_role("checkbox", name=f"Select {sale}"))
    assert states("checkbox", f"Select {sale}")["checked"] == "true"
    use.press(tab.button("Select none"))

    # The order is in the button's name, and among what it offers.
    assert states("button", "Order: Newest first")["expanded"] is False
    use.press(tab.button("Order: Newest first"))
    assert [(node.name, node.states["checked"]) for node in tree_of(tab).find("menuitemradio")] == [
        ("Newest first", "true"),
        ("Oldest first", "false"),
        ("Most clicks", "false"),
        ("Last click", "false"),
    ]
    assert states("button", "Order: Newest first")["expanded"] is True
    tab.page.keyboard.press("Escape")
    use.pick(tab.button("Order: Newest first"), "Most clicks")
    assert states("button", "Order: Most clicks")["expanded"] is False

    active = tab.button(re.compile("^Active"))
    name = active.inner_text().replace("\n", " ")
    assert states("button", re.sub(" +", " ", name))["pressed"] == "false"
    use.press(active)
    assert states("button", re.sub(" +", " ", name))["pressed"] == "true"

    tab.page.keyboard.press("c")
    expect(tab.dialog("New link")).to_be_visible()
    assert states("DisclosureTriangle", "Campaign")["expanded"] is False
    use.press(tab.page.locator("summary", has_text="Campaign"))
    assert states("DisclosureTriangle", "Campaign")["expanded"] is True
    assert states("checkbox", "Watch the target")["checked"] == "false"
    tab.button("Create link").click()
    expect(tab.page.locator("[aria-invalid=true]")).to_have_count(1)
    assert states("textbox", "Target")["invalid"] == "true"


# -- the tabulator

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


def goes_back(one: dict[str, Any], two: dict[str, Any]) -> bool:
    """Down is right, and to the right, or to the beginning of a column beside."""
    is_above = two["bottom"] <= one["top"] and two["left"] < one["right"]
    is_in_row = min(one["bottom"], two["bottom"]) - max(one["top"], two["top"]) > min(one["bottom"] - one["top"], two["bottom"] - two["top"]) / 2
    return is_above or (is_in_row and two["right"] <= one["left"])


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("view", VIEWS)
def test_the_tabulator_reaches_everything_in_reading_order(tabs: Tabs, furnished: Account, target: str, view: str, width: int) -> None:
    tab = tabs.open(furnished, view.format(code=sale_of(furnished), target=target), width=width, refused=[404] if "nowhere" in view else [])
    expect(tab.heading(VIEWS[view])).to_be_attached()
    tab.settled()
    # What is read when somebody comes to it is there before.
    tab.page.evaluate("document.scrollingElement.scrollTo(0, document.scrollingElement.scrollHeight)")
    tab.settled()
    tab.page.evaluate("document.scrollingElement.scrollTo(0, 0)")
    stops: list[dict[str, Any]] = []
    for _ in range(200):
        tab.page.keyboard.press("Tab")
        place = tab.page.evaluate(PLACE)
        if place["isPage"] or any(place["id"] == stop["id"] for stop in stops):
            break
        stops.append(place)
    assert tab.page.evaluate(REACHABLE) == []
    assert stops[0]["isSkip"]
    main = [stop["isMain"] for stop in stops]
    # The frame is before the page and, on a phone, its bar is behind it.
    assert main.index(True) == main.count(False) if width >= 960 else main == sorted(main[:1]) + [True] * main.count(True) + [False] * (main.count(False) - 1)
    own = [stop for stop in stops if stop["isMain"]]
    back = [f"{one['is']} … {two['is']}" for one, two in zip(own, own[1:]) if goes_back(one, two)]
    assert back == []
