"""What a screen reader says by itself, and how it reads what changes. Names, roles and the order of each view are in test_every_page.py."""

import re
from typing import Any

from playwright.sync_api import expect

from support.api import Account
from support.sample_data import aged, sale_of
from support.listening import forget, hears, listen
from support.states import DOMAINS, REGISTRATION
from support.tab import Tabs
from support.tree import Node, tree_of, wrong_names
from test_trouble import end_session


def test_a_session_that_is_over_is_read_as_a_question(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "members")
    end_session(tab)
    tab.click(tab.page.get_by_role("link", name="Overview"), shows=tab.dialog("Your session has expired"))
    tree = tree_of(tab)
    assert wrong_names(tree) == []
    (opened,) = tree.find("dialog")
    assert opened.states.get("modal") and opened.text().startswith("Your session has expired")
    assert [node.name for node in opened.find("textbox")] == ["Email", "Password"]


def test_what_happens_to_links_is_said(tabs: Tabs, account: Account) -> None:
    account.shorten("https://shop.example.com/winter", title="Winter sale", tags=["sale"])
    account.shorten("https://example.com/terms", title="Terms")
    account.wait_for("/api/links", lambda answer: len(answer["links"]) == 2)
    tab = listen(tabs.open(account, "links"))
    tab.write(tab.page.get_by_label("Paste a long URL"), "https://example.com/new", then="Enter")
    hears(tab, "Link created. Copied.")
    expect(tab.links).to_have_count(3)

    search = tab.page.get_by_label("Search links")
    tab.write(search, "sale")
    hears(tab, re.compile("^1 link$"))
    tab.write(search, "nothing has this name")
    hears(tab, re.compile("^0 links$"))
    tab.press(tab.button("Show all links"))
    hears(tab, re.compile("^3 links$"))

    row = tab.links.filter(has_text="Terms")
    tab.press(row.get_by_role("checkbox"))
    hears(tab, re.compile("^1 link selected$"))
    tab.press(tab.button("Clear selection"))
    hears(tab, re.compile("^3 links$"))
    tab.press(row.get_by_role("button", name=re.compile(r"^Copy \w+$")))
    hears(tab, "Copied.")
    tab.pick(row.get_by_role("button", name=re.compile("^More for ")), "Disable")
    hears(tab, "Link disabled.")


def test_what_happens_in_a_dialog_is_said(tabs: Tabs, filled: Account) -> None:
    tab = listen(tabs.open(filled, f"links/{sale_of(filled)}"))
    tab.keys("q")
    qr = tab.dialog("QR code")
    expect(qr).to_be_visible()
    tab.settled()
    tab.button("Copy image", qr).click()
    hears(tab, "Image copied.")
    # It lies over the dialog, and can be used there.
    tab.click(tab.button("Dismiss"), lacks=tab.page.locator(".toast"), shows=qr)
    qr.get_by_label("Color", exact=True).fill("#eeeeee")
    hears(tab, "These colors are too similar")
    qr.get_by_label("Color", exact=True).fill("#000000")
    # And it stays when the dialog goes.
    tab.press(tab.button("Copy image", qr), says="Image copied.")
    tab.keys("Escape", lacks=qr, says="Image copied.")


def test_what_the_palette_finds_is_said(tabs: Tabs, filled: Account) -> None:
    tab = listen(tabs.open(filled, "overview"))
    tab.keys("Control+k")
    field = tab.page.get_by_role("combobox", name="Find anything")
    expect(tab.page.get_by_role("option", name=re.compile("^Overview"))).to_be_visible()
    tab.settled()
    forget(tab)
    field.press_sequentially("sale", delay=20)
    # Two links, and the tag that they have.
    hears(tab, re.compile("^3 results$"))
    field.press_sequentially("x", delay=20)
    hears(tab, "No results for “salex”.")
    field.fill("settings")
    hears(tab, re.compile("^1 result$"))
    # Which one would be taken is said as that of the field.
    (combobox,) = tree_of(tab).find("combobox")
    assert combobox.states["expanded"] and combobox.states["focused"]
    assert [node.name for node in tree_of(tab).find("option") if node.states.get("selected")] == ["Settings"]
    assert field.get_attribute("aria-activedescendant") == tab.page.get_by_role("option", name="Settings").get_attribute("id")


def test_what_failed_is_said(tabs: Tabs, filled: Account) -> None:
    tab = listen(tabs.open(filled, "members"))
    tab.fails("**/api/overview", 503, "service_unavailable")
    tab.fails("**/api/links?*", 503, "service_unavailable")
    tab.page.get_by_role("link", name="Links", exact=True).click()
    hears(tab, "Couldn’t load the links.")
    tab.page.get_by_role("link", name="API keys").click()
    tab.settled()
    tab.fails("**/api/keys/*", 503, "service_unavailable")
    tab.button("Pause Nightly export").click()
    tab.button("Pause", tab.dialog("Pause “Nightly export”?")).click()
    hears(tab, "Couldn’t pause the key.")
    tab.refused.add("ERR_INTERNET_DISCONNECTED")
    tab.context.set_offline(True)
    hears(tab, "No connection.")
    tab.context.set_offline(False)


