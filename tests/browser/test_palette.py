"""Going anywhere and doing anything, from one field."""

import re
import uuid
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from support.api import Account
from support.input import Keyboard
from support.states import in_no_workspace, paused_workspace
from support.tab import Tab, Tabs
from test_workspace import only_with

FILE = re.compile(r"/palette(/palette)?\.js")
SEARCH = "**/api/links?search=*"


@pytest.fixture
def shop(account: Account) -> Account:
    account.shorten("https://shop.example.com/winter", title="Winter sale", custom_code=f"w{uuid.uuid4().hex[:8]}")
    account.shorten("https://docs.example.com/terms", title="Terms")
    account.shorten("https://shop.example.com/lambs", title="Offspring")
    account.shorten("https://shop.example.com/spring", title="Spring sale")
    account.shorten("https://status.example.com/health")
    account.wait_for("/api/links", lambda answer: len(answer["links"]) == 5)
    return account


def field(tab: Tab) -> Locator:
    return tab.page.get_by_role("combobox", name="Find anything")


def option(tab: Tab, name: str | re.Pattern[str]) -> Locator:
    return tab.dialog("Find anything").get_by_role("option", name=name)


def options(tab: Tab, group: str) -> list[str]:
    return [each.inner_text().split("\n")[0].strip() for each in tab.page.get_by_role("group", name=group, exact=True).get_by_role("option").all()]


def show_palette(tab: Tab, account: Account) -> None:
    """By a key, or by the button in the rail."""
    if isinstance(tab.input, Keyboard):
        tab.keys("Control+k")
    else:
        tab.press(tab.button("Find anything"))
    expect(field(tab)).to_be_focused()


def open_palette(tabs: Tabs, account: Account, view: str, **more: Any) -> Tab:
    tab = tabs.open(account, view, **more)
    show_palette(tab, account)
    expect(option(tab, re.compile("^Overview"))).to_be_visible()
    return tab


def take(tab: Tab, name: str) -> None:
    """Takes an option: a click, or the arrows and Enter."""
    wanted = option(tab, re.compile(f"^{re.escape(name)}"))
    expect(wanted).to_be_visible()
    if not isinstance(tab.input, Keyboard):
        return tab.press(wanted)
    for _ in range(60):
        if field(tab).get_attribute("aria-activedescendant") == wanted.get_attribute("id"):
            expect(wanted).to_have_attribute("aria-selected", "true")
            return tab.page.keyboard.press("Enter")
        tab.keys("ArrowDown")
    raise AssertionError(f"No arrow key reaches “{name}”.")


def said(tab: Tab) -> Locator:
    return tab.dialog("Find anything").get_by_role("status").first


def test_it_leads_to_a_page(tabs: Tabs, shop: Account, input_device: str) -> None:
    tab = open_palette(tabs, shop, "links")
    assert options(tab, "Pages") == ["Links", "Overview", "Tags", "Monitoring", "Notifications", "Members", "API keys", "Activity", "Settings", "Account"]
    expect(option(tab, "Monitoring g m")).to_be_visible()
    tab.write(field(tab), "memb")
    take(tab, "Members")
    expect(tab.heading("Members")).to_be_focused()
    expect(tab.dialog("Find anything")).to_have_count(0)
    tab.go_back()
    expect(tab.heading("Links")).to_be_attached()


def test_it_finds_links_by_title_code_and_target(tabs: Tabs, shop: Account, input_device: str) -> None:
    tab = open_palette(tabs, shop, "overview")
    # What begins with it stands before what has it inside.
    for text, found in [("spring", ["Spring sale", "Offspring"]), (shop.links[4]["short_code"].upper(), ["Winter sale"]), ("docs.example", ["Terms"]), ("sale shop", ["Spring sale", "Winter sale"]), ("health", ["status.example.com/health"])]:
        tab.write(field(tab), text)
        expect(said(tab)).to_have_text("1 result" if len(found) == 1 else f"{len(found)} results")
        assert [each.split(" shop.")[0].split(" docs.")[0] for each in options(tab, "Links")] == found
    tab.write(field(tab), "terms")
    take(tab, "Terms")
    expect(tab.page).to_have_title("Terms · Linklet")
    assert tab.view().split("?")[0].endswith(f"links/{shop.links[3]['short_code']}")


