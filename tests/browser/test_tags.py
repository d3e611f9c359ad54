"""Tags, which are renamed, merged and deleted for all links that have them."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from support.api import Account
from support.tab import Tab, Tabs

SEVERAL = [{"tag": f"tag {number}", "links": 40 - number, "total_clicks": 7 * number} for number in range(1, 15)]


@pytest.fixture
def shop(account: Account) -> Account:
    account.shorten("https://shop.example.com/a", tags=["Spring", "sale"])
    account.shorten("https://shop.example.com/b", tags=["sale"])
    account.shorten("https://shop.example.com/c", tags=["old"])
    archived = account.shorten("https://shop.example.com/d", tags=["old"])
    account.call("PATCH", f"/api/links/{archived}", {"archived": True})
    # The API counts once a minute, so nobody may have asked before all of them are there.
    account.wait_for("/api/links", lambda answer: len(answer["links"]) == 3)
    account.wait_for("/api/tags", lambda answer: {row["tag"]: row["links"] for row in answer["tags"]} == {"sale": 2, "old": 1, "Spring": 1})
    return account


def names(tab: Tab) -> Locator:
    return tab.page.get_by_role("table", name="Tags").locator(".line-title")


def tags_of(shop: Account) -> list[list[str]]:
    """Those of each link, in the order in which they were made."""
    return [shop.call("GET", f"/api/links/{link['short_code']}")["tags"] for link in reversed(shop.links)]


def counted(tags: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"as_of": "2126-11-12T14:25:00.000Z", "tags": tags, "total": len(tags), "incomplete": []} | more


def test_a_tag_leads_to_its_links_and_to_its_numbers(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "links")
    tab.follow(tab.page.get_by_role("navigation", name="Pages").get_by_role("link", name="Tags"), "Tags")
    expect(names(tab)).to_have_text(["sale", "old", "Spring"])
    tab.press(tab.page.get_by_role("link", name="2 links with the tag sale"), counts=(tab.page.locator(".link-row"), 2))
    assert tab.view() == "links?tag=sale"
    tab.go_back()
    tab.follow(tab.page.get_by_role("link", name="Spring", exact=True), "Tag Spring")
    assert tab.view() == "tags/Spring"


def test_a_tag_is_reported_by_email(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "tags/sale")
    tab.pick(tab.button("More"), "Email me a monthly report", says=re.compile("You’ll get this report|Report added"))
    reports = shop.call("GET", "/api/workspace/reports")["reports"]
    assert [(report["every"], report["tag"]) for report in reports] == [("month", "sale")]
    tab.press(tab.button("Email settings"), shows=tab.page.get_by_role("list", name="Reports"))


def test_a_tag_is_renamed_or_deleted_and_its_links_stay(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "tags")
    form = tab.open_dialog("Rename sale", "Rename the tag sale")
    field = form.get_by_label("Name")
    for wrong, why in {"  ": "Enter a name.", "sale": "This is already its name.", "x" * 51: "Use at most 50 characters."}.items():
        tab.write(field, wrong, then="Enter", focuses=field)
        expect(field).to_have_accessible_description(re.compile(re.escape(why)))
    tab.write(field, "  Summer/sale 100% ", lacks=form.get_by_role("alert"))
    tab.press(tab.button("Rename", form), says="2 links retagged.")
    # What isn't counted yet is shown as it is.
    expect(names(tab).filter(has_text="Summer/sale 100%")).to_have_count(1)
    expect(names(tab)).to_have_count(3)
    assert tags_of(shop) == [["Spring", "Summer/sale 100%"], ["Summer/sale 100%"], ["old"], ["old"]]
    tab.reload(counts=(names(tab).filter(has_text="Summer/sale 100%"), 1))
    question = tab.open_dialog("Delete old", "Delete the tag “old”?")
    expect(question).to_contain_text("1 link and any archived ones lose this tag. The links and their statistics stay.")
    tab.press(tab.button("Cancel", question), focuses=tab.button("Delete old"))
    for tag in ("old", "Summer/sale 100%"):
        tab.press(tab.button(f"Delete {tag}"))
        tab.press(tab.button("Delete tag"), says="2 links untagged.", lacks=names(tab).filter(has_text=tag))
        tab.press(tab.button("Dismiss").last)
    assert tags_of(shop) == [["Spring"], [], [], []]


def test_tags_that_are_no_part_of_a_path_are_changed_as_well(tabs: Tabs, account: Account) -> None:
    dots = account.shorten("https://shop.example.com/", tags=[".", ".."])
    tab = tabs.open(account, "tags", answers={"**/api/tags": counted([{"tag": ".", "links": 1, "total_clicks": 0}, {"tag": "..", "links": 1, "total_clicks": 0}])})
    tab.button("Rename .", tab.page.get_by_role("table")).click()
    tab.dialog("Rename the tag .").get_by_label("Name").fill("dot")
    tab.press(tab.button("Rename", tab.page.get_by_role("dialog")), says="1 link retagged.")
    tab.button("Delete ..").click()
    tab.press(tab.button("Delete tag"), says="1 link untagged.")
    assert account.call("GET", f"/api/links/{dots}")["tags"] == ["dot"]


def test_a_tag_is_merged_with_another_one(tabs: Tabs, shop: Account) -> None:
    tab = tabs.open(shop, "tags")
    form = tab.open_dialog("Rename sale", "Rename the tag sale")
    tab.write(form.get_by_label("Name"), "SPRING")
    expect(form.get_by_role("alert")).to_contain_text("1 link already has the tag “Spring”.")
    expect(form.get_by_role("alert")).to_contain_text("It replaces “sale” on 2 links.")
    tab.press(tab.button("Merge", form), says=re.compile("retagged"), lacks=names(tab).filter(has_text="sale"))
    expect(names(tab)).to_have_count(2)
    assert [[tag.lower() for tag in tags] for tags in tags_of(shop)] == [["spring"], ["spring"], ["old"], ["old"]]


def test_a_member_changes_their_own_links_only(tabs: Tabs, shop: Account) -> None:
    bob = shop.add_member(enters=True)
    own = bob.shorten("https://bob.example.com/", tags=["sale"])
    tab = tabs.open(bob, "tags")
    form = tab.open_dialog("Rename sale", "Rename the tag sale")
    expect(form).to_contain_text("Only your own links change. Other people’s links keep the tag.")
    tab.submit("Rename", {"Name": "bargain"}, form, says="1 link retagged.")
    assert bob.call("GET", f"/api/links/{own}")["tags"] == ["bargain"]
    assert tags_of(shop)[:2] == [["Spring", "sale"], ["sale"]]
    # Others' links have it, so it stays.
    expect(names(tab).filter(has_text="sale")).to_have_count(1)


def test_many_tags_are_searched_and_sorted(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "tags", answers={"**/api/tags": counted([*SEVERAL, {"tag": "Café", "links": 1, "total_clicks": 12_403}], total=900)})
    expect(names(tab).first).to_have_text("tag 1")
    expect(tab.page.get_by_text("The 15 most used tags of 900")).to_be_visible()
    tab.pick(tab.button(re.compile("^Sort by")), "Most clicks")
    expect(names(tab).first).to_have_text("Café")
    tab.keys("/")
    search = tab.page.get_by_label("Search tags")
    expect(search).to_be_focused()
    tab.page.keyboard.insert_text("TAG 1")
    expect(names(tab)).to_have_count(6)
    expect(tab.page.get_by_text("6 of 15 tags")).to_be_visible()
    assert tab.view() == "tags?sort=clicks&q=TAG+1"
    tab.reload(counts=(names(tab), 6))
    tab.write(tab.page.get_by_label("Search tags"), "nothing has this name")
    tab.press(tab.button("Show all tags"), counts=(names(tab), 15))


def test_all_tags_are_listed_however_many_pages_they_take(tabs: Tabs, account: Account) -> None:
    links = [{"url": f"https://example.com/{link}", "tags": [f"tag {link} {tag}" for tag in range(20)]} for link in range(6)]
    account.call("POST", "/api/links/bulk", {"links": links})
    account.wait_for("/api/tags", lambda answer: answer["total"] == 120)
    tab = tabs.open(account, "tags", shows="120 tags")
    expect(names(tab)).to_have_count(120)


def test_a_tag_that_no_link_has_any_more_is_said_to_be_gone(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "tags", answers={"**/api/tags": counted(SEVERAL)}, refused=[404])
    form = tab.open_dialog("Rename tag 1", "Rename the tag tag 1")
    tab.submit("Rename", {"Name": "another"}, form)
    expect(form.get_by_role("alert")).to_contain_text("No link that you can change has this tag.")
    tab.press(tab.button("Cancel", form))
    tab.press(tab.button("Delete tag", tab.open_dialog("Delete tag 1", "Delete the tag “tag 1”?")), says="Couldn’t start the job. No link that you can change has this tag.")


def test_a_workspace_without_tags_says_how_links_get_some(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "tags", shows="No tags yet")
    tab.press(tab.page.get_by_role("main").get_by_role("link", name="Go to your links"))
    expect(tab.page.get_by_label("Paste a long URL")).to_be_visible()


def test_too_many_jobs_are_said_and_what_was_typed_stays(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "tags", answers={"**/api/tags": counted(SEVERAL)})
    tab.fails("**/api/tags/*", 409, "too_many_jobs", "two of your jobs or four of this workspace are queued; try again when one is over")
    form = tab.open_dialog("Rename tag 1", "Rename the tag tag 1")
    tab.submit("Rename", {"Name": "another"}, form)
    expect(form.get_by_role("alert")).to_contain_text("Two of your jobs or four of this workspace are queued")
    expect(form.get_by_label("Name")).to_have_value("another")
    tab.keys("Escape")
    tab.button("Delete tag 1").click()
    tab.press(tab.button("Delete tag"), says="Couldn’t start the job. Two of your jobs or four of this workspace are queued")