def test_a_mail_that_is_sent_again_is_said(tabs: Tabs) -> None:
    made = {"user_id": "u", "email": "ada@example.com", "workspace_id": "w"}
    tab = tabs.open(None, "sign-up", answers={REGISTRATION: DOMAINS, "**/api/auth/register": made, "**/api/auth/verification": {}})
    listen(tab)
    tab.submit("Create account", {"Email": "ada@example.com"})
    # Its form is gone, and what has come of it has the focus.
    outcome = tab.page.get_by_text("We sent a link to ada@example.com.")
    expect(outcome).to_be_visible()
    assert outcome.evaluate("(element) => document.activeElement.contains(element) && document.activeElement !== document.body")
    tab.settled()
    tab.button("Resend").click()
    hears(tab, "Sent. It may take a minute.")


def test_a_chart_is_read_as_its_numbers(tabs: Tabs, filled: Account) -> None:
    sale = sale_of(filled)
    tab = listen(tabs.open(filled, f"links/{sale}?audience=human&audience=bot&audience=prefetch", answers=aged(filled, sale)))
    figure = next(node for node in tree_of(tab).find("figure") if node.name == "Clicks by day, 30 days")
    (image,) = figure.find("image")
    assert image.name == "Clicks by day, 30 days. The table shows the same numbers."
    assert image.children == [] and not figure.find("Canvas")
    assert pressed(figure, "View as") == ["Chart"]
    # Its points are said one by one.
    tab.page.get_by_role("img", name=re.compile("^Clicks by day")).focus()
    tab.keys("ArrowLeft")
    expect(tab.page.locator(".plot")).to_contain_text(re.compile("Human clicks *6.*All clicks *8"))
    hears(tab, re.compile("Human clicks *6 *All clicks *8"))
    tab.keys("ArrowLeft")
    hears(tab, re.compile("Human clicks *0 *All clicks *0"))

    tab.press(tab.button("Table"))
    figure = next(node for node in tree_of(tab).find("figure") if node.name == "Clicks by day, 30 days")
    (table,) = figure.find("table")
    assert table.name == "Clicks by day, 30 days" and not figure.find("image")
    assert [node.name for node in table.find("columnheader")] == ["Day", "Human clicks", "All clicks", "The previous 30 days"]
    newest = table.find("row")[1]
    assert [node.name for node in newest.find("rowheader")] and [node.name for node in newest.find("cell")] == ["6", "8", "0"]
    assert pressed(figure, "View as") == ["Table"]


def pressed(tree: Node, group: str) -> list[str]:
    (choice,) = [node for node in tree.find("group") if node.name == group]
    return [node.name for node in choice.find("button") if node.states.get("pressed") == "true"]


def test_the_latest_clicks_are_read_as_a_table(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    (table,) = [node for node in tree_of(tab).find("table") if node.name == "Latest clicks"]
    assert [node.name for node in table.find("columnheader")] == ["Time", "Visitor", "Browser and device", "Location", "Referrer"]
    rows = table.find("row")[1:]
    # Those of people.
    assert len(rows) == 6 and all(len(row.find("rowheader")) == 1 for row in rows)
    assert all(re.search(r": details of the click, \w+day, \d", row.find("button")[0].name) for row in rows)


def test_what_is_on_is_read(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "links?tag=sale")
    sale = sale_of(filled)

    def states(role: str, name: str) -> dict[str, Any]:
        (node,) = [node for node in tree_of(tab).find(role) if node.name == name]
        return node.states

    assert states("checkbox", f"Select {sale}")["checked"] == "false"
    tab.press(tab.page.get_by_role("checkbox", name=f"Select {sale}"))
    assert states("checkbox", f"Select {sale}")["checked"] == "true"
    tab.press(tab.button("Clear selection"))

    # The order is in the button's name, and among what it offers.
    assert states("button", "Sort by: Newest first")["expanded"] is False
    tab.press(tab.button("Sort by: Newest first"))
    assert [(node.name, node.states["checked"]) for node in tree_of(tab).find("menuitemradio")] == [
        ("Newest first", "true"),
        ("Oldest first", "false"),
        ("Most clicks", "false"),
        ("Last click", "false"),
    ]
    assert states("button", "Sort by: Newest first")["expanded"] is True
    tab.keys("Escape")
    tab.pick(tab.button("Sort by: Newest first"), "Most clicks")
    assert states("button", "Sort by: Most clicks")["expanded"] is False

    active = tab.button(re.compile("^Active"))
    name = active.inner_text().replace("\n", " ")
    assert states("button", re.sub(" +", " ", name))["pressed"] == "false"
    tab.press(active)
    assert states("button", re.sub(" +", " ", name))["pressed"] == "true"

    tab.keys("c", shows=tab.dialog("New link"))
    assert states("DisclosureTriangle", "Campaign")["expanded"] is False
    tab.press(tab.page.locator("summary", has_text="Campaign"))
    assert states("DisclosureTriangle", "Campaign")["expanded"] is True
    assert states("checkbox", "Monitor the destination")["checked"] == "false"
    tab.click(tab.button("Create link"), counts=(tab.page.locator("[aria-invalid=true]"), 1))
    assert states("textbox", "Destination")["invalid"] == "true"
