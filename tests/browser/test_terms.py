"""When and for whom a link works: the form's section, what lists and the link's page show of it, and its codes."""

import re

import pytest
from playwright.sync_api import Locator, expect

from support.answers import ago
from support.api import FIREFOX, Account, Api
from support.tab import Tabs
from test_every_page import judge
from test_links import begin_link

FALLBACK = "https://example.com/waiting-list"
PREVIEW = {"title": "Half price", "description": "Until the shelves are empty.", "image": "https://example.com/card.png"}
SECTION = "Access and limits"
PASSWORD = "harbour lights"


def section(form: Locator) -> Locator:
    return form.locator("details", has_text=SECTION)


@pytest.fixture
def agreed(account: Account) -> Account:
    """Somebody with a link that has all terms."""
    visitors = {"fallback_url": FALLBACK, "password": PASSWORD, "forward_query": True, "preview": PREVIEW}
    account.shorten("https://example.com/agreed", valid_from=ago(days=1), max_clicks=100, **visitors)
    return account


def test_a_link_is_made_with_all_terms(tabs: Tabs, account: Account) -> None:
    tab, form = begin_link(tabs, account, "https://example.com/terms")
    tab.press(form.locator("summary", has_text=SECTION))
    tab.press(form.get_by_role("button", name="On a date"))
    tab.write(form.get_by_label("Click limit"), "250")
    tab.write(form.get_by_label("Fallback URL"), "example.com/waiting-list")
    tab.write(form.get_by_label("Password"), PASSWORD)
    tab.press(form.get_by_label("Forward query parameters"))
    tab.write(form.get_by_label("Preview title"), PREVIEW["title"])
    tab.write(form.get_by_label("Preview description"), PREVIEW["description"])
    tab.write(form.get_by_label("Preview image"), PREVIEW["image"])
    # It is drawn, and the picture isn't asked for: that would be a request to elsewhere.
    card = form.get_by_role("figure")
    expect(card).to_contain_text("Half price")
    expect(card.locator("img")).to_have_count(0)
    tab.press(tab.button("Create link", form), says="Link created. Copied.")

    row = tab.links.first
    expect(row).to_contain_text(re.compile(r"Scheduled\s*starts (today|tomorrow), \d?\d:\d\d"))
    expect(row.get_by_text("Password protected")).to_be_attached()
    made = account.call("GET", "/api/links")["links"][0]
    assert made["status"] == "scheduled"
    assert (made["max_clicks"], made["used"], made["fallback_url"]) == (250, 0, FALLBACK)
    assert (made["is_protected"], made["forward_query"], made["preview"]) == (True, True, PREVIEW)


def test_terms_are_taken_away_one_by_one(tabs: Tabs, agreed: Account) -> None:
    code = agreed.links[0]["short_code"]
    tab = tabs.open(agreed, f"links/{code}")
    form = tab.open_dialog("Edit", f"Edit {code}")
    # It is open, since the link has some.
    expect(form.get_by_text("0 of 100 used.")).to_be_visible()
    expect(form.get_by_label("Preview title")).to_be_visible()
    judge(tab, "the form of a link with terms")
    tab.press(form.get_by_role("button", name="Immediately"))
    tab.write(form.get_by_label("Click limit"), "")
    expect(form.get_by_text("Destinations are locked in this workspace, so you can only remove it. You can allow changes above.")).to_be_visible()
    tab.press(tab.button("Remove fallback URL", form), focuses=tab.button("Keep", form))
    tab.press(tab.button("Keep", form))
    tab.press(tab.button("Remove fallback URL", form))
    tab.press(tab.button("Remove password", form))
    expect(form.get_by_text("The password is removed when you save.")).to_be_visible()
    tab.press(form.get_by_label("Forward query parameters"))
    for name in ["Preview title", "Preview description", "Preview image"]:
        tab.write(form.get_by_label(name), "")
    tab.press(tab.button("Save", form), says="Saved.")

    link = agreed.call("GET", f"/api/links/{code}")
    assert [link.get(name) for name in ("valid_from", "max_clicks", "fallback_url", "preview")] == [None] * 4
    assert not link["is_protected"] and not link["forward_query"]
    form = tab.open_dialog("Edit", f"Edit {code}")
    expect(form.get_by_label("Click limit")).to_be_hidden()
    tab.press(form.locator("summary", has_text=SECTION))
    expect(form.get_by_text("Destinations are locked in this workspace, so only new links can have one. You can allow changes above.")).to_be_visible()


