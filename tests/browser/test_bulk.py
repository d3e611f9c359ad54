"""Many links at once: made from lines, and changed by a job as all that match."""

import csv
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from support.answers import listed, made_up_links
from support.api import PASSWORD, Account
from support.faults import assert_usable_by_everybody, layout_faults
from support.input import Keyboard
from support.tab import Tab, Tabs
from support.tree import tree_of, wrong_names
from test_budgets import longest_task
from test_links import BULK


def write_lines(tab: Tab, *lines: str) -> Locator:
    """Opens the drawer of new links, and writes into it."""
    form = tab.open_dialog("Bulk create", "Bulk create")
    tab.write(field_of(form), "\n".join(lines))
    return form


def field_of(form: Locator) -> Locator:
    return form.get_by_role("textbox", name=re.compile("^(One URL per line|Not created yet)$"))


def code_of(account: Account, letter: str) -> str:
    """One that nobody else has."""
    return f"{letter}{account.email[4:14]}"


def urls_of(account: Account) -> set[str]:
    return {link["original_url"] for link in account.call("GET", "/api/links?per_page=100")["links"]}


def test_lines_become_links_that_are_copied(tabs: Tabs, account: Account) -> None:
    known = account.shorten("https://example.com/known", tags=["old"])
    account.wait_for("/api/links", lambda answer: len(answer["links"]) == 1)
    tab = tabs.open(account, "links")
    code = code_of(account, "s")
    form = write_lines(tab, f"https://example.com/spring\t{code}", "", "example.com/summer", "https://example.com/known")
    tab.submit("Create 3 links", {form.get_by_role("combobox", name="Tags for all links"): "season,"}, form)

    expect(form.get_by_role("status").filter(has_text="2 links created, 1 you already have.")).to_be_visible()
    made = form.get_by_role("region", name="Created")
    expect(made.get_by_role("listitem")).to_have_count(3)
    expect(made.get_by_role("listitem").nth(0)).to_contain_text(code)
    expect(made.get_by_role("listitem").nth(2)).to_contain_text("You already have this link. It keeps its tags.")
    expect(tab.button("Copy all", made)).to_be_focused()
    tab.press(tab.button("Copy all", made), says="Copied.")
    copied = tab.clipboard().split("\n")
    assert [url.rsplit("/", 1)[1] for url in copied][0::2] == [code, known]
    tab.press(tab.button("Copy with URLs", made), counts=(tab.page.locator(".toast"), 2))
    urls = ["https://example.com/spring", "https://example.com/summer", "https://example.com/known"]
    assert tab.clipboard() == "\n".join(f"{url}\t{short}" for url, short in zip(urls, copied, strict=True))

    tab.press(tab.button("Done", form), lacks=form, links=3)
    stored = {link["original_url"]: link for link in account.call("GET", "/api/links")["links"]}
    assert stored.keys() == set(urls)
    assert stored["https://example.com/spring"]["short_code"] == code
    assert [stored[url]["tags"] for url in urls] == [["season"], ["season"], ["old"]]


def cell(form: Locator, column: str, row: int) -> Locator:
    return form.get_by_role("textbox", name=f"{column}, row {row}", exact=True)


def paste(tab: Tab, text: str, **brings: Any) -> None:
    tab.copy(text)
    tab.keys("ControlOrMeta+v", **brings)


