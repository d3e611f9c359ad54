"""The list of links: making them, finding them, and acting on one or on many."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from support.answers import answer_links, made_up_links
from support.api import Account
from support.hand import Hand, Keyboard
from support.tab import Tab, Tabs, from_nowhere


def rows(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Links").get_by_role("listitem")


@pytest.fixture
def shop(account: Account) -> Account:
    """Somebody with three links."""
    account.shorten("https://shop.example.com/winter", title="Winter sale", tags=["sale"])
    account.shorten("https://shop.example.com/spring", title="Spring sale", tags=["sale", "spring"])
    account.shorten("https://example.com/terms", title="Terms")
    account.wait_for("/api/links", lambda answer: len(answer["links"]) == 3)
    return account


def test_a_pasted_url_becomes_a_link(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    use = Keyboard(tab)
    field = tab.page.get_by_label("Paste a long URL")
    use.write(field, "not a url")
    use.press(tab.button("Shorten"))
    expect(tab.page.get_by_role("alert")).to_contain_text("Paste an address that begins with http")
    expect(field).to_have_value("not a url")

    use.write(field, "example.com/a/long/path")
    tab.page.keyboard.press("Enter")
    tab.says("Link created. Copied.")
    expect(rows(tab)).to_have_count(1)
    expect(field).to_have_value("")

    use.write(field, "https://example.com/a/long/path")
    tab.page.keyboard.press("Enter")
    tab.says("You already had this one. Copied.")
    expect(rows(tab)).to_have_count(1)


# The connection of somebody far away. Answers that a test makes up take as long.
FAR_AWAY = """
() => {
  const near = window.fetch;
  window.fetch = async (...request) => {
    await new Promise((done) => setTimeout(done, 900));
    return near(...request);
  };
}
"""


def test_no_url_is_lost_when_the_next_is_pasted_before_the_answer(tabs: Tabs, account: Account) -> None:
    urls = [f"https://example.com/pasted/{number}" for number in range(13)]
    tab = tabs.open(account, "links")
    tab.settled()
    tab.page.evaluate(FAR_AWAY)
    use = Keyboard(tab)
    field = tab.page.get_by_label("Paste a long URL")
    for url in urls:
        use.write(field, url)
        tab.page.keyboard.press("Enter")
        expect(field).to_have_value("")
    expect(tab.page.get_by_role("status").filter(has_text=re.compile(r"^Making \d+ links …$"))).to_be_attached()
    # From one address, the local system takes ten links a minute.
    expect(rows(tab).nth(4)).to_be_attached()
    tab.context.set_extra_http_headers(from_nowhere())
    expect(rows(tab)).to_have_count(13, timeout=60_000)
    made = account.call("GET", "/api/links?per_page=100")["links"]
    # In the order in which they were pasted, the newest first.
    assert [link["original_url"] for link in made] == urls[::-1]


def test_what_is_typed_while_a_link_is_made_stays(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    use = Keyboard(tab)
    field = tab.page.get_by_label("Paste a long URL")
    held = tab.hold("**/api/shorten")
    use.write(field, "https://example.com/first")
    tab.page.keyboard.press("Enter")
    use.write(field, "https://example.com/sec")
    held.let_go()
    tab.says("Link created. Copied.")
    expect(field).to_have_value("https://example.com/sec")
    # Also while another page is looked at.
    use.press(tab.page.get_by_role("link", name="Members"))
    expect(tab.heading("Members")).to_be_visible()
    use.press(tab.page.get_by_role("link", name="Links", exact=True))
    expect(field).to_have_value("https://example.com/sec")


def test_a_refused_url_stays_in_sight_while_the_next_is_typed(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    tab.settled()
    tab.page.evaluate(FAR_AWAY)
    use = Keyboard(tab)
    tab.fails("**/api/shorten", 429, "rate_limited", headers={"retry-after": "1"})
    field = tab.page.get_by_label("Paste a long URL")
    use.write(field, "https://example.com/first")
    tab.page.keyboard.press("Enter")
    use.write(field, "https://example.com/second")
    refused = tab.page.get_by_role("alert")
    expect(refused).to_contain_text("https://example.com/first That was too much at once.")
    expect(field).to_have_value("https://example.com/second")

    tab.recovers("**/api/shorten")
    expect(tab.button("Try again", refused)).to_be_enabled()
    use.press(tab.button("Try again", refused))
    use.write(field, "https://example.com/third")
    tab.page.keyboard.press("Enter")
    expect(rows(tab)).to_have_count(2)
    expect(refused).to_have_count(0)
    made = account.call("GET", "/api/links")["links"]
    assert [link["original_url"] for link in made] == ["https://example.com/third", "https://example.com/first"]


def test_a_url_that_is_pasted_anywhere_begins_a_link(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    use = Keyboard(tab)
    expect(rows(tab)).to_have_count(3)
    copy(tab, "https://example.com/pasted")
    use.press(rows(tab).first.get_by_role("checkbox"))
    tab.page.keyboard.press("ControlOrMeta+v")
    field = tab.page.get_by_label("Paste a long URL")
    expect(field).to_have_value("https://example.com/pasted")
    expect(field).to_be_focused()
    tab.page.keyboard.press("Enter")
    tab.says("Link created. Copied.")
    expect(rows(tab)).to_have_count(4)

    # What is pasted into a field stays there, and what is no URL begins nothing.
    copy(tab, "https://example.com/sought")
    search = tab.page.get_by_label("Search links")
    use.write(search, "")
    tab.page.keyboard.press("ControlOrMeta+v")
    expect(search).to_have_value("https://example.com/sought")
    expect(rows(tab)).to_have_count(0)
    use.write(search, "")
    expect(rows(tab)).to_have_count(4)
    copy(tab, "no url")
    use.press(rows(tab).first.get_by_role("checkbox"))
    tab.page.keyboard.press("ControlOrMeta+v")
    expect(field).to_have_value("")


def copy(tab: Tab, text: str) -> None:
    tab.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)


def test_a_comma_ends_a_tag_and_what_was_typed_last_is_one(tabs: Tabs, account: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(account, "links")
    use = hand(tab)
    use.press(tab.button("Options"))
    form = tab.dialog("New link")
    use.write(form.get_by_label("Target", exact=True), "https://example.com/tagged")
    tags = form.get_by_role("combobox", name="Tags")
    use.write(tags, "spring, Sale,spring,last")
    expect(form.get_by_role("button", name="Remove the tag")).to_have_count(2)
    expect(tags).to_have_value("last")
    tab.page.keyboard.press("ControlOrMeta+Enter")
    tab.says("Link created. Copied.")
    assert account.call("GET", "/api/links")["links"][0]["tags"] == ["spring", "Sale", "last"]


def test_a_short_link_is_opened_beside_the_list(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    use = Keyboard(tab)
    expect(rows(tab)).to_have_count(3)
    with tab.context.expect_page() as opened:
        use.pick(rows(tab).first.get_by_role("button", name="More"), "Open")
    opened.value.close()
    shop.wait_for_clicks(shop.links[0]["short_code"], 1)


def test_tags_and_actions_share_a_row_without_room_to_spare(tabs: Tabs, shop: Account, hand: Callable[[Tab], Hand], subtests: pytest.Subtests) -> None:
    for width in (768, 1279):
        with subtests.test(width=width):
            tab = tabs.open(shop, "links", width=width)
            use = hand(tab)
            row = rows(tab).nth(1)
            actions = row.locator(".link-actions")
            expect(actions).to_have_css("opacity", "0")
            assert right_of(row) - right_of(row.locator(".link-age")) < 16
            tag = row.get_by_role("button", name="Only links with the tag spring")
            expect(tag).to_be_visible()

            if isinstance(use, Keyboard):
                use.reach(row.get_by_role("link"))
            else:
                row.hover()
            expect(actions).to_have_css("opacity", "1")
            use.press(tag)
            expect(rows(tab)).to_have_count(1)


def right_of(part: Locator) -> float:
    box = part.bounding_box()
    assert box
    return box["x"] + box["width"]


# Whether a finger hits it that is 21 pixels beside its middle.
HIT = """
(element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const beside = [[0, -21], [0, 21], [-21, 0], [21, 0]].map(([x, y]) => document.elementFromPoint((left + right) / 2 + x, (top + bottom) / 2 + y));
  return beside.every((one) => element.contains(one));
}
"""


def test_fingers_hit_what_is_on_the_page(tabs: Tabs, shop: Account, subtests: pytest.Subtests) -> None:
    for width in (390, 834, 1366):
        with subtests.test(width=width):
            context = tabs.context(width=width, height=900, has_touch=True, is_mobile=True)
            context.add_init_script(tabs.entering(shop.kept))
            tab = tabs.keep(Tab(context, shop.api)).open("links?tag=spring")
            expect(rows(tab)).to_have_count(1)
            tab.settled()
            row = rows(tab).first
            sort = tab.button(re.compile("^Order:"))
            for target in [
                tab.button("Created"),
                tab.button("spring: leave out links with this tag"),
                tab.button("No longer only the tag spring"),
                tab.button("Clear"),
                sort,
                row.get_by_role("button", name=re.compile(r"^Copy \w+$")),
                row.get_by_role("button", name="More"),
                *row.get_by_role("button", name=re.compile("^Only links with the tag")).all(),
            ]:
                if target.is_visible():
                    assert target.evaluate(HIT), target
            row.get_by_role("button", name=re.compile(r"^Copy \w+$")).tap()
            tab.says("Copied.")
            sort.tap()
            item = tab.page.get_by_role("menuitemradio", name="Oldest first")
            assert item.evaluate(HIT)
            item.tap()
            assert tab.view() == "links?tag=spring&sort=oldest"
            tab.assert_not_sideways()


def test_a_code_that_is_too_long_is_refused_in_words(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    use = Keyboard(tab)
    use.press(tab.button("Options"))
    form = tab.dialog("New link")
    use.write(form.get_by_label("Target", exact=True), "https://example.com/sale")
    code = form.get_by_label("Code")
    copy(tab, "spring-sale-2026-for-all")
    use.write(code, "")
    tab.page.keyboard.press("ControlOrMeta+v")
    expect(code).to_have_value("spring-sale-2026-for-all")
    words = "This has 24 characters; a code has 4 to 20."
    expect(code).to_have_accessible_description(words)
    use.press(tab.button("Create link", form))
    expect(code).to_have_attribute("aria-invalid", "true")
    expect(code).to_have_accessible_description(words)
    assert account.call("GET", "/api/links")["links"] == []


def test_a_title_that_is_too_long_is_refused_in_words_and_kept(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links", refused=[400])
    use = Keyboard(tab)
    use.press(tab.button("Options"))
    form = tab.dialog("New link")
    use.write(form.get_by_label("Target", exact=True), "https://example.com/sale")
    title = form.get_by_label("Title")
    copy(tab, "a" * 501)
    use.write(title, "")
    tab.page.keyboard.press("ControlOrMeta+v")
    use.press(tab.button("Create link", form))
    expect(title).to_have_attribute("aria-invalid", "true")
    expect(title).to_have_accessible_description(re.compile("500 characters"))
    expect(title).to_have_value("a" * 501)
    assert account.call("GET", "/api/links")["links"] == []


def test_a_new_link_is_taken_back(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    use = Keyboard(tab)
    use.write(tab.page.get_by_label("Paste a long URL"), "https://example.com/oops")
    tab.page.keyboard.press("Enter")
    use.press(tab.button("Undo"))
    tab.says("The link is gone.")
    expect(rows(tab)).to_have_count(0)


def test_a_link_is_made_with_everything_and_changed(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    use = Keyboard(tab)
    use.press(tab.button("Options"))
    form = tab.dialog("New link")
    code = f"t{account.email[4:12]}"
    use.write(form.get_by_label("Target", exact=True), "https://shop.example.com/sale?page=2#top")
    use.write(form.get_by_label("Code"), code)
    expect(form.get_by_text("This code is free.")).to_be_visible()
    use.write(form.get_by_label("Title"), "Spring sale")
    use.write(form.get_by_role("combobox", name="Tags"), "spring")
    tab.page.keyboard.press("Enter")
    use.press(form.get_by_role("button", name="30 days"))
    use.press(form.locator("summary", has_text="Campaign"))
    use.write(form.get_by_label("Source", exact=True), "newsletter")
    expect(form.get_by_label("Target", exact=True)).to_have_value("https://shop.example.com/sale?page=2&utm_source=newsletter#top")
    use.press(form.get_by_label("Watch the target"))
    use.press(tab.button("Create link", form))
    tab.says("Link created. Copied.")
    expect(form).to_have_count(0)

    made = account.call("GET", f"/api/links/{code}")
    assert made["original_url"] == "https://shop.example.com/sale?page=2&utm_source=newsletter#top"
    assert (made["title"], made["tags"], made["watch"]) == ("Spring sale", ["spring"], True)
    assert made["expires_at"]

    use.press(rows(tab).first.get_by_role("button", name="Edit"))
    form = tab.dialog(f"Edit {code}")
    use.write(form.get_by_label("Title"), "Summer sale")
    use.press(tab.button("Save", form))
    tab.says("Saved.")
    expect(rows(tab).get_by_text("Summer sale")).to_be_visible()
    assert account.call("GET", f"/api/links/{code}")["title"] == "Summer sale"


def test_several_mistakes_are_summed_up_and_what_was_typed_stays(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    tab.settled()
    tab.page.keyboard.press("c")
    form = tab.dialog("New link")
    form.get_by_label("Target", exact=True).fill("nonsense")
    form.get_by_label("Code").fill("a-b")
    tab.page.keyboard.press("ControlOrMeta+Enter")
    summary = form.locator(".form-summary")
    expect(summary).to_be_focused()
    expect(summary.get_by_role("listitem")).to_have_count(2)
    expect(form.get_by_label("Target", exact=True)).to_have_value("nonsense")

    tab.page.keyboard.press("Escape")
    question = tab.dialog("Close without saving?")
    tab.button("Keep editing", question).click()
    expect(form.get_by_label("Code")).to_have_value("a-b")


def test_what_others_have_made_is_read_when_one_comes_back(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    expect(rows(tab)).to_have_count(3)
    shop.shorten("https://shop.example.com/summer", title="Summer sale")
    tab.come_back()
    expect(rows(tab).first).to_contain_text("Summer sale")
    expect(rows(tab)).to_have_count(4)


def test_rows_that_were_loaded_stay_when_one_comes_back(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account")
    tab.settled()
    *links, newest = made_up_links(201)
    answer_links(tab, links)
    tab.page.evaluate("location.hash = '#/links'")
    tab.button("Load more").click()
    expect(tab.page.get_by_text("150 of 200")).to_be_visible()
    links.insert(0, newest)
    tab.come_back()
    expect(tab.page.get_by_text("151 of 201")).to_be_visible()


def test_one_link_is_no_links(tabs: Tabs, account: Account) -> None:
    account.shorten("https://example.com/only")
    account.wait_for("/api/links", lambda answer: len(answer["links"]) == 1)
    tab = tabs.open(account, "links")
    expect(tab.page.get_by_role("status").filter(has_text=re.compile("^1 link$"))).to_be_attached()


def test_nothing_is_beside_a_drawer_and_nothing_moves_behind_it(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    expect(rows(tab)).to_have_count(3)
    before = rows(tab).first.bounding_box()
    Keyboard(tab).press(tab.button("Options"))
    expect(tab.dialog("New link")).to_be_visible()
    tab.page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => null)")
    right = tab.dialog("New link").evaluate("(drawer) => drawer.getBoundingClientRect().right")
    assert right == tab.page.evaluate("innerWidth")
    assert rows(tab).first.bounding_box() == before


def test_links_are_found_by_word_tag_and_status(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    use = Keyboard(tab)
    expect(rows(tab)).to_have_count(3)

    use.write(tab.page.get_by_label("Search links"), "winter")
    expect(rows(tab)).to_have_count(1)
    assert tab.view() == "links?q=winter"
    use.press(tab.button("Clear"))
    expect(rows(tab)).to_have_count(3)

    use.press(rows(tab).get_by_role("button", name="Only links with the tag sale").first)
    expect(rows(tab)).to_have_count(2)
    use.press(tab.button("No longer only the tag sale"))
    expect(rows(tab)).to_have_count(3)

    use.pick(tab.button(re.compile("^Order:")), "Oldest first")
    expect(rows(tab).first).to_contain_text("Winter sale")
    assert tab.view() == "links?sort=oldest"


def test_links_are_found_by_any_of_several_tags_and_without_others(tabs: Tabs, shop: Account, hand: Callable[[Tab], Hand]) -> None:
    shop.shorten("https://shop.example.com/blog", title="Blog", tags=["blog"])
    shop.wait_for("/api/tags", lambda answer: {tag["tag"] for tag in answer["tags"]} == {"blog", "sale", "spring"})
    tab = tabs.open(shop, "links")
    use = hand(tab)
    expect(rows(tab)).to_have_count(4)

    use.pick(tab.button("Tag"), "sale")
    expect(rows(tab)).to_have_count(2)
    use.pick(tab.button("Tag"), "blog")
    tab.page.get_by_text("No link matches these filters.").wait_for()
    use.pick(tab.button("All of the tags"), "Links with any of the tags")
    expect(rows(tab)).to_have_count(3)
    assert tab.view() == "links?tag=sale&tag=blog&tags=any"

    use.pick(tab.button("Tag"), "spring")
    out = tab.button("spring: leave out links with this tag")
    use.press(out)
    expect(rows(tab)).to_have_count(2)
    expect(rows(tab).get_by_role("link", name="Spring sale")).to_have_count(0)
    back = tab.button("not spring: show only links with this tag")
    expect(back).to_be_focused()
    expect(back).to_have_text(re.compile(r"^\s*not spring$"))
    assert tab.view() == "links?tag=sale&tag=blog&tags=any&not=spring"
    tab.page.reload()
    expect(rows(tab)).to_have_count(2)

    use.press(tab.button("No longer only the tag sale"))
    use.press(tab.button("No longer only the tag blog"))
    expect(rows(tab)).to_have_count(3)
    use.press(tab.button("No longer without the tag spring"))
    expect(rows(tab)).to_have_count(4)
    use.press(rows(tab).get_by_role("button", name="Only links with the tag spring"))
    expect(rows(tab)).to_have_count(1)
    use.press(tab.button("Clear"))
    assert tab.view() == "links"


def test_links_are_sorted_by_their_last_click(tabs: Tabs, shop: Account) -> None:
    # The newest link is never followed, and the oldest is followed last.
    _, spring, winter = (link["short_code"] for link in shop.links)
    for code in [spring, winter]:
        shop.api.click(code)
        shop.wait_for_clicks(code, 1)
    shop.wait_for("/api/links?sort=last_click", lambda answer: [link["short_code"] for link in answer["links"]][:2] == [winter, spring])
    tab = tabs.open(shop, "links")
    use = Keyboard(tab)
    expect(rows(tab).first).to_contain_text("Terms")

    use.pick(tab.button(re.compile("^Order:")), "Last click")
    expect(rows(tab).first).to_contain_text("Winter sale")
    expect(rows(tab).nth(1)).to_contain_text("Spring sale")
    expect(rows(tab).nth(2)).to_contain_text("Terms")
    assert tab.view() == "links?sort=last_click"
    tab.page.reload()
    expect(rows(tab).first).to_contain_text("Winter sale")
    expect(tab.button(re.compile("^Order:"))).to_contain_text("Last click")


def test_the_address_is_the_view(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links?q=sale&tag=spring&sort=oldest")
    expect(rows(tab)).to_have_count(1)
    expect(tab.page.get_by_label("Search links")).to_have_value("sale")
    tab.page.reload()
    expect(rows(tab)).to_have_count(1)
    rows(tab).get_by_role("link", name="Spring sale").click()
    expect(tab.page.get_by_role("link", name="shop.example.com/spring")).to_be_visible()
    tab.page.go_back()
    expect(rows(tab)).to_have_count(1)
    assert tab.view() == "links?q=sale&tag=spring&sort=oldest"


def select(tab: Tab, use: Hand, *numbers: int) -> Locator:
    """Selects these rows. The bar that appears."""
    for number in numbers:
        use.press(rows(tab).nth(number).get_by_role("checkbox"))
    bar = tab.page.get_by_role("region", name="Selected links")
    expect(bar).to_contain_text(f"{len(numbers)} link{'s' * (len(numbers) > 1)} selected")
    return bar


def test_many_links_are_switched_off_and_deleted(tabs: Tabs, shop: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(shop, "links")
    use = hand(tab)
    bar = select(tab, use, 0, 1)
    expect(tab.button("Switch on", bar)).to_have_count(0)
    use.press(tab.button("Switch off", bar))
    tab.says("2 links switched off.")
    expect(bar).to_have_count(0)
    expect(rows(tab).filter(has_text="Switched off")).to_have_count(2)

    # Of all three, two can be switched on and one off.
    bar = select(tab, use, 0, 1, 2)
    use.press(tab.button("Switch on", bar))
    tab.says("2 links switched on.")
    expect(rows(tab).filter(has_text="Switched off")).to_have_count(0)
    # Those that were switched off before, and no others.
    use.press(tab.button("Undo").last)
    tab.says("Undone for 2 links.")
    assert [link["is_active"] for link in shop.call("GET", "/api/links")["links"]] == [False, False, True]

    bar = select(tab, use, 0)
    use.press(tab.button("Delete", bar))
    use.press(tab.button("Delete 1", tab.dialog("Delete 1 link?")))
    tab.says("1 link deleted.")
    expect(rows(tab).filter(has_text="Deleted")).to_have_count(1)
    stored = shop.call("GET", "/api/links?status=all")["links"]
    assert sorted(link["status"] for link in stored) == ["active", "deleted", "inactive"]

    tab.page.reload()
    expect(rows(tab)).to_have_count(2)
    # The chip is offered once the overview counts deleted links, which may take a minute.
    tab.open("links?status=deleted")
    expect(tab.button(re.compile("^Deleted"))).to_have_attribute("aria-pressed", "true")
    expect(rows(tab)).to_have_count(1)


def tags_of(shop: Account) -> list[list[str]]:
    """Those of each link, the newest first."""
    return [link["tags"] for link in shop.call("GET", "/api/links")["links"]]


def test_many_links_get_tags_and_lose_others_and_have_them_back(tabs: Tabs, shop: Account, hand: Callable[[Tab], Hand]) -> None:
    before = [[], ["sale", "spring"], ["sale"]]
    assert tags_of(shop) == before
    shop.wait_for("/api/tags", lambda answer: {tag["tag"] for tag in answer["tags"]} == {"sale", "spring"})
    tab = tabs.open(shop, "links")
    use = hand(tab)
    use.press(tab.button("Tags", select(tab, use, 0, 1, 2)))
    form = tab.dialog("Tags of 3 links")
    expect(tab.button("Change 3 links", form)).to_be_disabled()
    # What others have added since the list was read is kept.
    theirs = shop.links[0]["short_code"]
    shop.call("PATCH", f"/api/links/{theirs}", {"tags": ["theirs"]})
    add = form.get_by_role("combobox", name="Add")
    use.write(add, "spr")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    use.write(add, "2026,")
    use.write(form.get_by_role("combobox", name="Remove"), "SALE,")
    use.press(tab.button("Change 3 links", form))
    tab.says("Tags of 3 links changed.")
    after = [["theirs", "spring", "2026"], ["spring", "2026"], ["spring", "2026"]]
    assert tags_of(shop) == after
    expect(rows(tab).get_by_role("button", name="Only links with the tag spring")).to_have_count(3)

    # Also what they add before that is taken back.
    shop.call("PATCH", f"/api/links/{theirs}", {"tags": [*after[0], "late"]})
    use.press(tab.button("Undo"))
    tab.says("Undone for 3 links.")
    assert [sorted(tags) for tags in tags_of(shop)] == [["late", "theirs"], *before[1:]]
    expect(rows(tab).get_by_role("button", name="Only links with the tag sale")).to_have_count(2)


def test_many_links_are_archived_and_brought_back(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    use = Keyboard(tab)
    use.press(tab.button("Archive", select(tab, use, 0, 1)))
    tab.says("2 links archived.")
    expect(rows(tab)).to_have_count(1)
    expect(tab.page.get_by_text("1 of 1")).to_be_visible()
    use.press(tab.button("Undo"))
    tab.says("Undone for 2 links.")
    # Where they were.
    expect(rows(tab).nth(0)).to_contain_text("Terms")
    expect(rows(tab).nth(1)).to_contain_text("Spring sale")
    expect(rows(tab).nth(2)).to_contain_text("Winter sale")

    use.press(tab.button("Archive", select(tab, use, 0, 1, 2)))
    tab.says("3 links archived.")
    expect(tab.page.get_by_text("All links are archived.")).to_be_visible()
    tab.page.reload()
    use.press(tab.button("Show 3 archived links, too"))
    assert tab.view() == "links?archived=all"
    expect(rows(tab).filter(has_text="Archived")).to_have_count(3)

    bar = select(tab, use, 1, 2)
    expect(tab.button("Archive", bar)).to_have_count(0)
    use.press(tab.button("Bring back", bar))
    tab.says("2 links brought back.")
    expect(rows(tab).filter(has_text="Archived")).to_have_count(1)
    bar = select(tab, use, 0, 1)
    expect(tab.button("Archive", bar)).to_be_visible()
    expect(tab.button("Bring back", bar)).to_be_visible()
    assert [link["archived"] for link in shop.call("GET", "/api/links?archived=all")["links"]] == [True, False, False]


def test_failures_of_a_bulk_change_are_named_and_the_rest_is_undone(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    use = Keyboard(tab)
    expect(rows(tab)).to_have_count(3)
    _, gone, going = (link["short_code"] for link in shop.links)
    shop.call("DELETE", f"/api/links/{gone}")
    use.press(tab.button("Archive", select(tab, use, 0, 1, 2)))
    tab.says(re.compile(f"2 links archived. Not {gone}: "))
    expect(rows(tab)).to_have_count(1)
    expect(rows(tab)).to_contain_text("Spring sale")

    shop.call("DELETE", f"/api/links/{going}")
    use.press(tab.button("Undo"))
    tab.says(re.compile(f"Undone for 1 link. Not {going}: "))
    expect(rows(tab)).to_have_count(2)
    expect(rows(tab).first).to_contain_text("Terms")
    assert [link["archived"] for link in shop.call("GET", "/api/links?archived=all")["links"]] == [False]


def test_a_link_is_archived_from_its_row_and_from_its_page(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    use = Keyboard(tab)
    expect(rows(tab)).to_have_count(3)
    use.pick(rows(tab).nth(1).get_by_role("button", name="More"), "Archive")
    tab.says("Archived. It works as before.")
    expect(rows(tab)).to_have_count(2)
    # The row in its place has the focus now.
    expect(rows(tab).nth(1).get_by_role("link")).to_be_focused()
    use.press(tab.button("Undo"))
    tab.says("Brought back.")
    expect(rows(tab).nth(1)).to_contain_text("Spring sale")

    use.press(rows(tab).nth(1).get_by_role("link"))
    facts = tab.page.locator(".about-meta")
    expect(facts).to_contain_text("Active")
    expect(facts).not_to_contain_text("Archived")
    use.pick(tab.button("More"), "Archive")
    expect(facts).to_contain_text("Archived")
    expect(facts).to_contain_text("Active")
    # It redirects, or else this is refused.
    shop.api.click(shop.links[1]["short_code"])
    tab.open("links?archived=true")
    expect(rows(tab)).to_have_count(1)
    expect(tab.button(re.compile("^Archived"))).to_have_attribute("aria-pressed", "true")
    use.pick(rows(tab).first.get_by_role("button", name="More"), "Bring back")
    tab.says("Brought back.")
    expect(tab.page.get_by_text("No link is archived.")).to_be_visible()
    use.press(tab.button("Show all links"))
    expect(rows(tab)).to_have_count(3)
    assert tab.view() == "links"


def test_archived_links_are_found_when_they_are_asked_for(tabs: Tabs, shop: Account) -> None:
    shop.call("PATCH", f"/api/links/{shop.links[1]['short_code']}", {"archived": True})
    shop.wait_for("/api/overview", lambda answer: answer["links"]["archived"] == 1)
    tab = tabs.open(shop, "links")
    use = Keyboard(tab)
    expect(rows(tab)).to_have_count(2)
    search = tab.page.get_by_label("Search links")
    use.write(search, "sale")
    expect(rows(tab)).to_have_count(1)
    use.press(tab.button("Show 1 archived link, too"))
    expect(rows(tab)).to_have_count(2)
    use.press(tab.button(re.compile("^With archived")))
    assert tab.view() == "links?q=sale"
    use.write(search, "spring")
    expect(tab.page.get_by_text("No link matches these filters, but for archived ones.")).to_be_visible()
    use.press(tab.button("Clear"))

    use.press(tab.button(re.compile("^Archived")))
    assert tab.view() == "links?archived=true"
    expect(rows(tab)).to_have_count(1)
    tab.page.reload()
    expect(rows(tab)).to_contain_text("Spring sale")
    use.press(tab.button(re.compile("^Archived")))
    expect(rows(tab)).to_have_count(2)


def test_a_url_whose_link_is_archived_brings_it_back(tabs: Tabs, shop: Account) -> None:
    code = shop.links[2]["short_code"]
    shop.call("PATCH", f"/api/links/{code}", {"archived": True})
    tab = tabs.open(shop, "links")
    use = Keyboard(tab)
    expect(rows(tab)).to_have_count(2)
    use.write(tab.page.get_by_label("Paste a long URL"), "https://shop.example.com/winter")
    tab.page.keyboard.press("Enter")
    tab.says("You already had this one. It was archived, and is back. Copied.")
    expect(rows(tab)).to_have_count(3)
    expect(rows(tab).first).to_contain_text("Winter sale")
    assert not shop.call("GET", f"/api/links/{code}")["archived"]


def test_the_bar_of_a_selection_has_room_on_a_phone(tabs: Tabs, shop: Account) -> None:
    context = tabs.context(width=360, height=640, has_touch=True, is_mobile=True)
    context.add_init_script(tabs.entering(shop.kept))
    tab = tabs.keep(Tab(context, shop.api)).open("links")
    expect(rows(tab)).to_have_count(3)
    for row in rows(tab).all():
        row.locator(".link-mark").tap()
    bar = tab.page.get_by_role("region", name="Selected links")
    buttons = bar.get_by_role("button")
    expect(buttons).to_have_count(6)
    for button in buttons.all():
        box = button.bounding_box()
        assert box and box["height"] >= 44 and box["width"] >= 44, button
        assert button.evaluate(HIT), button
    # A line that says how many, and one of buttons.
    box = bar.bounding_box()
    assert box and box["height"] <= 120 and 0 <= box["x"] and box["x"] + box["width"] <= 360
    tab.assert_not_sideways()
    tab.button("Archive", bar).tap()
    tab.says("3 links archived.")


def test_a_link_is_switched_off_and_on_again(tabs: Tabs, shop: Account, hand: Callable[[Tab], Hand]) -> None:
    tab = tabs.open(shop, "links")
    use = hand(tab)
    expect(rows(tab)).to_have_count(3)
    use.pick(rows(tab).first.get_by_role("button", name="More"), "Switch off")
    tab.says(re.compile("Switched off"))
    expect(rows(tab).first).to_contain_text("Switched off")
    use.press(tab.button("Undo"))
    tab.says("Switched on.")
    assert shop.call("GET", "/api/links")["links"][0]["status"] == "active"


def test_keys_move_through_the_list_and_act(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    expect(rows(tab)).to_have_count(3)
    tab.settled()
    press = tab.page.keyboard.press
    press("/")
    expect(tab.page.get_by_label("Search links")).to_be_focused()
    press("Escape")
    press("j")
    press("ArrowDown")
    expect(rows(tab).nth(1).get_by_role("link")).to_be_focused()
    press("k")
    expect(rows(tab).nth(0).get_by_role("link")).to_be_focused()
    press("y")
    tab.says("Copied.")
    assert tab.page.evaluate("navigator.clipboard.readText()") == shop.links[0]["short_url"]

    press("x")
    press("j")
    press("j")
    press("Shift+X")
    expect(tab.page.get_by_role("region", name="Selected links")).to_contain_text("3 links selected")
    press("Escape")
    expect(tab.page.get_by_role("region", name="Selected links")).to_have_count(0)

    press("q")
    expect(tab.dialog("QR code")).to_be_visible()
    press("Escape")
    expect(tab.dialog("QR code")).to_have_count(0)
    expect(rows(tab).nth(2).get_by_role("link")).to_be_focused()
    press("a")
    tab.says("Archived. It works as before.")
    expect(rows(tab)).to_have_count(2)
    expect(rows(tab).nth(1).get_by_role("link")).to_be_focused()
    tab.button("Undo").click()
    expect(rows(tab)).to_have_count(3)
    rows(tab).nth(2).get_by_role("link").focus()
    press("e")
    expect(tab.dialog(re.compile("^Edit "))).to_be_visible()
    press("Escape")
    expect(tab.dialog(re.compile("^Edit "))).to_have_count(0)
    expect(rows(tab).nth(2).get_by_role("link")).to_be_focused()
    press("Enter")
    expect(tab.page.get_by_text("Nobody has followed this link yet.")).to_be_visible()

    press("g")
    press("l")
    expect(rows(tab)).to_have_count(3)
    press("?")
    expect(tab.dialog("Keyboard")).to_contain_text("Next link")