def test_a_link_says_its_terms_and_only_what_was_changed_is_sent(tabs: Tabs, agreed: Account) -> None:
    code = agreed.links[0]["short_code"]
    tab = tabs.open(agreed, f"links/{code}")
    about = tab.page.locator(".about")
    for words in ["otherwise", "0 of 100 used", "password protected", "forwards query parameters", "started yesterday"]:
        expect(about).to_contain_text(words)
    expect(about.get_by_role("link", name="example.com/waiting-list")).to_have_attribute("href", FALLBACK)
    about.locator("summary", has_text="Social preview").click()
    expect(about).to_contain_text(re.compile("Half price.*Until the shelves are empty", re.DOTALL))
    judge(tab, "a link with terms")

    form = tab.open_dialog("Edit", f"Edit {code}")
    form.get_by_label("Click limit").fill("200")
    form.get_by_label("Preview title").fill("All for half its price")
    sent = tab.sent(lambda request: request.method == "PATCH", tab.button("Save", form))
    assert sent == {"max_clicks": 200, "preview": PREVIEW | {"title": "All for half its price"}}
    tab.says("Saved.")
    expect(tab.page.get_by_role("main")).to_contain_text("0 of 200 used")


def test_a_password_is_changed_and_never_shown(tabs: Tabs, agreed: Account, api: Api) -> None:
    code = agreed.links[0]["short_code"]
    tab = tabs.open(agreed, f"links/{code}")
    form = tab.open_dialog("Edit", f"Edit {code}")
    expect(form.get_by_role("group", name="Password")).to_contain_text("Password protected")
    assert PASSWORD not in tab.page.content()
    tab.press(tab.button("Change password", form))
    new = form.get_by_label("New password")
    expect(new).to_be_focused()
    tab.press(tab.button("Keep current", form), focuses=tab.button("Change password", form))
    tab.press(tab.button("Change password", form))
    # Nothing that looks for mistakes in writing, perhaps elsewhere, gets to see it.
    expect(new).to_have_attribute("spellcheck", "false")
    tab.submit("Save", {new: "abc"}, form)
    expect(new).to_have_accessible_description(re.compile("Use at least 4 characters."))
    tab.submit("Save", {new: "another one"}, form, says="Saved.")
    assert followed(api, code, PASSWORD) == 403
    assert followed(api, code, "another one") == 303


def followed(api: Api, code: str, password: str) -> int:
    """The status with which somebody is answered who knows this password."""
    head = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": FIREFOX}
    return api.send("POST", f"/{code}", f"password={password.replace(' ', '+')}".encode(), head)


# The last two are what only the API knows.
WRONG = [
    ("Click limit", "0", "Enter a whole number from 1 to 1,000,000, or leave this blank."),
    ("Fallback URL", "nowhere", "Enter a URL that starts with http:// or https://, or leave this blank."),
    ("Password", "abc", "Use at least 4 characters."),
    ("Preview image", "ftp://example.com/card.png", "Enter an image URL"),
    ("Preview title", "a" * 201, "This must have at most 200 characters"),
    ("Password", "a" * 129, "This must have .*128 characters"),
]


