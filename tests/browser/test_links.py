"""The list of links: making them, finding them, and acting on one or on many."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from support.answers import listed, made_up_links
from support.api import Account
from support.input import Keyboard
from support.tab import Tab, Tabs, from_nowhere

BULK = "**/api/links/bulk"
RESOLVE = "**/api/resolve"


def begin_link(tabs: Tabs, account: Account, url: str, **more: Any) -> tuple[Tab, Locator]:
    """The list, with the form of a new link."""
    tab = tabs.open(account, "links", **more)
    form = tab.open_dialog("More options", "New link")
    tab.write(form.get_by_label("Destination", exact=True), url)
    return tab, form


@pytest.fixture
def shop(account: Account) -> Account:
    """Somebody with three links."""
    account.shorten("https://shop.example.com/winter", title="Winter sale", tags=["sale"])
    account.shorten("https://shop.example.com/spring", title="Spring sale", tags=["sale", "spring"])
    account.shorten("https://example.com/terms", title="Terms")
    account.wait_for("/api/links", lambda answer: len(answer["links"]) == 3)
    return account


def test_a_pasted_url_becomes_a_link_and_is_taken_back(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    field = tab.page.get_by_label("Paste a long URL")
    tab.submit("Shorten", {field: "not a url"})
    expect(tab.page.get_by_role("alert")).to_contain_text("Enter a URL that starts with http")
    expect(field).to_have_value("not a url")

    tab.write(field, "example.com/a/long/path", then="Enter", says="Link created. Copied.", links=1)
    expect(field).to_have_value("")

    tab.write(field, "https://example.com/a/long/path", then="Enter", says="You already have this link. Copied.", links=1)

    tab.write(field, "https://example.com/oops", then="Enter", links=2)
    tab.says("2 links created.")
    tab.press(tab.button("Undo"), says="2 links deleted.", links=0)


def test_the_short_link_of_another_shortener_gives_way_to_its_destination(tabs: Tabs, account: Account, input_device: str) -> None:
    tab = tabs.open(account, "links", answers={RESOLVE: {"url": "https://doc.rust-lang.org/std/", "hops": 2, "status": 200}})
    field, offer, undo = tab.page.get_by_label("Paste a long URL"), tab.button("Use its destination instead"), tab.button("Undo")
    tab.write(field, "https://example.com/bit.ly", lacks=offer)
    tab.write(field, "bit.ly/3rust", shows=offer)

    assert tab.sent(RESOLVE, offer) == {"url": "https://bit.ly/3rust"}

    tab.brings(focuses=undo, shows="bit.ly/3rust → doc.rust-lang.org/std")
    expect(field).to_have_value("https://doc.rust-lang.org/std/")
    tab.press(undo, focuses=offer)
    expect(field).to_have_value("bit.ly/3rust")
    tab.press(offer, focuses=undo)
    tab.write(field, "https://doc.rust-lang.org/std/", then="Enter", says="Link created. Copied.", links=1, lacks=undo)


def test_a_form_says_where_a_short_link_leads_or_why_nobody_knows(tabs: Tabs, account: Account) -> None:
    tab, form = begin_link(tabs, account, "https://t.co/x")
    destination, offer = form.get_by_label("Destination", exact=True), tab.button("Use its destination instead", form)
    sentence = "this URL couldn't be followed: page.example took too long to answer"
    with tab.failing(RESOLVE, 422, "url_unreachable", sentence, field="url"):
        tab.press(offer, shows=form.get_by_text("This URL couldn't be followed: page.example took too long to answer."))
    expect(form).to_contain_text("You can paste the destination, or keep the short link.")
    with tab.failing(RESOLVE, 429, "rate_limited", headers={"retry-after": "42"}):
        tab.press(offer, shows=form.get_by_text(re.compile(r"Too many requests. You can try again in \d+ s")))
    tab.answers(RESOLVE, {"url": "https://t.co/x", "hops": 0, "status": 200})
    tab.press(offer, shows=form.get_by_text("It doesn’t redirect."))
    expect(destination).to_have_value("https://t.co/x")

    tab.answers(RESOLVE, {"url": "https://page.example/gone", "hops": 1, "status": 404})
    tab.press(offer, shows=form.get_by_text("This page returned an error (404). Check that it works."))

    expect(destination).to_have_value("https://page.example/gone")
    tab.press(tab.button("Undo", form), focuses=offer)
    expect(destination).to_have_value("https://t.co/x")


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
    tab.page.evaluate(FAR_AWAY)
    field = tab.page.get_by_label("Paste a long URL")
    for url in urls:
        tab.write(field, url, then="Enter")
        expect(field).to_have_value("")
    expect(tab.page.get_by_role("status").filter(has_text=re.compile(r"^Creating \d+ links…$"))).to_be_attached()
    # From one address, the local system takes ten links a minute.
    expect(tab.links.nth(4)).to_be_attached()
    tab.context.set_extra_http_headers(from_nowhere())
    expect(tab.links).to_have_count(13, timeout=60_000)
    made = account.call("GET", "/api/links?per_page=100")["links"]
    # In the order in which they were pasted, the newest first.
    assert [link["original_url"] for link in made] == urls[::-1]

    # What is typed meanwhile stays, also while another page is looked at.
    held = tab.hold("**/api/shorten")
    tab.write(field, "https://example.com/first", then="Enter")
    tab.write(field, "https://example.com/sec")
    held.let_go()
    expect(tab.links).to_have_count(14)
    expect(field).to_have_value("https://example.com/sec")
    tab.follow("Members", "Members")
    tab.press(tab.page.get_by_role("link", name="Links", exact=True))
    expect(field).to_have_value("https://example.com/sec")


def test_a_refused_url_stays_in_sight_while_the_next_is_typed(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    tab.page.evaluate(FAR_AWAY)
    with tab.failing("**/api/shorten", 429, "rate_limited", headers={"retry-after": "1"}):
        field = tab.page.get_by_label("Paste a long URL")
        tab.write(field, "https://example.com/first", then="Enter")
        tab.write(field, "https://example.com/second")
        refused = tab.page.get_by_role("alert")
        expect(refused).to_contain_text("https://example.com/first Too many requests.")
        expect(field).to_have_value("https://example.com/second")
    expect(tab.button("Try again", refused)).to_be_enabled()
    tab.press(tab.button("Try again", refused))
    tab.write(field, "https://example.com/third", then="Enter", links=2, lacks=refused)
    made = account.call("GET", "/api/links")["links"]
    assert [link["original_url"] for link in made] == ["https://example.com/third", "https://example.com/first"]


def test_a_url_that_is_pasted_anywhere_begins_a_link(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links", links=3)
    tab.copy("https://example.com/pasted")
    tab.press(tab.links.first.get_by_role("checkbox"))
    tab.keys("ControlOrMeta+v")
    field = tab.page.get_by_label("Paste a long URL")
    expect(field).to_have_value("https://example.com/pasted")
    expect(field).to_be_focused()
    tab.keys("Enter", says="Link created. Copied.", links=4)

    # What is pasted into a field stays there, and what is no URL begins nothing.
    tab.copy("https://example.com/sought")
    search = tab.page.get_by_label("Search links")
    tab.write(search, "", then="ControlOrMeta+v")
    expect(search).to_have_value("https://example.com/sought")
    expect(tab.links).to_have_count(0)
    tab.write(search, "", links=4)
    tab.copy("no url")
    tab.press(tab.links.first.get_by_role("checkbox"))
    tab.keys("ControlOrMeta+v")
    expect(field).to_have_value("")


def test_a_comma_ends_a_tag_and_what_was_typed_last_is_one(tabs: Tabs, account: Account, input_device: str) -> None:
    tab, form = begin_link(tabs, account, "https://example.com/tagged")
    tags = form.get_by_role("combobox", name="Tags")
    tab.write(tags, "spring, Sale,spring,last", counts=(form.get_by_role("button", name="Remove the tag"), 2))
    expect(tags).to_have_value("last")
    tab.keys("ControlOrMeta+Enter", says="Link created. Copied.")
    assert account.call("GET", "/api/links")["links"][0]["tags"] == ["spring", "Sale", "last"]


def test_tags_and_actions_share_a_row_without_room_to_spare(tabs: Tabs, shop: Account, input_device: str, subtests: pytest.Subtests) -> None:
    for width in (768, 1279):
        with subtests.test(width=width):
            tab = tabs.open(shop, "links", width=width)
            row = tab.links.nth(1)
            actions = row.locator(".link-actions")
            expect(actions).to_have_css("opacity", "0")
            assert right_of(row) - right_of(row.locator(".link-age")) < 16
            tag = row.get_by_role("button", name="Only links with the tag spring")
            expect(tag).to_be_visible()

            if isinstance(tab.input, Keyboard):
                tab.input.reach(row.get_by_role("link"))
            else:
                row.hover()
            expect(actions).to_have_css("opacity", "1")
            tab.press(tag, links=1)


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
            tab = tabs.open_touched(shop, "links?tag=spring", width, 900)
            expect(tab.links).to_have_count(1)
            row = tab.links.first
            sort = tab.button(re.compile("^Sort by:"))
            for target in [
                tab.button("Created"),
                tab.button("spring: exclude links with this tag"),
                tab.button("Remove the tag spring"),
                tab.button("Clear"),
                sort,
                row.get_by_role("button", name=re.compile(r"^Copy \w+$")),
                row.get_by_role("button", name="More"),
                *row.get_by_role("button", name=re.compile("^Show only links with the tag")).all(),
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


def test_mistakes_are_refused_in_words_and_what_was_typed_stays(tabs: Tabs, account: Account) -> None:
    tab, form = begin_link(tabs, account, "https://example.com/sale", refused=[400])

    def paste(field: Locator, text: str) -> None:
        tab.copy(text)
        tab.write(field, "", then="ControlOrMeta+v")
        expect(field).to_have_value(text)

    code, title = form.get_by_label("Custom code"), form.get_by_label(re.compile("^Title"))
    paste(code, "spring-sale-2026-for-all")
    words = "Use 4 to 20 characters. This has 24."
    expect(code).to_have_accessible_description(words)
    tab.press(tab.button("Create link", form))
    expect(code).to_have_attribute("aria-invalid", "true")
    expect(code).to_have_accessible_description(words)
    tab.write(code, "")
    paste(title, "a" * 501)
    tab.press(tab.button("Create link", form))
    expect(title).to_have_attribute("aria-invalid", "true")
    expect(title).to_have_accessible_description(re.compile("500 characters"))
    expect(title).to_have_value("a" * 501)

    # Several mistakes are summed up.
    target, summary = form.get_by_label("Destination", exact=True), form.locator(".form-summary")
    tab.write(target, "nonsense")
    tab.write(code, "a-b", then="ControlOrMeta+Enter", focuses=summary, counts=(summary.get_by_role("listitem"), 2))
    expect(target).to_have_value("nonsense")
    tab.keys("Escape")
    tab.press(tab.button("Keep editing", tab.dialog("Discard changes?")))
    expect(code).to_have_value("a-b")
    assert account.call("GET", "/api/links")["links"] == []


def test_a_link_is_made_with_everything_and_changed(tabs: Tabs, account: Account) -> None:
    tab, form = begin_link(tabs, account, "https://shop.example.com/sale?page=2#top")
    code = f"t{account.email[4:12]}"
    tab.write(form.get_by_label("Custom code"), code, shows=form.get_by_text("Available."))
    tab.write(form.get_by_label(re.compile("^Title")), "Spring sale")
    tab.write(form.get_by_role("combobox", name="Tags"), "spring", then="Enter")
    tab.press(form.get_by_role("button", name="30 days"))
    tab.press(form.locator("summary", has_text="Campaign"))
    tab.write(form.get_by_label("Source", exact=True), "newsletter")
    expect(form.get_by_label("Destination", exact=True)).to_have_value("https://shop.example.com/sale?page=2&utm_source=newsletter#top")
    tab.press(form.get_by_label("Monitor the destination"))
    tab.press(tab.button("Create link", form), says="Link created. Copied.", lacks=form)

    made = account.call("GET", f"/api/links/{code}")
    assert made["original_url"] == "https://shop.example.com/sale?page=2&utm_source=newsletter#top"
    assert (made["title"], made["tags"], made["watch"]) == ("Spring sale", ["spring"], True)
    assert made["expires_at"]

    tab.press(tab.links.first.get_by_role("button", name="Edit"))
    form = tab.dialog(f"Edit {code}")
    tab.submit("Save", {form.get_by_label(re.compile("^Title")): "Summer sale"}, form, says="Saved.", shows=tab.links.get_by_text("Summer sale"))
    assert account.call("GET", f"/api/links/{code}")["title"] == "Summer sale"


def test_an_existing_link_is_monitored_from_its_form(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://shop.example.com/harbour")
    tab = tabs.open(account, "links")
    tab.press(tab.links.first.get_by_role("button", name="Edit"))
    form = tab.dialog(f"Edit {code}")
    box = form.get_by_label("Monitor the destination")
    expect(box).not_to_be_checked()
    tab.press(box)
    with tab.failing(f"**/api/links/{code}", 409, "target_quota_reached", "The workspace has no room for another target.", method="PATCH"):
        tab.press(tab.button("Save", form), shows=form.get_by_role("alert").filter(has_text="reached the limit of monitored URLs"))
    tab.press(tab.button("Save", form), says="Saved.")
    assert account.call("GET", f"/api/links/{code}")["watch"] is True


def test_rows_that_were_loaded_stay_when_one_comes_back(tabs: Tabs, account: Account) -> None:
    *links, newest = made_up_links(201)
    tab = tabs.open(account, "links", answers=listed(links))
    tab.click(tab.button("Load more"), shows="150 of 200")
    links.insert(0, newest)
    tab.come_back(shows="151 of 201")
    tab.page.evaluate("scrollTo(0, 0)")
    expect(tab.links.first).to_contain_text(newest["short_code"])


def test_nothing_is_beside_a_drawer_and_nothing_moves_behind_it(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    before = tab.links.first.bounding_box()
    tab.press(tab.button("More options"), shows=tab.dialog("New link"))
    tab.page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => null)")
    right = tab.dialog("New link").evaluate("(drawer) => drawer.getBoundingClientRect().right")
    assert right == tab.page.evaluate("innerWidth")
    assert tab.links.first.bounding_box() == before


def test_links_are_found_by_word_tag_and_status(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links", links=3)

    tab.write(tab.page.get_by_label("Search links"), "winter", links=1, at="links?q=winter")
    tab.press(tab.button("Clear"), links=3)

    tab.press(tab.links.get_by_role("button", name="Only links with the tag sale").first, links=2)
    tab.press(tab.button("Remove the tag sale"), links=3)

    shop.api.click(shop.links[-1]["short_code"])
    shop.wait_for("/api/links?sort=last_click", lambda answer: answer["links"][0]["title"] == "Winter sale")
    order = tab.button(re.compile("^Sort by:"))
    tab.pick(order, "Last click")
    expect(order).to_contain_text("Last click")
    expect(tab.links.first).to_contain_text("Winter sale")
    assert tab.view() == "links?sort=last_click"
    tab.pick(order, "Oldest first")
    expect(tab.links.first).to_contain_text("Winter sale")
    assert tab.view() == "links?sort=oldest"

    # The address is the view.
    tab.open("links?q=sale&tag=spring&sort=oldest", links=1)
    expect(tab.page.get_by_label("Search links")).to_have_value("sale")
    tab.reload()
    tab.links.get_by_role("link", name="Spring sale").click()
    expect(tab.page.get_by_role("link", name="shop.example.com/spring")).to_be_visible()
    tab.go_back(links=1, at="links?q=sale&tag=spring&sort=oldest", focuses=tab.links.get_by_role("link", name="Spring sale"))


def test_a_row_has_title_short_link_and_destination_and_going_back_returns_to_it(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    links = made_up_links(400)
    links[300] |= {"title": None, "original_url": "https://www.müller.example/a/b?c=d", "short_code": "untitled"}
    for width in (360, 1280):
        with subtests.test(width=width):
            tab = tabs.open(account, "links", width=width, refused=[404], answers=listed(links))
            row = tab.links.filter(has_text="untitled")
            tab.until("() => { scrollTo(0, scrollY + 500); return document.body.textContent.includes('untitled'); }")
            expect(row.get_by_role("link")).to_have_text("/a/b")
            expect(row.locator(".link-where")).to_contain_text(re.compile("untitled leads to .*www.müller.example/a/b"))
            expect(row.locator(".letter")).to_have_text("M")
            expect(row.get_by_role("button", name=re.compile("^Copy"))).to_have_count(1)
            row.locator(".link-where").click()
            tab.brings(heading="untitled", at="links/untitled")
            tab.go_back(focuses=row.get_by_role("link"))


def test_links_are_found_by_any_of_several_tags_and_without_others(tabs: Tabs, shop: Account, input_device: str) -> None:
    shop.shorten("https://shop.example.com/blog", title="Blog", tags=["blog"])
    shop.wait_for("/api/tags", lambda answer: {tag["tag"] for tag in answer["tags"]} == {"blog", "sale", "spring"})
    tab = tabs.open(shop, "links", links=4)

    tab.pick(tab.button("Tag"), "sale", links=2)
    tab.pick(tab.button("Tag"), "blog")
    tab.page.get_by_text("No links match these filters").wait_for()
    tab.pick(tab.button("Match all tags"), "Match any tag", links=3, at="links?tag=sale&tag=blog&tags=any")

    tab.pick(tab.button("Tag"), "spring")
    out = tab.button("spring: exclude links with this tag")
    tab.press(out, links=2, lacks=tab.links.get_by_role("link", name="Spring sale"))
    back = tab.button("not spring: show only links with this tag")
    expect(back).to_be_focused()
    expect(back).to_have_text(re.compile(r"^\s*not spring$"))
    assert tab.view() == "links?tag=sale&tag=blog&tags=any&not=spring"
    tab.reload(links=2)

    tab.press(tab.button("Remove the tag sale"))
    tab.press(tab.button("Remove the tag blog"), links=3)
    tab.press(tab.button("Stop excluding the tag spring"), links=4)
    tab.press(tab.links.get_by_role("button", name="Only links with the tag spring"), links=1)
    tab.press(tab.button("Clear"), at="links")


def select(tab: Tab, *numbers: int) -> Locator:
    """Selects these rows. The bar that appears."""
    for number in numbers:
        tab.press(tab.links.nth(number).get_by_role("checkbox"))
    bar = tab.page.get_by_role("region", name="Selected links")
    expect(bar).to_contain_text(f"{len(numbers)} link{'s' * (len(numbers) > 1)} selected")
    return bar


def test_many_links_are_switched_off_and_deleted(tabs: Tabs, shop: Account, input_device: str) -> None:
    tab = tabs.open(shop, "links")
    bar = select(tab, 0, 1)
    expect(tab.button("Enable", bar)).to_have_count(0)
    tab.press(tab.button("Disable", bar), says="2 links disabled.", lacks=bar)
    expect(tab.links.filter(has_text="Disabled")).to_have_count(2)

    # Of all three, two can be switched on and one off.
    bar = select(tab, 0, 1, 2)
    tab.press(tab.button("Enable", bar), says="2 links enabled.", lacks=tab.links.filter(has_text="Disabled"))
    # Those that were switched off before, and no others.
    tab.press(tab.button("Undo").last, says="Undone for 2 links.")
    assert [link["is_active"] for link in shop.call("GET", "/api/links")["links"]] == [False, False, True]

    bar = select(tab, 0)
    tab.press(tab.button("Delete", bar))
    tab.press(tab.button("Delete 1", tab.dialog("Delete 1 link?")), says="1 link deleted.")
    expect(tab.links.filter(has_text="Deleted")).to_have_count(1)
    stored = shop.call("GET", "/api/links?status=all")["links"]
    assert sorted(link["status"] for link in stored) == ["active", "deleted", "inactive"]
    tab.reload(links=2)


def tags_of(shop: Account) -> list[list[str]]:
    """Those of each link, the newest first."""
    return [link["tags"] for link in shop.call("GET", "/api/links")["links"]]


def test_many_links_get_tags_and_lose_others_and_have_them_back(tabs: Tabs, shop: Account, input_device: str) -> None:
    before = [[], ["sale", "spring"], ["sale"]]
    assert tags_of(shop) == before
    shop.wait_for("/api/tags", lambda answer: {tag["tag"] for tag in answer["tags"]} == {"sale", "spring"})
    tab = tabs.open(shop, "links")
    tab.press(tab.button("Tags", select(tab, 0, 1, 2)))
    form = tab.dialog("Tags for 3 links")
    expect(tab.button("Change 3 links", form)).to_be_disabled()
    # What others have added since the list was read is kept.
    theirs = shop.links[0]["short_code"]
    shop.call("PATCH", f"/api/links/{theirs}", {"tags": ["theirs"]})
    add = form.get_by_role("combobox", name="Add")
    tab.write(add, "spr", then="ArrowDown")
    tab.keys("Enter")
    tab.write(add, "2026,")
    tab.submit("Change 3 links", {form.get_by_role("combobox", name="Remove"): "SALE,"}, form, says="Tags for 3 links changed.")
    after = [["theirs", "spring", "2026"], ["spring", "2026"], ["spring", "2026"]]
    assert tags_of(shop) == after
    expect(tab.links.get_by_role("button", name="Only links with the tag spring")).to_have_count(3)

    # Also what they add before that is taken back.
    shop.call("PATCH", f"/api/links/{theirs}", {"tags": [*after[0], "late"]})
    tab.press(tab.button("Undo"), says="Undone for 3 links.")
    assert [sorted(tags) for tags in tags_of(shop)] == [["late", "theirs"], *before[1:]]
    expect(tab.links.get_by_role("button", name="Only links with the tag sale")).to_have_count(2)


def expiries_of(shop: Account) -> list[str | None]:
    return [link["expires_at"] and link["expires_at"][:4] for link in shop.call("GET", "/api/links")["links"]]


def test_many_links_get_an_expiry_or_are_deleted_with_statistics(tabs: Tabs, shop: Account) -> None:
    shop.call("PATCH", f"/api/links/{shop.links[1]['short_code']}", {"expires_at": "2099-01-01T00:00:00Z"})
    tab = tabs.open(shop, "links", links=3)
    tab.pick(tab.button("More for the selected links", select(tab, 0, 1, 2)), "Set expiration")
    form = tab.dialog("Expiration of 3 links")
    tab.press(form.get_by_role("button", name="30 days"))
    assert tab.sent(BULK, tab.button("Change 3 links", form))["codes"] == [link["short_code"] for link in shop.links]
    tab.says(re.compile("^3 links set to expire "))
    assert None not in expiries_of(shop) and "2099" not in expiries_of(shop)
    tab.press(tab.button("Undo"), says="Undone for 3 links.")
    assert expiries_of(shop) == [None, "2099", None]

    tab.pick(tab.button("More for the selected links", select(tab, 0, 2)), "Delete with statistics")
    tab.press(tab.button("Delete 2", tab.dialog("Delete 2 links with statistics?")), says="2 links deleted with statistics.")
    expect(tab.links).to_have_count(1)
    expect(tab.links).to_contain_text("Spring sale")
    shop.wait_for("/api/links?status=all", lambda answer: [link["title"] for link in answer["links"]] == ["Spring sale"])


def test_a_selection_that_comes_too_soon_waits_and_goes_on(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links", links=3)
    with tab.failing(BULK, 429, "rate_limited", headers={"retry-after": "2"}):
        bar = select(tab, 0, 1)
        tab.press(tab.button("Archive", bar))
        expect(bar).to_contain_text("0 of 2… continues in")
        expect(tab.button("Tags", bar)).to_be_disabled()
    tab.says("2 links archived.")
    expect(tab.links).to_have_count(1)


def test_many_links_are_archived_and_brought_back(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    tab.press(tab.button("Archive", select(tab, 0, 1)), says="2 links archived.", links=1, shows="1 of 1")
    tab.press(tab.button("Undo"), says="Undone for 2 links.")
    # Where they were.
    expect(tab.links.nth(0)).to_contain_text("Terms")
    expect(tab.links.nth(1)).to_contain_text("Spring sale")
    expect(tab.links.nth(2)).to_contain_text("Winter sale")

    tab.press(tab.button("Archive", select(tab, 0, 1, 2)), says="3 links archived.", shows="All links are archived")
    tab.reload()
    tab.press(tab.button("Show 3 archived links"), at="links?archived=all")
    expect(tab.links.filter(has_text="Archived")).to_have_count(3)

    bar = select(tab, 1, 2)
    expect(tab.button("Archive", bar)).to_have_count(0)
    tab.press(tab.button("Unarchive", bar), says="2 links unarchived.", counts=(tab.links.filter(has_text="Archived"), 1))
    bar = select(tab, 0, 1)
    expect(tab.button("Archive", bar)).to_be_visible()
    expect(tab.button("Unarchive", bar)).to_be_visible()
    assert [link["archived"] for link in shop.call("GET", "/api/links?archived=all")["links"]] == [True, False, False]


def test_failures_of_a_bulk_change_are_named_and_the_rest_is_undone(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    _, gone, going = (link["short_code"] for link in shop.links)
    shop.call("DELETE", f"/api/links/{gone}")
    tab.press(tab.button("Archive", select(tab, 0, 1, 2)), says=re.compile(f"2 links archived. Failed: {gone}. "), links=1)
    expect(tab.links).to_contain_text("Spring sale")

    shop.call("DELETE", f"/api/links/{going}")
    tab.press(tab.button("Undo"), says=re.compile(f"Undone for 1 link. Failed: {going}. "), links=2)
    expect(tab.links.first).to_contain_text("Terms")
    assert [link["archived"] for link in shop.call("GET", "/api/links?archived=all")["links"]] == [False]


def test_a_link_is_archived_from_its_row_and_from_its_page(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    tab.pick(tab.links.nth(1).get_by_role("button", name="More"), "Archive", says="Link archived. It still works.", links=2)
    # The row in its place has the focus now.
    expect(tab.links.nth(1).get_by_role("link")).to_be_focused()
    tab.press(tab.button("Undo"), says="Link unarchived.")
    expect(tab.links.nth(1)).to_contain_text("Spring sale")

    tab.press(tab.links.nth(1).get_by_role("link"))
    facts = tab.page.locator(".about-meta")
    expect(facts).to_contain_text("Active")
    expect(facts).not_to_contain_text("Archived")
    tab.pick(tab.button("More"), "Archive")
    expect(facts).to_contain_text("Archived")
    expect(facts).to_contain_text("Active")
    # It redirects, or else this is refused.
    shop.api.click(shop.links[1]["short_code"])
    tab.open("links?archived=true", links=1)
    expect(tab.button(re.compile("^Archived"))).to_have_attribute("aria-pressed", "true")
    tab.pick(tab.links.first.get_by_role("button", name="More"), "Unarchive", says="Link unarchived.")
    expect(tab.page.get_by_text("No archived links")).to_be_visible()
    tab.press(tab.button("Show all links"), links=3, at="links")


def test_archived_links_are_found_when_asked_for_and_brought_back(tabs: Tabs, shop: Account) -> None:
    shop.call("PATCH", f"/api/links/{shop.links[1]['short_code']}", {"archived": True})
    shop.wait_for("/api/overview", lambda answer: answer["links"]["archived"] == 1)
    tab = tabs.open(shop, "links", links=2)
    search = tab.page.get_by_label("Search links")
    tab.write(search, "sale", links=1)
    tab.press(tab.button("Show 1 archived link"), links=2)
    tab.press(tab.button(re.compile("^Including archived")), at="links?q=sale")
    tab.write(search, "spring", shows="Only archived links match these filters")
    tab.press(tab.button("Clear"))

    tab.press(tab.button(re.compile("^Archived")), at="links?archived=true", links=1)
    tab.reload()
    expect(tab.links).to_contain_text("Spring sale")
    tab.press(tab.button(re.compile("^Archived")), links=2)

    # Its URL brings it back.
    tab.write(tab.page.get_by_label("Paste a long URL"), "https://shop.example.com/spring", then="Enter")
    tab.says("You already have this link. It’s no longer archived. Copied.")
    expect(tab.links).to_have_count(3)
    expect(tab.links.first).to_contain_text("Spring sale")
    assert not shop.call("GET", f"/api/links/{shop.links[1]['short_code']}")["archived"]


def test_the_bar_of_a_selection_has_room_on_a_phone(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open_touched(shop, "links", 360, 640)
    for row in tab.links.all():
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


def test_a_link_is_switched_off_and_on_again_and_opened(tabs: Tabs, shop: Account, input_device: str) -> None:
    tab = tabs.open(shop, "links", links=3)
    tab.pick(tab.links.first.get_by_role("button", name="More"), "Disable", says="Link disabled.")
    expect(tab.links.first).to_contain_text("Disabled")
    tab.press(tab.button("Undo"), says="Link enabled.")
    assert shop.call("GET", "/api/links")["links"][0]["status"] == "active"
    with tab.context.expect_page() as opened:
        tab.pick(tab.links.first.get_by_role("button", name="More"), "Open")
    opened.value.close()
    shop.wait_for_clicks(shop.links[0]["short_code"], 1)


def test_keys_move_through_the_list_and_act(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links", links=3)
    links, selected = tab.links.get_by_role("link"), tab.page.get_by_role("region", name="Selected links")
    tab.keys("/", focuses=tab.page.get_by_label("Search links"))
    tab.keys("Escape", "j", "ArrowDown", focuses=links.nth(1))
    tab.keys("k", focuses=links.nth(0))
    tab.keys("y", says="Copied.")
    assert tab.clipboard() == shop.links[0]["short_url"]

    tab.keys("x", "j", "j", "Shift+X")
    expect(selected).to_contain_text("3 links selected")
    tab.keys("Escape", lacks=selected)
    tab.keys("q", shows=tab.dialog("QR code"))
    tab.keys("Escape", focuses=links.nth(2))
    tab.keys("a", says="Link archived. It still works.", counts=(links, 2), focuses=links.nth(1))
    tab.click(tab.button("Undo"), counts=(links, 3))
    links.nth(2).focus()
    tab.keys("e", shows=tab.dialog(re.compile("^Edit ")))
    tab.keys("Escape", focuses=links.nth(2))
    tab.keys("Enter", shows="No clicks yet")
    tab.keys("g", "l", counts=(links, 3))
    tab.keys("?")
    expect(tab.dialog("Keyboard shortcuts")).to_contain_text("Next link")
