"""Where a link leads: another destination, rules and variants, and the history of all that."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from support.api import Account, Api
from support.sample_data import PHONE
from support.states import as_account
from support.tab import Tab, Tabs
from test_every_page import judge

TARGET = "https://example.com/app"
APPLE, ANDROID, SHORT = "https://example.com/apple", "https://example.com/android", "https://example.com/short"
RULES: list[dict[str, Any]] = [
    {"name": "iPhones", "url": APPLE, "conditions": [{"type": "device", "value": "ios"}]},
    {"url": ANDROID, "conditions": [{"type": "device", "value": "android"}, {"type": "language", "value": "nb"}]},
]
VARIANTS: list[dict[str, Any]] = [{"name": "B", "url": SHORT, "weight": 30}]


@pytest.fixture
def editable(account: Account) -> Account:
    """Somebody in a workspace whose links may be led elsewhere, with one link."""
    account.call("PATCH", "/api/workspace", {"destinations": "editable"})
    account.shorten(TARGET, title="App", custom_code=f"app-{account.email[4:12]}")
    return account


@pytest.fixture
def fixed(account: Account) -> Account:
    """Somebody in a workspace whose links lead to the same place for ever, with a link that has rules."""
    account.shorten(TARGET, rules=RULES, variants=VARIANTS)
    return account


def page_of(account: Account) -> str:
    return f"links/{account.links[0]['short_code']}"


def rules_of(account: Account) -> dict[str, Any]:
    return account.call("GET", f"/api/{page_of(account)}/rules")


def put_rules(account: Account, rules: list[dict[str, Any]] = RULES, variants: list[dict[str, Any]] = VARIANTS) -> None:
    account.call("PUT", f"/api/{page_of(account)}/rules", {"rules": rules, "variants": variants})


def open_rules(tabs: Tabs, account: Account, by_menu: bool = False, **more: Any) -> tuple[Tab, Locator]:
    """The page of the link, with its form, which begins at the rules and variants."""
    tab = tabs.open(account, page_of(account), **more)
    if by_menu:
        tab.pick(tab.page.get_by_role("main").get_by_role("button", name="More", exact=True), "Rules and variants")
    else:
        tab.settled()
        tab.keys("r")
    drawer = tab.dialog(re.compile("^Edit "))
    expect(drawer.get_by_role("heading", name="Rules", exact=True)).to_be_focused()
    return tab, drawer


def rule(drawer: Locator, number: int) -> Locator:
    return drawer.get_by_role("group", name=f"Rule {number}", exact=True)


def value_of(condition: Locator) -> Locator:
    """The field that chooses from a list."""
    return condition.get_by_role("combobox", name="Value", exact=True)


def test_a_link_is_led_elsewhere(tabs: Tabs, editable: Account) -> None:
    tab = tabs.open(editable, page_of(editable), refused=[400])
    dialog = tab.open_dialog("Change destination", re.compile("^Edit "))
    field = dialog.get_by_label("Destination", exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_value(TARGET)
    tab.submit("Save", {field: "nonsense"}, dialog)
    expect(field).to_have_accessible_description(re.compile("Enter a URL that starts with http:// or https://."))
    expect(dialog).to_contain_text("remember the old destination for up to 90 seconds")
    # The API refuses its own addresses.
    tab.submit("Save", {field: f"{editable.api.url}/itself"}, dialog)
    expect(field).to_have_attribute("aria-invalid", "true")
    judge(tab, "another destination")
    tab.submit("Save", {field: "example.com/elsewhere"}, dialog, says="Saved.")
    expect(tab.page.get_by_role("link", name="example.com/elsewhere")).to_be_visible()
    assert editable.call("GET", f"/api/{page_of(editable)}")["original_url"] == "https://example.com/elsewhere"

    tab.press(tab.page.locator("summary", has_text="History"))
    expect(tab.page.get_by_role("list", name="History").get_by_role("listitem").first).to_contain_text(
        f"{editable.email} changed the destination from example.com/app to example.com/elsewhere"
    )
    # What is changed while it is open is read, too.
    tab.press(tab.button("Disable"))
    expect(tab.page.get_by_role("list", name="History").get_by_role("listitem").first).to_contain_text("disabled the link")


def test_a_destination_that_somebody_else_has_changed_is_not_overwritten_at_once(tabs: Tabs, editable: Account) -> None:
    tab = tabs.open(editable, page_of(editable))
    dialog = tab.open_dialog("Change destination", re.compile("^Edit "))
    dialog.get_by_label("Destination", exact=True).fill("https://example.com/mine")
    editable.call("PATCH", f"/api/{page_of(editable)}", {"url": "https://example.com/theirs"})
    tab.press(tab.button("Save", dialog))
    expect(dialog.get_by_role("alert")).to_contain_text("Someone else has changed this: destination.")
    tab.press(tab.button("Save", dialog), says="Saved.")
    assert editable.call("GET", f"/api/{page_of(editable)}")["original_url"] == "https://example.com/mine"


def test_rules_and_variants_are_written(tabs: Tabs, editable: Account, api: Api, input_device: str) -> None:
    tab, drawer = open_rules(tabs, editable, by_menu=True)
    tab.press(tab.button("Add a rule", drawer), focuses=value_of(rule(drawer, 1)))
    tab.choose(rule(drawer, 1).get_by_label("Condition type"), "device", "Device")
    tab.write(value_of(rule(drawer, 1)), "iPhone", then="Enter")
    tab.write(rule(drawer, 1).get_by_label("Destination"), APPLE)
    tab.write(rule(drawer, 1).get_by_label("Name"), "iPhones")
    tab.press(tab.button("Add a rule", drawer))
    tab.choose(rule(drawer, 2).get_by_label("Condition type"), "device", "Device")
    tab.write(value_of(rule(drawer, 2)), "andr", then="ArrowDown Enter")
    tab.write(rule(drawer, 2).get_by_label("Destination"), "example.com/android")
    tab.press(tab.button("Add a condition to rule 2", drawer))
    second = drawer.get_by_role("group", name="Rule 2, condition 2")
    tab.choose(second.get_by_label("Condition type"), "language", "Language")
    tab.write(value_of(second), "norwegian bok", then="Enter")
    expect(second).to_contain_text("Norwegian Bokmål")
    tab.press(tab.button("Add a variant", drawer))
    variant = drawer.get_by_role("group", name="Variant 1")
    tab.write(variant.get_by_label("Name"), "B")
    tab.write(variant.get_by_label("Share (%)"), "30")
    tab.write(variant.get_by_label("Destination"), SHORT)
    expect(drawer.locator(".variant-rest")).to_contain_text(re.compile(r"example\.com/app.*70 %", re.DOTALL))
    tab.press(tab.button("Save", drawer), says="Saved.")

    saved = rules_of(editable)
    assert (saved["rules"], saved["variants"]) == (RULES, VARIANTS)
    expect(tab.button("redirect rules", tab.page.get_by_role("main"))).to_be_visible()
    # What they do is in the statistics.
    api.click(editable.links[0]["short_code"], agent=PHONE)
    editable.wait_for(f"/api/stats/{editable.links[0]['short_code']}", lambda stats: bool(stats.get("destinations")))
    tab.reload()
    expect(tab.page.get_by_role("list", name="Destinations")).to_contain_text("iPhones")


def test_a_condition_chooses_several_of_a_list(tabs: Tabs, editable: Account, input_device: str) -> None:
    tab, drawer = open_rules(tabs, editable, by_menu=True)
    tab.press(tab.button("Add a rule", drawer))
    condition = drawer.get_by_role("group", name="Rule 1, condition 1")
    tab.choose(condition.get_by_label("Condition type"), "country", "Country")
    countries = value_of(condition)
    # All are listed, by name.
    tab.press(countries)
    options = condition.get_by_role("listbox").get_by_role("option")
    expect(options).to_have_count(250)
    expect(options.first).to_contain_text("Afghanistan")
    tab.write(countries, "germ", then="Enter")
    tab.write(countries, "at,")
    # A code finds its country first, and who leaves the field has chosen the only one that was found.
    tab.write(countries, "Liechten")
    expect(options).to_have_count(1)
    if input_device == "pointer":
        options.click()
    tab.write(rule(drawer, 1).get_by_label("Destination"), "example.com/dach")
    for name in ["Germany", "Austria", "Liechtenstein"]:
        expect(tab.button(f"Remove {name}", condition)).to_be_visible()
    judge(tab, "a condition with several countries")
    tab.write(countries, "")
    tab.keys("Backspace", lacks=tab.button("Remove Liechtenstein", condition))
    # Escape closes the list only.
    tab.keys("ArrowDown", shows=options.first)
    tab.keys("Escape", lacks=options)
    tab.press(tab.button("Save", drawer), says="Saved.")
    assert rules_of(editable)["rules"][0]["conditions"] == [{"type": "country", "value": ["DE", "AT"]}]
    assert api_led(editable, country="AT") == "https://example.com/dach"

    # Whoever reads them reads the names.
    reader = tabs.open(editable, page_of(editable), answers=as_account(editable, role="viewer"))
    reader.settled()
    reader.keys("r")
    expect(reader.dialog(re.compile("^Rules and variants"))).to_contain_text("Country: Germany, Austria")


def api_led(account: Account, **visitor: str) -> str:
    return account.call("POST", f"/api/{page_of(account)}/rules/test", {"visitor": visitor})["url"]


def test_rules_change_their_order_and_are_taken_away(tabs: Tabs, editable: Account, input_device: str) -> None:
    put_rules(editable)
    tab, drawer = open_rules(tabs, editable, by_menu=True)
    tab.press(tab.button("Move rule 2 up", drawer))
    expect(rule(drawer, 1).get_by_label("Destination")).to_have_value(ANDROID)
    # The focus goes along.
    expect(tab.button("Move rule 1 up", drawer)).to_be_focused()
    expect(drawer.get_by_role("status").filter(has_text="is now number 1 of 2.")).to_be_attached()
    tab.press(tab.button("Move rule 1 down", drawer))
    expect(rule(drawer, 1).get_by_label("Destination")).to_have_value(APPLE)
    tab.keys("Alt+ArrowUp")
    expect(rule(drawer, 1).get_by_label("Destination")).to_have_value(ANDROID)
    tab.press(tab.button("Save", drawer), says="Saved.")
    assert [each["url"] for each in rules_of(editable)["rules"]] == [ANDROID, APPLE]

    tab.press(tab.button("redirect rules", tab.page.get_by_role("main")))
    tab.press(tab.button("Remove rule 1, condition 1", drawer))
    tab.press(tab.button("Remove rule 2", drawer), focuses=tab.button("Remove rule 1", drawer))
    tab.press(tab.button("Remove variant 1", drawer), focuses=tab.button("Add a variant", drawer))
    tab.press(tab.button("Save", drawer), lacks=drawer)
    saved = rules_of(editable)
    assert (saved["rules"], saved["variants"]) == ([{"url": ANDROID, "conditions": [RULES[1]["conditions"][1]]}], [])


def test_what_is_wrong_with_rules_stands_at_its_field(tabs: Tabs, editable: Account) -> None:
    tab, drawer = open_rules(tabs, editable)
    tab.button("Add a rule", drawer).click()
    address, condition = rule(drawer, 1).get_by_label("Destination"), drawer.get_by_role("group", name="Rule 1, condition 1")
    condition.get_by_label("Condition type").select_option("country")
    tab.submit("Save", {address: "nowhere"}, drawer, focuses=drawer.locator(".form-summary"))
    expect(address).to_have_accessible_description("Enter a URL that starts with http:// or https://.")
    expect(value_of(condition)).to_have_accessible_description("Choose at least one country.")
    judge(tab, "wrong rules")
    address.fill(APPLE)
    expect(address).not_to_have_attribute("aria-invalid", "true")
    assert rules_of(editable)["rules"] == []


def test_rules_that_somebody_else_has_changed_are_not_overwritten_at_once(tabs: Tabs, editable: Account) -> None:
    put_rules(editable)
    tab, drawer = open_rules(tabs, editable)
    rule(drawer, 1).get_by_label("Name").fill("Mine")
    put_rules(editable, RULES[1:])
    tab.press(tab.button("Save", drawer))
    expect(drawer.get_by_role("alert")).to_contain_text("Someone else has changed this: rules. Save again to overwrite it.")
    assert rules_of(editable)["rules"] == RULES[1:]
    tab.press(tab.button("Save", drawer), says="Saved.")
    assert rules_of(editable)["rules"][0]["name"] == "Mine"


def test_rules_are_tried_before_they_are_saved(tabs: Tabs, editable: Account, input_device: str) -> None:
    put_rules(editable, variants=[])
    tab, drawer = open_rules(tabs, editable, by_menu=True)
    tab.write(rule(drawer, 1).get_by_label("Name"), "Apple")
    tab.press(drawer.locator("summary", has_text="Test the rules"))
    led = drawer.get_by_role("status").filter(has_text="Goes to")
    tab.press(tab.button("Test", drawer))
    expect(led).to_contain_text("example.com/app (the link’s destination)")
    tab.choose(drawer.get_by_label("Device", exact=True), "ios", "iPhone", lacks=led)
    tab.press(tab.button("Test", drawer))
    expect(led).to_contain_text("example.com/apple (rule 1, Apple)")
    tab.choose(drawer.get_by_label("Device", exact=True), "android", "Android")
    tab.write(drawer.locator(".tester").get_by_label("Language"), "nb-NO")
    # Enter tries, and doesn't save.
    tab.keys("Enter")
    expect(led).to_contain_text("example.com/android (rule 2)")
    judge(tab, "rules that are tried")
    assert rules_of(editable)["rules"] == RULES


TRIED = [
    ({"type": "browser", "value": "firefox"}, "Browser", "firefox"),
    ({"type": "country", "value": "NO"}, "Country", "NO"),
    ({"type": "query-param", "key": "ref", "value": "mail"}, "Parameters", "?ref=mail"),
    ({"type": "before-date", "value": "2027-05-03T10:00:00.000Z"}, "Time", "2027-05-03T11:00"),
    ({"type": "after-date", "value": "2027-05-03T10:00:00.000Z"}, "Time", "2027-05-03T12:00"),
]


def test_each_kind_of_condition_is_tried(tabs: Tabs, editable: Account, subtests: pytest.Subtests) -> None:
    put_rules(editable, [{"url": SHORT, "conditions": [condition]} for condition, _, _ in TRIED], [])
    tab, drawer = open_rules(tabs, editable)
    drawer.locator("summary", has_text="Test the rules").click()
    led = drawer.get_by_role("status").filter(has_text="Goes to")
    for number, (condition, name, value) in enumerate(TRIED, 1):
        with subtests.test(condition["type"]):
            is_list = name in ("Browser", "Country")
            field = drawer.locator(".tester").get_by_label(name, exact=is_list)
            write = field.select_option if is_list else field.fill
            write(value)
            tab.button("Test", drawer).click()
            expect(led).to_contain_text(f"example.com/short (rule {number})")
            write("")


def test_where_destinations_are_fixed_the_form_says_who_can_allow_changes(tabs: Tabs, fixed: Account, input_device: str) -> None:
    member = tabs.open(fixed, page_of(fixed), answers=as_account(fixed, role="member"))
    member.settled()
    member.keys("e")
    form = member.dialog(re.compile("^Edit "))
    expect(form.get_by_role("group", name="Destination", exact=True)).to_contain_text(
        re.compile(r"example\.com/app.*so visitors always reach the same place\. An admin can allow changes\.", re.DOTALL)
    )
    expect(form).to_contain_text("so you can only remove rules and variants. An admin can allow changes.")
    expect(form.get_by_role("switch")).to_have_count(0)
    judge(member, "a form with a locked destination")

    tab, drawer = open_rules(tabs, fixed, by_menu=True)
    switch = drawer.get_by_role("switch", name="Allow changes in this workspace")
    tab.press(switch)
    question = tab.dialog("Make destinations editable?")
    tab.press(tab.button("Cancel", question))
    expect(switch).not_to_be_checked()
    tab.press(switch)
    address = drawer.get_by_label("Destination", exact=True).first
    tab.press(tab.button("Make editable", question), says="Destinations are editable now.", focuses=address)
    assert fixed.call("GET", "/api/workspace")["destinations"] == "editable"
    tab.write(address, "example.com/moved")
    tab.write(rule(drawer, 1).get_by_label("Name"), "Apple")
    tab.press(tab.button("Save", drawer), says="Saved.")
    assert fixed.call("GET", f"/api/{page_of(fixed)}")["original_url"] == "https://example.com/moved"
    assert rules_of(fixed)["rules"][0]["name"] == "Apple"


def test_where_destinations_are_fixed_rules_can_only_be_taken_away(tabs: Tabs, fixed: Account) -> None:
    tab, drawer = open_rules(tabs, fixed, by_menu=True)
    expect(drawer).to_contain_text("Destinations are locked in this workspace, so you can only remove rules and variants.")
    expect(drawer).to_contain_text(re.compile("Rule 1 · iPhones.*Device: iPhone or iPad", re.DOTALL))
    expect(tab.button("Add a rule", drawer)).to_have_count(0)
    expect(drawer.get_by_role("textbox", name="Destination")).to_have_count(0)
    judge(tab, "rules that can only be taken away")
    tab.press(tab.button("Remove rule 1", drawer))
    tab.press(tab.button("Remove variant 1", drawer))
    tab.press(tab.button("Save", drawer), says="Saved.")
    saved = rules_of(fixed)
    assert (saved["rules"], saved["variants"]) == (RULES[1:], [])
    expect(tab.button("Change destination")).to_have_count(0)
    # Of a link without any, only a new one can have some.
    plain = fixed.shorten("https://example.com/plain")
    tab.go(f"links/{plain}", shows=tab.button("Edit"))
    tab.click(tab.button("Edit"))
    expect(tab.dialog(re.compile("^Edit "))).to_contain_text("so only new links can have rules and variants.")


def test_a_new_link_has_a_country_rule_with_four_clicks(tabs: Tabs, fixed: Account) -> None:
    """Besides typing, and where destinations are fixed, too: what is new can be filled."""
    tab = tabs.open(fixed, "links")
    clicks = 0

    def click(target: Locator) -> None:
        nonlocal clicks
        clicks += 1
        target.click()

    click(tab.button("More options"))
    form = tab.dialog("New link")
    expect(form.get_by_label("Destination", exact=True)).to_be_focused()
    tab.page.keyboard.insert_text("https://example.com/harbour")
    click(tab.button("Add a rule", form))
    tab.page.keyboard.insert_text("germ")
    tab.keys("Enter")
    tab.page.keyboard.insert_text("austria")
    tab.keys("Enter")
    click(rule(form, 1).get_by_label("Destination"))
    tab.page.keyboard.insert_text("example.com/hafen")
    judge(tab, "a new link with a country rule")
    click(tab.button("Create link", form))
    tab.says("Link created.")
    assert clicks <= 4
    code = fixed.call("GET", "/api/links")["links"][0]["short_code"]
    rules = fixed.call("GET", f"/api/links/{code}/rules")["rules"]
    assert rules == [{"url": "https://example.com/hafen", "conditions": [{"type": "country", "value": ["DE", "AT"]}]}]


def test_rules_that_are_refused_keep_the_form(tabs: Tabs, editable: Account) -> None:
    put_rules(editable)
    tab, drawer = open_rules(tabs, editable)
    drawer.get_by_label(re.compile("^Title")).fill("Changed")
    rule(drawer, 1).get_by_label("Name").fill("Mine")
    with tab.failing("**/rules", 503, "service_unavailable", method="PUT"):
        tab.press(tab.button("Save", drawer), shows=drawer.get_by_role("alert"))
    # What was saved before isn't taken for somebody else's change.
    tab.press(tab.button("Save", drawer), says="Saved.")
    assert (rules_of(editable)["rules"][0]["name"], editable.call("GET", f"/api/{page_of(editable)}")["title"]) == ("Mine", "Changed")


def test_rules_that_cannot_be_read_are_read_again(tabs: Tabs, editable: Account) -> None:
    put_rules(editable)
    tab = tabs.open(editable, page_of(editable))
    tab.settled()
    with tab.failing("**/rules", 503, "service_unavailable"):
        tab.keys("e")
        drawer = tab.dialog(re.compile("^Edit "))
        expect(drawer.get_by_role("alert")).to_contain_text("Couldn’t load the rules.")
    tab.click(tab.button("Try again", drawer), shows=rule(drawer, 2))


def test_countries_that_nobody_knows_are_said_to_be_unknown(tabs: Tabs, editable: Account) -> None:
    unknown = {"rules": [], "variants": [], "countries_known": False}
    tab, drawer = open_rules(tabs, editable, answers={"**/rules": unknown})
    note = drawer.get_by_text("Countries are unknown because no trusted edge is configured.")
    expect(note).to_be_visible()
    # A rule begins with what is known.
    tab.button("Add a rule", drawer).click()
    expect(rule(drawer, 1).get_by_label("Condition type")).to_have_value("device")
    tab.click(tab.button("Remove rule 1", drawer))
    tab.keys("Escape", lacks=drawer)
    tab.recovers("**/rules")
    tab.answers("**/rules", unknown | {"countries_known": True})
    tab.keys("r", shows=drawer.get_by_role("heading", name="Variants", exact=True), lacks=note)


def test_what_was_written_of_rules_is_not_lost_by_chance_and_fits(tabs: Tabs, editable: Account) -> None:
    put_rules(editable)
    tab, drawer = open_rules(tabs, editable, width=360)
    expect(rule(drawer, 2)).to_be_visible()
    tab.assert_not_sideways()
    assert drawer.evaluate("(one) => [one, ...one.querySelectorAll('.dialog-body')].every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)")
    tab.button("Add a rule", drawer).click()
    # The first one closes the list of devices.
    tab.keys("Escape", "Escape")
    tab.click(tab.button("Keep editing", tab.dialog("Discard changes?")), shows=rule(drawer, 3))


def test_a_history_is_read_when_it_is_opened(tabs: Tabs, editable: Account) -> None:
    path = f"/api/{page_of(editable)}"
    for limit in range(1, 23):
        editable.call("PATCH", path, {"max_clicks": limit})
    editable.call("PATCH", path, {"password": "harbour lights", "fallback_url": SHORT, "is_active": False})
    put_rules(editable)
    tab = tabs.open(editable, page_of(editable))
    asked = tab.requests(r"/history\?")
    tab.reload()
    tab.settled()
    assert asked == []

    tab.press(tab.page.locator("summary", has_text="History"))
    entries = tab.page.get_by_role("list", name="History").get_by_role("listitem")
    expect(entries).to_have_count(20)
    expect(entries.nth(0)).to_contain_text("changed the rules and variants from none to 2 rules and 1 variant")
    for words in ["added a password", "set the fallback URL to example.com/short", "disabled the link"]:
        expect(entries.nth(1)).to_contain_text(words)
    expect(entries.nth(2)).to_contain_text("changed the click limit from 21 to 22")
    judge(tab, "a history")
    tab.press(tab.button("Load more"), counts=(entries, 24), focuses=entries.nth(20))
    expect(entries.last).to_contain_text("set the click limit to 1")
    expect(tab.button("Load more")).to_have_count(0)


def test_a_history_that_cannot_be_read_is_tried_again(tabs: Tabs, editable: Account) -> None:
    tab = tabs.open(editable, page_of(editable))
    with tab.failing("**/history?*", 503, "service_unavailable"):
        tab.page.locator("summary", has_text="History").click()
        failure = tab.page.get_by_role("alert").filter(has_text="Couldn’t load the history.")
        expect(failure).to_be_visible()
    tab.click(tab.button("Try again", failure), shows="No changes since this link was created.")


def test_admins_choose_whether_destinations_may_change(tabs: Tabs, account: Account) -> None:
    account.shorten(TARGET)
    tab = tabs.open(account, "settings")
    destinations = tab.page.get_by_role("group", name="Link destinations")
    expect(tab.button("Locked", destinations)).to_have_attribute("aria-pressed", "true")
    expect(tab.page.get_by_text("Visitors can trust that a link always leads to the same place.")).to_be_visible()
    tab.press(tab.button("Editable", destinations))
    expect(tab.page.get_by_text("Anyone who can edit a link can send its visitors elsewhere")).to_be_visible()
    tab.press(tab.button("Save"), says="Workspace saved.")
    assert account.call("GET", "/api/workspace")["destinations"] == "editable"
    tab.go(page_of(account), shows=tab.button("Change destination"))

    # Others see it only.
    other = tabs.open(account, "settings", answers=as_account(account, role="member"))
    expect(other.page.get_by_role("main")).to_contain_text(re.compile(r"Destinations\s*Editable"))
    expect(other.button("Editable")).to_have_count(0)