def test_what_is_wrong_with_a_term_stands_at_its_field(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    tab, form = begin_link(tabs, account, "https://example.com/wrong", refused=[400])
    form.locator("summary", has_text=SECTION).click()
    for label, value, words in WRONG:
        with subtests.test(label, value=value):
            field = form.get_by_label(label)
            field.fill(value)
            # What is wrong is shown even if the section was closed again.
            form.locator("summary", has_text=SECTION).click()
            tab.click(tab.button("Create link", form), focuses=field)
            expect(field).to_have_attribute("aria-invalid", "true")
            expect(field).to_have_accessible_description(re.compile(words))
            field.fill("")
    assert account.call("GET", "/api/links")["links"] == []


def test_a_link_begins_before_it_expires(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://example.com/window", expires_at=ago(days=-1))
    tab = tabs.open(account, f"links/{code}")
    form = tab.open_dialog("Edit", f"Edit {code}")
    form.locator("summary", has_text=SECTION).click()
    form.get_by_role("button", name="On a date").click()
    beginning = form.get_by_label("Starts on")
    beginning.fill(ago(days=-3)[:16])
    tab.press(tab.button("Save", form))
    expect(beginning).to_have_accessible_description("The link must start before it expires.")
    beginning.fill(ago(hours=-3)[:16])
    tab.press(tab.button("Save", form), says="Saved.")
    assert account.call("GET", f"/api/links/{code}")["status"] == "scheduled"


def test_terms_that_nobody_uses_ask_for_nothing(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    asked = tab.requests("/api/workspace")
    form = tab.open_dialog("More options", "New link")
    expect(form.get_by_label("Destination", exact=True)).to_be_visible()
    expect(section(form)).not_to_have_attribute("open", "")
    form.get_by_label("Destination", exact=True).fill("https://example.com/plain")
    tab.settled()
    # Once, for who sees the statistics of its links.
    assert len(asked) == 1
    sent = tab.sent("**/api/shorten", tab.button("Create link", form))
    # Nothing of it is said, so that the link can be the one that there is.
    assert not {"valid_from", "max_clicks", "fallback_url", "password", "forward_query", "preview"} & sent.keys()


@pytest.fixture
def statuses(account: Account) -> Account:
    """Somebody with a link of each new status, one that is used in part, and a plain one."""
    account.shorten("https://example.com/plain", title="Plain")
    used = account.shorten("https://example.com/used", title="Used", max_clicks=100)
    over = account.shorten("https://example.com/over", title="Over", max_clicks=1)
    account.shorten("https://example.com/soon", title="Soon", valid_from=ago(days=-9))
    for code in [used, over]:
        account.api.click(code)
    # The API counts once a minute, so nobody may have asked before all of them are there.
    for status in ("scheduled", "exhausted"):
        account.wait_for(f"/api/links?status={status}", lambda answer: answer["total"] == 1)
    account.wait_for("/api/overview", lambda answer: (answer["links"]["scheduled"], answer["links"]["exhausted"]) == (1, 1))
    return account


def test_links_that_wait_or_are_used_up_are_found(tabs: Tabs, statuses: Account) -> None:
    tab = tabs.open(statuses, "links", links=4)
    expect(tab.links.filter(has_text="Soon")).to_contain_text(re.compile(r"Scheduled\s*starts"))
    expect(tab.links.filter(has_text="Over")).to_contain_text(re.compile(r"Limit reached\s*1 of 1 used"))
    expect(tab.links.filter(has=tab.page.get_by_role("link", name="Used", exact=True))).to_contain_text("1 of 100 used")

    tab.press(tab.button(re.compile("^Scheduled")), links=1)
    expect(tab.links).to_contain_text("Soon")
    assert tab.view() == "links?status=scheduled"
    tab.press(tab.button(re.compile("^Scheduled")))
    tab.press(tab.button(re.compile("^Limit reached")), links=1)
    expect(tab.links).to_contain_text("Over")
    tab.reload(links=1)
    judge(tab, "links that are used up")
    tab.open("overview")
    expect(tab.figures()).to_contain_text("2 active, 1 scheduled, 1 at their limit")


def test_a_code_with_hyphens_and_underscores_is_as_good_as_any(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    tab = tabs.open(account)
    for shape in ("a-{}", "{}_b", "Sale-{}_2026"):
        with subtests.test(shape):
            code = shape.format(account.email[4:12])
            tab.open("links")
            form = tab.open_dialog("More options", "New link")
            tab.write(form.get_by_label("Destination", exact=True), f"https://example.com/{code}")
            tab.write(form.get_by_label("Custom code"), code, shows=form.get_by_text("Available."))
            tab.press(tab.button("Create link", form), lacks=form)
            assert tab.clipboard() == account.call("GET", f"/api/links/{code}")["short_url"]
            tab.open(f"links/{code}", heading=re.compile(f"{code}$"))