def test_latest_links_are_there_at_once_and_nothing_found_is_said(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    urls = tab.requests(r"/api/links\?")
    tab.keys("Control+k", shows=option(tab, re.compile("^Offspring")))
    assert len(options(tab, "Latest links")) == 5
    tab.settled()
    assert urls == []
    expect(said(tab)).to_have_text("")
    field(tab).fill("nothing has this name")
    expect(said(tab)).to_have_text("No results for “nothing has this name”.")
    expect(field(tab)).to_have_attribute("aria-expanded", "false")
    tab.keys("Enter", focuses=field(tab))
    field(tab).fill("members")
    expect(said(tab)).to_have_text("1 result")
    expect(field(tab)).to_have_attribute("aria-expanded", "true")
    # Where the list was never shown, it is read.
    other = tabs.open(shop, "members")
    urls = other.requests(r"/api/links\?")
    other.keys("Control+k", shows=option(other, re.compile("^Offspring")))
    assert [url.split("?")[1] for url in urls] == ["per_page=5"]


def test_links_are_searched_after_typing_and_overtaken_answers_are_dropped(tabs: Tabs, shop: Account) -> None:
    tab = open_palette(tabs, shop, "links")
    urls = tab.requests(r"/api/links\?")
    tab.page.keyboard.type("spring", delay=20)
    expect(option(tab, re.compile("^Spring sale"))).to_be_visible()
    assert [url.split("?")[1] for url in urls] == ["search=spring&per_page=20"]

    # What was found stays until there is another answer.
    held = tab.hold(SEARCH)
    with tab.page.expect_request(SEARCH):
        field(tab).fill("terms")
    expect(option(tab, re.compile("^Spring sale"))).to_be_visible()
    expect(said(tab)).to_have_text("")
    with tab.page.expect_request(SEARCH):
        field(tab).fill("winter")
    held.let_go()
    expect(option(tab, re.compile("^Winter sale"))).to_be_visible()
    tab.settled()
    assert held.count == 2
    assert len(options(tab, "Links")) == 1
    expect(said(tab)).to_have_text("1 result")


def test_enter_before_the_answer_takes_what_is_looked_for(tabs: Tabs, shop: Account) -> None:
    tab = open_palette(tabs, shop, "overview")
    field(tab).fill("spring")
    expect(option(tab, re.compile("^Spring sale"))).to_be_visible()
    held = tab.hold(SEARCH)
    with tab.page.expect_request(SEARCH):
        field(tab).fill("winter")
        tab.keys("Enter")
    # The one that was found before isn't meant.
    expect(field(tab)).to_be_visible()
    held.let_go()
    expect(tab.page).to_have_title("Winter sale · Linklet")


def test_a_search_that_fails_says_so_and_hides_nothing_else(tabs: Tabs, shop: Account, input_device: str) -> None:
    tab = open_palette(tabs, shop, "overview")
    with tab.failing(SEARCH, 503, "service_unavailable"):
        tab.write(field(tab), "sett", shows=option(tab, "Settings"))
        expect(tab.dialog("Find anything").locator(".found-note")).to_contain_text("Couldn’t search the links.")
        expect(said(tab)).to_have_text(re.compile(r"Couldn’t search the links\. 1 result"))
    tab.write(field(tab), "winter", shows=option(tab, re.compile("^Winter sale")))

    with tab.failing(SEARCH, 503, "service_unavailable"):
        tab.write(field(tab), "terms", shows=option(tab, "Search the links again"))
    take(tab, "Search the links again")
    expect(option(tab, re.compile("^Terms"))).to_be_visible()
    expect(tab.dialog("Find anything").locator(".found-note")).to_have_count(0)


def test_a_link_is_copied(tabs: Tabs, shop: Account) -> None:
    tab = open_palette(tabs, shop, "overview")
    field(tab).fill("terms")
    expect(tab.dialog("Find anything").get_by_text("Copy the short link")).to_be_visible()
    tab.keys("Control+c", says="Copied.")
    assert tab.clipboard() == shop.links[3]["short_url"]
    # What is selected in the field is copied as anywhere.
    tab.keys("Control+a", "Control+c")
    assert tab.clipboard() == "terms"


def test_it_does_what_the_page_can_do(tabs: Tabs, shop: Account, input_device: str) -> None:
    tab = open_palette(tabs, shop, "links")
    # What is done to a row needs one.
    assert set(options(tab, "On this page")) == {"Create a link", "Bulk create", "Search", "Select all rows, then all matches"}
    tab.write(field(tab), "create a l")
    take(tab, "Create a link")
    expect(tab.dialog("New link").get_by_label("Destination", exact=True)).to_be_focused()
    tab.keys("Escape")

    tab.keys("j")
    row = tab.links.first.get_by_role("link")
    expect(row).to_be_focused()
    tab.keys("Control+k", shows=option(tab, "QR code q"))
    assert {"Copy", "QR code", "Edit", "Select"} <= set(options(tab, "On this page"))
    tab.write(field(tab), "qr")
    take(tab, "QR code")
    expect(tab.dialog("QR code")).to_be_visible()
    tab.keys("Escape", focuses=row)


def test_a_link_of_the_page_is_copied(tabs: Tabs, shop: Account, input_device: str) -> None:
    tab = open_palette(tabs, shop, f"links/{shop.links[0]['short_code']}")
    take(tab, "Copy short URL")
    tab.says("Copied.")
    assert tab.clipboard() == shop.links[0]["short_url"]


def test_it_leads_to_another_workspace(tabs: Tabs, shop: Account, input_device: str) -> None:
    shop.call("POST", "/api/workspaces", {"name": "Côté jardin"})
    mine = shop.call("GET", "/api/me/workspaces")["workspaces"]
    tab = open_palette(tabs, shop, "links", answers=only_with(shop, {"**/api/me/workspaces": {"workspaces": [*mine, paused_workspace()]}}))
    assert options(tab, "Workspaces") == ["Côté jardin", "Harbour Lamps", "New workspace"]
    tab.write(field(tab), "harbour")
    expect(option(tab, re.compile("Harbour Lamps"))).to_be_disabled()
    tab.keys("Enter", focuses=field(tab))
    # The one where one is isn't there, and accents make no difference.
    tab.write(field(tab), "cote")
    take(tab, "Côté jardin")
    tab.says("Switched to Côté jardin.")


def test_its_keys_are_those_of_the_system(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open_new(shop)
    tab.page.add_init_script("Object.defineProperty(navigator, 'platform', { value: 'MacIntel' })")
    tab.open("links")
    tab.keys("Control+k", "Meta+Shift+k")
    tab.settled()
    expect(field(tab)).to_have_count(0)
    tab.keys("Meta+k", focuses=field(tab))
    tab.keys("Meta+k", lacks=field(tab))
    tab.keys("?")
    expect(tab.dialog("Keyboard shortcuts")).to_contain_text("⌘ K Find anything")


def test_it_opens_from_fields_and_over_what_needs_no_answer(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    search = tab.page.get_by_label("Search links")
    search.focus()
    tab.keys("Control+k", focuses=field(tab))
    tab.keys("Escape", focuses=search)
    tab.keys("Escape")

    tab.keys("?")
    expect(tab.dialog("Keyboard shortcuts")).to_contain_text("Ctrl K Find anything")
    tab.keys("Control+k", focuses=field(tab), lacks=tab.dialog("Keyboard shortcuts"))
    tab.keys("Control+k", lacks=field(tab))

    # What was typed there would be lost.
    tab.keys("c", shows=tab.dialog("New link"))
    tab.keys("Control+k")
    tab.settled()
    expect(field(tab)).to_have_count(0)
    expect(tab.dialog("New link")).to_be_visible()


def test_it_takes_the_very_next_key_and_what_is_typed_before_loading(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open_new(shop, "links")
    held = tab.hold(FILE)
    # Otherwise the next key would be the page's, and `a` archives a link.
    focused = tab.page.evaluate(
        """async () => {
          document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }));
          await Promise.resolve();
          return document.activeElement.getAttribute('aria-label');
        }"""
    )
    assert focused == "Find anything"
    tab.page.keyboard.type("setti")
    expect(field(tab)).to_have_value("setti")
    held.let_go()
    expect(option(tab, "Settings")).to_be_visible()
    tab.keys("Enter", heading="Settings")


def test_who_is_in_no_workspace_finds_pages_and_workspaces(tabs: Tabs, account: Account, input_device: str) -> None:
    tab = tabs.open(account, "links", answers=in_no_workspace(account.email))
    urls = tab.requests(r"/api/links\?")
    show_palette(tab, account)
    expect(option(tab, "Account")).to_be_visible()
    groups = tab.dialog("Find anything").get_by_role("group")
    assert [group.get_attribute("aria-label") for group in groups.all()] == ["Pages", "Workspaces"]
    assert options(tab, "Pages") == ["Workspaces", "Account"]
    assert options(tab, "Workspaces") == ["Harbour Lamps"]
    tab.write(field(tab), "acc")
    expect(said(tab)).to_have_text("5 results")
    take(tab, "Account")
    expect(tab.heading("Account")).to_be_visible()
    tab.settled()
    assert urls == []


def test_on_a_phone_it_fills_the_screen_for_fingers(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open_touched(shop, "links", 360, 740)
    tab.button("More", tab.page.get_by_role("navigation")).tap()
    tab.page.get_by_role("menuitem", name=re.compile("Find anything")).tap()
    expect(option(tab, re.compile("^Overview"))).to_be_visible()
    tab.page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => null)")
    box = tab.dialog("Find anything").bounding_box() or {}
    assert {side: round(length) for side, length in box.items()} == {"x": 0, "y": 0, "width": 360, "height": 740}
    low = [each.inner_text() for each in tab.page.get_by_role("option").all() if (each.bounding_box() or {"height": 0})["height"] < 44]
    assert low == []
    option(tab, "Overview").tap()
    expect(tab.heading("Overview")).to_be_visible()