def test_lines_that_cant_be_used_are_corrected_before_anything_is_sent(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    held = tab.hold(BULK)
    form = write_lines(tab, "https://example.com/a\tsale", "no url", "https://example.com/b\tSALE", "https://example.com/c")
    tab.press(tab.button("Create 4 links", form))
    mistakes = form.locator(".form-summary")
    expect(mistakes).to_be_focused()
    expect(mistakes.get_by_role("listitem")).to_have_count(2)
    expect(mistakes).to_contain_text("Row 1 also has the code SALE.")
    expect(cell(form, "URL", 2)).to_have_accessible_description(re.compile("^A URL can’t contain spaces"))
    assert held.count == 0

    tab.press(tab.button("Row 3", mistakes), focuses=cell(form, "Custom code", 3))
    tab.write(cell(form, "Custom code", 3), "")
    expect(mistakes.get_by_role("listitem")).to_have_count(1)
    assert_usable_by_everybody(tab, "rows that can't be used")

    # As in a spreadsheet, keys lead to the next row.
    tab.keys("Enter", focuses=cell(form, "Custom code", 4))
    tab.keys("ArrowUp", "ArrowUp", focuses=cell(form, "Custom code", 2))
    tab.press(tab.button("Remove row 2", form), focuses=cell(form, "URL", 3), lacks=mistakes)
    tab.press(tab.button("Edit as text", form), focuses=field_of(form))
    expect(field_of(form)).to_have_value("https://example.com/a\tsale\nhttps://example.com/b\nhttps://example.com/c")
    tab.write(field_of(form), " \n")
    tab.press(form.get_by_role("button", name="Create links"))
    expect(field_of(form)).to_have_accessible_description(re.compile("Paste at least one URL."))
    assert held.count == 0


def test_rows_that_were_refused_stay_and_are_tried_again(tabs: Tabs, account: Account) -> None:
    taken, free = code_of(account, "t"), code_of(account, "f")
    account.shorten("https://example.com/first", custom_code=taken)
    tab = tabs.open(account, "links")
    form = write_lines(tab, "https://example.com/a", f"https://example.com/b\t{taken}", "https://example.com/c")
    tab.press(tab.button("Create 3 links", form))

    expect(form.get_by_role("status").filter(has_text="2 links created, 1 failed.")).to_be_visible()
    refused = form.locator(".form-summary")
    expect(refused).to_be_focused()
    expect(refused).to_contain_text("This code is taken.")
    code = cell(form, "Custom code", 2)
    expect(code).to_have_value(taken)
    expect(code).to_have_accessible_description("This code is taken.")
    made = form.get_by_role("region", name="Created")
    expect(made.get_by_role("listitem")).to_have_count(2)
    assert_usable_by_everybody(tab, "rows that were refused")

    tab.write(code, free, lacks=refused)
    sent = tab.sent(BULK, tab.button("Try this one again", form))
    assert [link["url"] for link in sent["links"]] == ["https://example.com/b"]
    # In the order in which they were pasted.
    expect(made.get_by_role("listitem")).to_have_count(3)
    expect(made.get_by_role("listitem").nth(1)).to_contain_text(free)
    with tab.page.expect_download() as download:
        tab.press(tab.button("Download CSV", made))
    rows = list(csv.reader(download.value.path().read_text().splitlines()))
    assert [(row[0], row[4]) for row in rows[1:]] == [(f"https://example.com/{letter}", "created") for letter in "abc"]
    tab.press(tab.button("Create more", form), focuses=field_of(form))
    tab.press(tab.button("Done", form), lacks=form)
    assert account.call("GET", f"/api/links/{free}")["original_url"] == "https://example.com/b"


def spreadsheet(rows: int) -> str:
    head = ["Destination URL", "Slug", "Link title", "Tags", "Expires", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"]
    cells = [[f"https://example.com/{row % 2}", "", f"Title {row}", "Spring, Sale", "2126-03-31", "letter", "email", "spring", "", f"v{row}"] for row in range(rows)]
    return "\n".join("\t".join(row) for row in [head, *cells])


def test_a_hundred_links_of_a_spreadsheet_take_three_presses(tabs: Tabs, account: Account, measured: Callable[[str], None]) -> None:
    tab = tabs.open(account, "links")
    text = spreadsheet(100)
    tab.copy(text)
    begin = time.monotonic()
    # Opened, pasted, and created.
    tab.keys("C", shows=tab.dialog("Bulk create"))
    form = tab.dialog("Bulk create")
    expect(field_of(form)).to_be_focused()
    tab.keys("ControlOrMeta+v", shows=tab.button("Create 100 links", form))
    tab.keys("ControlOrMeta+Enter")
    expect(form.get_by_role("status").filter(has_text=re.compile("^100 links created.$"))).to_be_visible()
    took = time.monotonic() - begin
    measured(f"100 links of a spreadsheet with UTM: 3 presses, {took:.1f} s")
    assert took < 30

    tab.press(tab.button("Copy all", form), says="Copied.")
    stored = {link["short_url"]: link for link in account.call("GET", "/api/links?per_page=100")["links"]}
    made = [stored[url] for url in tab.clipboard().split("\n")]
    assert [link["title"] for link in made] == [f"Title {row}" for row in range(100)]
    assert made[7]["original_url"] == "https://example.com/1?utm_source=letter&utm_medium=email&utm_campaign=spring&utm_content=v7"
    assert (made[7]["tags"], made[7]["expires_at"][:7]) == (["Spring", "Sale"], "2126-03")


def test_a_table_is_corrected_by_column_and_cell(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    form = tab.open_dialog("Bulk create", "Bulk create")
    expect(field_of(form)).to_be_focused()
    paste(tab, "Address\tNotes\thttp\nhttps://example.com/a\tFirst\tx\nhttps://example.com/b\t\ty", focuses=form.get_by_role("region", name="Links to create"))
    expect(form.get_by_role("status").filter(has_text="2 rows: URL, Description.")).to_be_visible()
    assert_usable_by_everybody(tab, "rows of a spreadsheet")
    assert wrong_names(tree_of(tab)) == []
    tab.choose(form.get_by_role("combobox", name="Column 2, Notes"), "title", "Title")
    third = form.get_by_role("combobox", name="Column 3, http")
    tab.choose(third, "title", "Title")
    tab.press(tab.button("Create 2 links", form))
    expect(form.get_by_role("alert")).to_have_text("Several columns are Title. Choose one of them.")
    tab.choose(third, "utm_content", "UTM content")
    tab.write(cell(form, "Title", 2), "Second")
    fresh = form.get_by_role("checkbox", name=re.compile("^Create a new link even"))
    expect(fresh).to_be_checked()
    tab.press(form.locator("summary", has_text="Campaign for all links"))
    tab.write(form.get_by_label("Source"), "letter")
    sent = tab.sent(BULK, tab.button("Create 2 links", form))
    url = "https://example.com/{}?utm_source=letter&utm_content={}"
    assert sent["links"] == [{"url": url.format("a", "x"), "title": "First", "reuse": False}, {"url": url.format("b", "y"), "title": "Second", "reuse": False}]

    # What was just made can be undone, and made otherwise.
    tab.press(tab.button("Undo", form))
    tab.press(tab.button("Delete 2", tab.dialog("Delete 2 links?")), says="2 links deleted.")
    expect(cell(form, "Title", 2)).to_have_value("Second")
    assert urls_of(account) == set()


def test_whoever_wants_gets_new_links_without_a_campaign(tabs: Tabs, account: Account) -> None:
    account.shorten("https://example.com/a")
    account.wait_for("/api/links", lambda answer: len(answer["links"]) == 1)
    tab = tabs.open(account, "links")
    form = write_lines(tab, "https://example.com/a", "https://example.com/a")
    fresh = form.get_by_role("checkbox", name=re.compile("^Create a new link even"))
    expect(fresh).not_to_be_checked()
    tab.press(fresh)
    tab.press(tab.button("Create 2 links", form))
    expect(form.get_by_role("status").filter(has_text=re.compile("^2 links created.$"))).to_be_visible()


def test_lines_with_a_comma_are_asked_about_once(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    held = tab.hold(BULK)
    first, second = code_of(account, "a"), code_of(account, "b")
    form = write_lines(tab, f"https://example.com/a,{first}", "https://example.com/b", f"https://example.com/c, {second}")
    tab.press(tab.button("Create 3 links", form))
    asked = form.get_by_role("group", name="End of the line")
    expect(form.get_by_role("alert")).to_have_text("Choose what the end of these lines is.")
    expect(form).to_contain_text("This applies to 1 other line, too.")
    assert_usable_by_everybody(tab, "lines with a comma")
    assert held.count == 0
    held.let_go()
    tab.press(tab.button("Custom code", asked))
    sent = tab.sent(BULK, tab.button("Create 3 links", form))
    assert sent["links"] == [{"url": "https://example.com/a", "custom_code": first}, {"url": "https://example.com/b"}, {"url": "https://example.com/c", "custom_code": second}]


def test_a_file_is_read_and_one_that_is_no_csv_is_told(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    form = tab.open_dialog("Bulk create", "Bulk create")
    file = form.locator("input[type=file]")
    file.set_input_files({"name": "links.xlsx", "mimeType": "text/csv", "buffer": b"PK\x03\x04\x00\x00"})
    expect(field_of(form)).to_have_accessible_description(re.compile("This isn’t a CSV file."))
    expect(field_of(form)).to_be_focused()
    file.set_input_files({"name": "links.csv", "mimeType": "text/csv", "buffer": 'url;title\r\nhttps://example.com/a;"Gr\xfc\xdfe; so"\r\n'.encode("cp1252")})
    expect(cell(form, "Title", 1)).to_have_value("Grüße; so")


def test_a_thousand_rows_stay_quick(tabs: Tabs, account: Account, measured: Callable[[str], None]) -> None:
    tab = tabs.open(account, "links")
    form = tab.open_dialog("Bulk create", "Bulk create")
    expect(field_of(form)).to_be_focused()
    text = spreadsheet(1_000).replace("https://example.com/1\t\tTitle 977\t", "nowhere\t\tTitle 977\t")
    tab.copy(text)
    paste_ms = longest_task(tab.page, lambda: tab.keys("ControlOrMeta+v", shows=tab.button("Create 1,000 links", form)))
    expect(form.get_by_role("row")).to_have_count(51)
    tab.press(tab.button("Row 978", form), focuses=cell(form, "URL", 978))
    expect(form).to_contain_text("951–1,000 of 1,000 rows")
    typing_ms = longest_task(tab.page, lambda: tab.keys("x", "y", "z"))
    measured(f"1,000 rows: pasted in {paste_ms:.0f} ms, a letter in {typing_ms:.0f} ms")
    assert typing_ms < 200


def test_nothing_of_the_lines_and_their_results_is_lost_on_a_phone(tabs: Tabs, account: Account) -> None:
    taken = code_of(account, "t")
    account.shorten("https://example.com/first", custom_code=taken)
    tab = tabs.open(account, "links", width=360)
    tab.keys("C")
    form = tab.dialog("Bulk create")
    long = f"https://example.com/{'a-long-path/' * 20}?utm_source=newsletter"
    tab.submit("Create 3 links", {field_of(form): f"{long}\t{taken}\nno url\n{long}"}, form)
    expect(form.locator(".form-summary")).to_be_focused()
    assert layout_faults(tab) == []
    tab.press(tab.button("Edit as text", form), focuses=field_of(form))
    tab.submit("Create 2 links", {field_of(form): f"{long}\t{taken}\n{long}"}, form)
    expect(form.get_by_role("region", name="Created")).to_be_visible()
    assert layout_faults(tab) == []
    tab.assert_not_sideways()


def test_an_answer_that_was_lost_makes_no_link_twice(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links", refused=["ERR_FAILED"])
    keys: list[str] = []

    def lose_the_first(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) > 1:
            return route.continue_()
        route.fetch()
        return route.abort()

    tab.page.route(BULK, lose_the_first)
    form = write_lines(tab, "https://example.com/a", "https://example.com/b")
    tab.press(tab.button("Create 2 links", form))
    expect(form.get_by_role("alert")).to_contain_text("Linklet can’t be reached.")
    expect(field_of(form)).to_have_value("https://example.com/a\nhttps://example.com/b")
    tab.press(tab.button("Try these 2 again", form))
    # As the first answer was: no link was there before.
    expect(form.get_by_role("status").filter(has_text=re.compile("^2 links created.$"))).to_be_visible()
    assert len(keys) == 2 and len(set(keys)) == 1
    assert len(account.call("GET", "/api/links")["links"]) == 2

    # The next ones are another attempt.
    tab.press(tab.button("Create more", form))
    tab.submit("Create 2 links", {field_of(form): "https://example.com/a\nhttps://example.com/b"}, form)
    expect(form.get_by_role("status").filter(has_text=re.compile("^2 you already have.$"))).to_be_visible()
    assert len(set(keys)) == 2


def test_closing_asks_as_long_as_something_is_unsent(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    form = write_lines(tab, "https://example.com/a", "https://example.com/b")
    tab.keys("Escape")
    tab.press(tab.button("Keep editing", tab.dialog("Discard changes?")))
    expect(field_of(form)).to_have_value("https://example.com/a\nhttps://example.com/b")
    tab.press(tab.button("Cancel", form))
    tab.press(tab.button("Discard", tab.dialog("Discard changes?")), lacks=form)
    expect(tab.button("Bulk create")).to_be_focused()
    assert urls_of(account) == set()


@pytest.mark.parametrize("view", ["links", "overview"])
def test_several_urls_that_are_pasted_are_lines(tabs: Tabs, account: Account, view: str) -> None:
    tab = tabs.open(account, view)
    pasted = "https://example.com/a\tsale\nhttps://example.com/b"
    tab.copy(pasted)
    tab.page.get_by_label("Paste a long URL").focus()
    tab.keys("ControlOrMeta+v", shows=tab.button("Create 2 links", tab.dialog("Bulk create")))
    expect(field_of(tab.dialog("Bulk create"))).to_have_value(pasted)


def test_a_spreadsheet_that_is_pasted_anywhere_is_a_table(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    paste(tab, "One\thttps://example.com/a\nTwo two\thttps://example.com/b", shows=tab.button("Create 2 links", tab.dialog("Bulk create")))
    expect(cell(tab.dialog("Bulk create"), "Title", 2)).to_have_value("Two two")


@pytest.fixture
def crowd(account: Account) -> Account:
    """Somebody with more links than are listed at first: 51 of theirs have the tag crowd, and one hasn't."""
    account.shorten("https://example.com/alone")
    made = account.call("POST", "/api/links/bulk", {"links": [{"url": f"https://example.com/{number}", "tags": ["crowd"]} for number in range(51)]})
    assert {result["status"] for result in made["results"]} == {201}
    account.wait_for("/api/links?tag=crowd", lambda answer: answer["total"] == 51)
    return account


def select_matching(tab: Tab, count: str) -> Locator:
    """Selects all rows, then all links that match. The bar that appears, where keys go on."""
    expect(tab.links.first).to_be_visible()
    bar = tab.page.get_by_role("region", name="Selected links")
    if isinstance(tab.input, Keyboard):
        tab.input.reach(tab.links.first.get_by_role("checkbox"))
        tab.keys("*", shows=tab.button(f"Select all {count}matches", bar))
        tab.keys("*")
    else:
        tab.press(tab.links.first.get_by_role("checkbox"))
        tab.press(bar.get_by_role("button", name=re.compile(r"^Select all \d+$")))
        tab.press(tab.button(f"Select all {count}matches", bar))
    expect(bar).to_contain_text(f"All {count}matches")
    if isinstance(tab.input, Keyboard):
        tab.keys("b", focuses=tab.button("Clear selection", bar))
    return bar


def test_all_that_match_get_a_tag_and_are_deleted_by_number(tabs: Tabs, crowd: Account, input_device: str) -> None:
    tab = tabs.open(crowd, "links?tag=crowd")
    # The rows stay those that were read first: a list reads more as soon as its end is near.
    tab.page.route(re.compile(r"/api/links\?.*after="), lambda route: None)
    bar = select_matching(tab, "51 ")
    tab.press(tab.button("Tags", bar))
    form = tab.dialog("Tags for 51 links")
    tab.submit("Continue", {form.get_by_role("combobox", name="Tag"): "many,"}, form)
    tab.press(tab.button("Tag 51", tab.dialog("Add the tag “many” to 51 links?")), lacks=bar)
    crowd.wait_for("/api/links?tag=many", lambda answer: answer["total"] == 51)
    tab.says("51 links tagged.")
    expect(tab.links.first).to_contain_text("many")
    assert crowd.call("GET", "/api/links?tag=-crowd")["links"][0]["tags"] == []

    tab.reload()
    tab.press(tab.button("Delete", select_matching(tab, "51 ")))
    question = tab.dialog("Delete 51 links?")
    expect(tab.button("Delete 51", question)).to_be_disabled()
    assert_usable_by_everybody(tab, "a question about all that match")
    tab.submit("Delete 51", {question.get_by_role("textbox"): "51"}, question, says="51 links deleted.")
    expect(tab.page.get_by_text("No links match these filters")).to_be_visible()
    assert urls_of(crowd) == {"https://example.com/alone"}


def test_all_that_match_are_lost_only_once_it_is_proved_who_asks(tabs: Tabs, crowd: Account) -> None:
    tab = tabs.open(crowd, "links?tag=crowd", refused=[401, 403])
    tab.pick(tab.button("More for the selected links", select_matching(tab, "51 ")), "Delete with statistics")
    question = tab.dialog("Delete 51 links with their statistics?")
    tab.submit("Delete 51", {question.get_by_role("textbox"): "51"}, question)
    proof = tab.dialog("Confirm that it’s you")
    tab.submit("Delete", {"Your password": "not my password"}, proof)
    expect(proof.get_by_label("Your password")).to_have_accessible_description("Wrong password.")
    tab.submit("Delete", {"Your password": PASSWORD}, proof, lacks=proof, says="51 links deleted with statistics.")


def jobs_of(tab: Tab, matching: int = 4213) -> list[dict[str, Any]]:
    """What jobs are begun with, once they are: none runs."""
    begun: list[dict[str, Any]] = []

    def answer(route: Route) -> None:
        if route.request.method == "GET":
            return route.fulfill(json={"jobs": [], "next_cursor": None})
        body = route.request.post_data_json
        if body.pop("dry_run", False):
            return route.fulfill(json={"matching": matching, "is_exact": True})
        begun.append(body)
        made = {"id": "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7d00", "state": "done", "expected": matching, "seen": matching, "changed": matching, "failed": 0, "failures": []}
        made |= {"created_by": "u", "created_by_name": None, "created_at": "2026-11-12T11:25:00.000Z", "started_at": None, "ended_at": None}
        return route.fulfill(status=202, json=made | body)

    tab.page.route(re.compile(r"/api/jobs(\?|$)"), answer)
    return begun


@pytest.fixture
def show_many(tabs: Tabs, account: Account) -> Callable[[str], Tab]:
    """Opens a view of a list of 4,213 links, of which there are rows for 100."""
    answers = listed(made_up_links(4213)) | {re.compile(r"/api/links\?.*after=[1-9]\d\d"): lambda route: None}
    return lambda view: tabs.open(account, view, answers=answers)


def test_without_a_filter_all_are_those_listed_and_no_row_less(show_many: Callable[[str], Tab]) -> None:
    tab = show_many("links")
    begun = jobs_of(tab)
    bar = select_matching(tab, "4,213 ")
    assert_usable_by_everybody(tab, "all matches")
    expect(tab.links.nth(3).get_by_role("checkbox")).to_be_checked()
    tab.links.nth(3).locator(".link-mark").click()
    expect(bar).to_contain_text(re.compile(r"^\d+ links selected"))
    expect(tab.links.nth(3).get_by_role("checkbox")).not_to_be_checked()
    tab.keys("Escape", lacks=bar)

    tab.pick(tab.button("More for the selected links", select_matching(tab, "4,213 ")), "Set expiration")
    form = tab.dialog("Expiration of 4,213 links")
    tab.press(tab.button("Change 4,213 links", form))
    tab.press(tab.button("Change 4,213", tab.dialog("Set 4,213 links to never expire?")), lacks=bar)
    assert begun == [{"kind": "set_expiry", "filter": {"archived": "false"}, "expires_at": None}]


def test_members_change_all_that_match_as_far_as_it_is_theirs(show_many: Callable[[str], Tab], account: Account) -> None:
    me = account.call("GET", "/api/me")
    tab = show_many("links")
    begun = jobs_of(tab, matching=12)
    tab.answers("**/api/me", me | {"role": "member"})
    tab.reload()
    bar = select_matching(tab, "4,213 ")
    expect(bar).to_contain_text("(only yours change)")
    tab.press(tab.button("Archive", bar))
    tab.press(tab.button("Archive 12", tab.dialog("Archive 12 links?")), lacks=bar)
    assert begun == [{"kind": "archive", "filter": {"archived": "false", "created_by": me["user_id"]}}]
