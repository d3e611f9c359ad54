"""Shared statistics: making a URL for people who have no account, what they see, and that its token is nowhere but in it."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Account, Api
from support.faults import assert_usable_by_everybody
from support.tab import Tab, Tabs

OVER = "These statistics are no longer shared."


@pytest.fixture
def shop(api: Api, account: Account) -> Account:
    """A workspace with a link that has three clicks and a tag."""
    code = account.shorten("https://shop.example.com/sale", title="Spring sale", tags=["spring"])
    for country in ["NO", "NO", "DE"]:
        api.click(code, referer="https://news.example/secret-page", country=country)
    account.wait_for_clicks(code, 3)
    return account


def code_of(shop: Account) -> str:
    return shop.links[0]["short_code"]


def shared(tab: Tab) -> str:
    """Shares what the page shows, in two presses, and returns the URL."""
    dialog = tab.open_dialog("Share statistics", "Share statistics")
    tab.press(tab.button("Create link", dialog))
    url = dialog.get_by_label("URL", exact=True)
    expect(url).to_have_value(re.compile(r"/app#/shared/.*token=lk_share_"))
    return url.input_value()


def test_two_presses_make_a_page_that_anybody_sees_without_an_account(tabs: Tabs, shop: Account) -> None:
    owner = tabs.open(shop, f"links/{code_of(shop)}", clicks=3)
    url = shared(owner)
    token = url.partition("token=")[2]
    visitor = tabs.open_new()
    seen: list[str] = []
    visitor.page.on("request", lambda request: seen.append(f"{request.url} {request.headers.get('referer', '')}"))

    visitor.page.goto(url)

    expect(visitor.heading(code_of(shop))).to_be_visible()
    visitor.clicks_are(3)
    expect(visitor.page.get_by_text("news.example", exact=True)).to_be_visible()
    assert "secret-page" not in visitor.page.content()
    # It is in no address but the one that was opened, and nobody hears of it but the API, in a header.
    assert token not in visitor.page.evaluate("location.href + JSON.stringify(history.state)")
    assert visitor.page.evaluate("document.querySelector('meta[name=robots]').content") == "noindex"
    assert not any(token in line.partition("#")[0] or token in line.partition(" ")[2] for line in seen)
    visitor.click(visitor.button("7 d"))
    visitor.clicks_are(3)
    visitor.page.go_back()
    assert token not in visitor.page.evaluate("location.href")
    visitor.page.reload()
    visitor.clicks_are(3)
    visitor.click(visitor.button("Map"))
    expect(visitor.page.locator(".world-map")).to_be_visible()
    assert_usable_by_everybody(visitor, "a shared page")
    policy = visitor.page.request.get(visitor.api.app).headers
    assert policy["referrer-policy"] == "no-referrer" and "default-src 'self'" in policy["content-security-policy"]


def test_a_shared_tag_is_seen_by_somebody_who_is_signed_in_elsewhere(tabs: Tabs, api: Api, shop: Account) -> None:
    owner = tabs.open(shop, "tags/spring")
    url = shared(owner)
    visitor = tabs.open(api.register(), "links")

    visitor.page.goto(url)

    expect(visitor.heading(re.compile("spring"))).to_be_visible()
    expect(visitor.page.get_by_role("link", name=re.compile(code_of(shop)))).to_be_visible()
    assert "shop.example.com" not in visitor.page.content()
    assert "token" not in visitor.page.evaluate("location.href")


def test_a_password_is_asked_for_and_an_ended_share_says_so(tabs: Tabs, shop: Account) -> None:
    owner = tabs.open(shop, f"links/{code_of(shop)}", clicks=3)
    dialog = owner.open_dialog("Share statistics", "Share statistics")
    owner.write(dialog.get_by_label("Password"), "open sesame")
    owner.press(owner.button("Create link", dialog))
    url = dialog.get_by_label("URL", exact=True).input_value()
    visitor = tabs.keep(Tab(tabs.context(), tabs.api, refused={403, 404}))
    visitor.page.goto(url)
    for password in ["wrong", "open sesame"]:
        visitor.write(visitor.page.get_by_label("Password"), password)
        visitor.press(visitor.button("Show statistics"))
        if password == "wrong":
            expect(visitor.page.get_by_text("Wrong password.")).to_be_visible()
    visitor.clicks_are(3)

    owner.press(owner.button(re.compile("^End"), dialog))
    owner.press(owner.button("End", owner.dialog("End sharing?")))
    owner.says("Sharing ended.")

    # Functions hold it for a minute, and another link's page none.
    other = tabs.keep(Tab(tabs.context(), tabs.api, refused={404}))
    other.page.goto(url.replace(url.partition("token=")[2][20:40], "0" * 20))
    expect(other.page.get_by_text(OVER)).to_be_visible()


def test_admins_see_what_is_shared_and_end_it(tabs: Tabs, shop: Account) -> None:
    shop.call("POST", f"/api/links/{code_of(shop)}/share", {})
    shop.call("POST", "/api/tags/spring/share", {"expires_at": "2099-01-01T00:00:00Z"})
    tab = tabs.open(shop, "settings")
    lines = tab.page.locator(".share-lines li")
    expect(lines).to_have_count(2)
    expect(lines.first).to_contain_text("spring")
    expect(lines.first).to_contain_text("2099")

    tab.press(tab.button(re.compile("^End"), lines.first))
    tab.press(tab.button("End", tab.dialog("End sharing?")))

    expect(lines).to_have_count(1)
