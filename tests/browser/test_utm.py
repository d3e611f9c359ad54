"""UTM templates of a workspace, and the campaigns that they fill in."""

import re

from playwright.sync_api import Locator, expect

from support.api import Account
from support.faults import assert_usable_by_everybody, layout_faults
from support.states import as_account
from support.tab import Tab, Tabs
from test_links import BULK

LETTER = {"name": "Letter", "utm_source": "letter", "utm_medium": "email", "utm_campaign": "spring"}


def templates_of(account: Account) -> list[dict[str, str]]:
    return account.call("GET", "/api/workspace")["settings"].get("utm_templates", [])


def with_templates(account: Account, *templates: dict[str, str]) -> None:
    account.call("PATCH", "/api/workspace", {"settings": {"colour": "blue", "utm_templates": list(templates)}})


def rows_of(tab: Tab) -> Locator:
    return tab.page.locator(".card", has=tab.page.get_by_role("heading", name="UTM templates")).get_by_role("listitem")


def test_templates_are_added_edited_duplicated_and_deleted(tabs: Tabs, account: Account) -> None:
    account.call("PATCH", "/api/workspace", {"settings": {"colour": "blue"}})
    tab = tabs.open(account, "settings")
    form = tab.open_dialog("New template", "New template")
    tab.press(tab.button("Save template", form))
    expect(form.get_by_label("Name")).to_have_accessible_description("Enter a name.")
    assert_usable_by_everybody(tab, "a template without a name")
    tab.submit("Save template", {"Name": "Letter", "Source": "letter", "Medium": "email"}, form, says="“Letter” is saved.", lacks=form)
    expect(rows_of(tab)).to_have_text(re.compile("Letter Source: letter · Medium: email"))

    copy = tab.open_dialog("Duplicate Letter", "New template")
    expect(copy.get_by_label("Source")).to_have_value("letter")
    tab.submit("Save template", {"Name": " letter"}, copy)
    expect(copy.get_by_label("Name")).to_have_accessible_description("Another template has this name.")
    tab.submit("Save template", {"Name": "Poster", "Source": "poster", "Medium": ""}, copy, lacks=copy)
    tab.submit("Save template", {"Name": "Newsletter", "Term": "shoes"}, tab.open_dialog("Edit Letter", "Edit Letter"), says="“Newsletter” is saved.")
    expect(rows_of(tab)).to_have_count(2)
    assert templates_of(account) == [{"name": "Newsletter", "utm_source": "letter", "utm_medium": "email", "utm_term": "shoes"}, {"name": "Poster", "utm_source": "poster"}]

    tab.press(tab.button("Delete Newsletter"))
    tab.press(tab.button("Delete", tab.dialog("Delete “Newsletter”?")), says="“Newsletter” is deleted.", focuses=tab.button("Edit Poster"))
    tab.press(tab.button("Delete Poster"))
    tab.press(tab.button("Delete", tab.dialog("Delete “Poster”?")), counts=(rows_of(tab), 0))
    assert account.call("GET", "/api/workspace")["settings"] == {"colour": "blue"}


def test_what_others_change_meanwhile_stays(tabs: Tabs, account: Account) -> None:
    with_templates(account, LETTER)
    tab = tabs.open(account, "settings")
    form = tab.open_dialog("Edit Letter", "Edit Letter")
    poster = {"name": "Poster", "utm_source": "poster", "colour": "red"}
    with_templates(account, LETTER | {"utm_medium": "mail"}, poster)
    tab.submit("Save template", {"Term": "shoes"}, form)
    expect(form.get_by_role("alert")).to_contain_text("Someone else has changed this: this template. Save again to overwrite it.")
    tab.press(tab.button("Save template", form), says="“Letter” is saved.")
    assert templates_of(account) == [LETTER | {"utm_term": "shoes"}, poster]

    # The metadata are edited without them, and so don't lose them.
    tab.submit("Save", {"Metadata (JSON)": '{"colour": 12345678901234567890}'}, says="Workspace saved.")
    assert account.call("GET", "/api/workspace")["settings"] == {"colour": 12345678901234567890, "utm_templates": [LETTER | {"utm_term": "shoes"}, poster]}


def test_members_see_templates_and_use_them(tabs: Tabs, account: Account) -> None:
    with_templates(account, LETTER)
    tab = tabs.open(account, "settings", answers=as_account(account, role="member"))
    expect(rows_of(tab)).to_contain_text("Letter")
    expect(rows_of(tab).get_by_role("button")).to_have_count(0)
    tab.open("links")
    tab.keys("c")
    form = tab.dialog("New link")
    tab.write(form.get_by_role("textbox", name="Destination"), "https://example.com/a?utm_source=old")
    tab.pick(tab.button("Use a template", form), "Letter", says="Filled in from “Letter”.", focuses=form.get_by_label("Term"))
    expect(form.get_by_role("textbox", name="Destination")).to_have_value("https://example.com/a?utm_source=letter&utm_medium=email&utm_campaign=spring")
    assert_usable_by_everybody(tab, "a template that is used")


def test_a_template_is_for_all_rows_and_their_own_columns_come_first(tabs: Tabs, account: Account) -> None:
    with_templates(account, LETTER)
    tab = tabs.open(account, "links")
    form = tab.open_dialog("Bulk create", "Bulk create")
    tab.write(form.get_by_role("textbox", name="One URL per line"), "url\tutm_medium\nhttps://example.com/a\tpost\nhttps://example.com/a\t")
    tab.press(form.locator("summary", has_text="Campaign for all links"))
    tab.pick(tab.button("Use a template", form), "Letter", focuses=form.get_by_label("Term"))
    assert_usable_by_everybody(tab, "a campaign for all links")
    sent = tab.sent(BULK, tab.button("Create 2 links", form))
    url = "https://example.com/a?utm_source=letter&utm_medium={}&utm_campaign=spring"
    assert sent["links"] == [{"url": url.format("post"), "reuse": False}, {"url": url.format("email"), "reuse": False}]
    expect(form.get_by_role("status").filter(has_text="2 links created.")).to_be_visible()

    # What was sent completes itself, also in a tab that has no list of links.
    tab.press(tab.button("Done", form))
    tab.open("overview")
    tab.keys("c")
    link = tab.dialog("New link")
    tab.write(link.get_by_role("textbox", name="Destination"), "https://example.com/b?utm_term=x")
    offered = link.get_by_label("Medium").evaluate("(field) => [...field.list.options].map(({ value }) => value)")
    assert offered == ["post", "email"]


def test_templates_fit_on_a_phone(tabs: Tabs, account: Account) -> None:
    with_templates(account, LETTER | {"name": "A long name of a template " * 3, "utm_content": "a-long-value-" * 10})
    tab = tabs.open(account, "settings", width=360)
    assert layout_faults(tab) == []
    tab.press(rows_of(tab).get_by_role("button", name=re.compile("^Edit")))
    expect(tab.dialog(re.compile("^Edit"))).to_be_visible()
    assert layout_faults(tab) == []
