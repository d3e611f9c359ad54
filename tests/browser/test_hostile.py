"""Texts that somebody else has written do nothing but stand there."""

import re
import urllib.parse

import pytest
from playwright.sync_api import expect

from support.answers import ARABIC, THAI, listed, made_up_links
from support.api import Account, Api
from support.feeds import AuditLog, entry, person
from support.states import IDENTITIES, SECURITY, as_account, closed_workspace, identity, in_closed_workspace, own_session
from support.tab import Tab, Tabs

IMAGE = "<img src=x onerror=\"document.title='taken over'\">"
SCRIPT = "</title><script>document.title='taken over'</script>"
SHEET = "<style>*{display:none}</style>"
# The API refuses to store what turns the direction; a visitor's browser may say anything.
REVERSED = "\u202egnp.exe\u2066 sale"
TITLES = [IMAGE, SCRIPT, SHEET, ARABIC, THAI, "'\"><svg onload=alert(1)>", "{{7*7}} ${7*7}"]
REFERRERS = ["javascript:alert(1)", f"https://evil.example/{IMAGE}", "data:text/html,<script>alert(1)</script>", f"android-app://{SCRIPT}"]
AGENTS = [IMAGE, SCRIPT, f"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) {REVERSED} Firefox/140.0", "javascript:alert(1)"]
TARGET = "https://evil.example/?q=%3Cimg%20src=x%20onerror=alert(1)%3E#javascript:alert(1)"

# Of the narrowest phone, and of a desk.
WIDTHS = [320, 1280]


@pytest.fixture(scope="module")
def hostile(api: Api) -> Account:
    """A workspace whose texts are all of somebody who means harm."""
    eve = api.register(IMAGE, name="eve")
    eve.call("PATCH", "/api/workspace", {"name": IMAGE, "settings": {"utm_templates": [{"name": IMAGE, "utm_source": SCRIPT}]}})
    terms = {"fallback_url": TARGET, "preview": {"title": IMAGE, "description": SCRIPT}}
    rule = {"name": IMAGE[:30], "url": TARGET, "conditions": [{"type": "query-param", "key": IMAGE, "value": SCRIPT}]}
    eve.shorten(TARGET, title=IMAGE, rules=[rule], variants=[{"name": SCRIPT[:30], "url": TARGET, "weight": 1}], **terms)
    eve.call("PATCH", f"/api/links/{eve.links[0]['short_code']}", {"fallback_url": None})
    for number, title in enumerate(TITLES):
        eve.shorten(f"{TARGET}{number}", title=title, description=SCRIPT, tags=[IMAGE[:50], "فصل"])
    code = eve.links[0]["short_code"]
    for agent in AGENTS:
        for referer in REFERRERS:
            api.click(code, agent=agent, referer=referer)
    eve.call("POST", "/v1/targets", {"url": TARGET})
    eve.call("PATCH", f"/api/tags/{urllib.parse.quote('فصل')}", {"name": SCRIPT[:50]})
    eve.call("POST", "/api/keys", {"name": IMAGE, "scopes": ["links:read"]})
    eve.wait_for_clicks(code, len(AGENTS) * len(REFERRERS))
    return eve


VIEWS = ["links", "links/{code}", "links/{code}?audience=human&audience=bot&audience=prefetch", "compare?codes={code}", "overview", "tags", f"tags/{urllib.parse.quote(IMAGE[:50], safe='')}", "monitoring", "monitoring/{target}", "notifications?kind=all", "members", "keys", "activity", "settings", "settings?view=security", "account", "account?view=sign-in", "account?view=activity"]


def test_hostile_texts_do_nothing(tabs: Tabs, hostile: Account, subtests: pytest.Subtests) -> None:
    target = hostile.call("GET", "/v1/targets")["items"][0]["id"]
    tab = tabs.open(hostile)
    for view in VIEWS:
        with subtests.test(view):
            tab.page.set_viewport_size({"width": 1280, "height": 800})
            tab.open(view.format(code=hostile.links[0]["short_code"], target=target))
            tab.settled()
            assert_untouched(tab)
            tab.page.set_viewport_size({"width": 320, "height": 640})
            tab.settled()
            tab.assert_not_sideways()


def test_hostile_texts_do_nothing_in_forms_questions_and_histories(tabs: Tabs, hostile: Account) -> None:
    tab = tabs.open(hostile, "links")
    tab.keys("j", "e", shows=tab.page.get_by_role("dialog").get_by_role("textbox", name=re.compile("^Title")))
    assert_untouched(tab)
    tab.keys("Escape", "Control+k", shows=tab.page.get_by_role("group", name="Latest links").get_by_role("option").first)
    assert_untouched(tab)
    tab.keys("Escape")
    tab.open("keys")
    tab.button(f"Revoke {IMAGE}").click()
    expect(tab.page.get_by_role("dialog")).to_contain_text(IMAGE)
    assert_untouched(tab)
    tab.keys("Escape")
    tab.open(f"links/{hostile.links[-1]['short_code']}")
    tab.page.locator("summary", has_text="Social preview").click()
    tab.page.locator("summary", has_text="History").click()
    expect(tab.page.get_by_role("list", name="History")).to_contain_text("evil.example")
    assert_untouched(tab)
    tab.keys("r")
    expect(tab.dialog(re.compile("^Edit "))).to_contain_text(IMAGE[:30])
    assert_untouched(tab)


def test_hostile_texts_do_nothing_in_what_is_done_to_tags(tabs: Tabs, hostile: Account) -> None:
    hostile.wait_for("/api/tags", lambda answer: IMAGE[:50] in [row["tag"] for row in answer["tags"]])
    tab = tabs.open(hostile, "tags")
    tab.button(f"Rename {IMAGE[:50]}").click()
    form = tab.page.get_by_role("dialog")
    expect(form).to_contain_text(IMAGE[:50])
    form.get_by_label("Name").fill(SCRIPT[:50])
    assert_untouched(tab)
    tab.keys("Escape")
    tab.button(f"Delete {IMAGE[:50]}").click()
    expect(tab.page.get_by_role("dialog")).to_contain_text(IMAGE[:50])
    assert_untouched(tab)
    tab.keys("Escape")
    tab.open("settings")
    expect(tab.page.get_by_role("group", name=re.compile("^Rename the tag"))).to_contain_text(SCRIPT[:50])
    assert_untouched(tab)


DEVICES = [IMAGE, REVERSED, ARABIC, "x" * 300, None] * 12
SESSIONS = [own_session(number, device=device, country=device or "ZZ") for number, device in enumerate(DEVICES)]
OWN_LOG = [entry(number, device or "session.began", device=device, country=device, **{"from": device, "to": IMAGE}) for number, device in enumerate(DEVICES)]
EVE = person("019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a22", IMAGE * 4)
LOG = [
    entry(1, "key.created", EVE, {"kind": "key", "id": "lk_live_x", "name": SCRIPT * 3}),
    entry(2, "workspace.changed", EVE, None, **{"from": f"name: {IMAGE}", "to": f"name: {'x' * 200}"}),
    entry(3, "member.removed", EVE, {"kind": "member", "id": "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a99", "name": "\u202egnp.exe"}),
    entry(4, f"link.{SCRIPT}", EVE, {"kind": "link", "id": "launch"}),
    entry(5, "target.deleted", EVE, {"kind": "target", "id": "t_1", "name": f"https://evil.example/{'a' * 300}"}),
    entry(6, "job.finished", EVE, {"kind": "job", "id": "j1"}, **{"from": f"add the tag {IMAGE}", "to": f"done: {'9' * 200} links changed"}),
]
HOSTILE_IDENTITIES = [identity({"id": "x", "name": IMAGE}, email=f"{'x' * 240}@example.com"), identity(None, issuer=f"https://evil.example/{'x' * 300}")]
MEMBER = SECURITY["members"][0] | {"full_name": IMAGE, "providers": [IMAGE, "x" * 300], "by_groups_of": SCRIPT}
HOSTILE_SECURITY = SECURITY | {"groups": [{"group": IMAGE, "role": "admin"}, {"group": "x" * 300, "role": "viewer"}], "members": [MEMBER]}
NAMES = [IMAGE, "x" * 255, "\u202egnp.exe", *(f"Workspace {number}" for number in range(20))]
CLOSED = [closed_workspace() | {"workspace_id": f"w{number}", "slug": f"slug-{number}", "name": name} for number, name in enumerate(NAMES)]
RESTORING = "button:has-text('Restore')"


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_texts_of_sessions_activities_and_closed_workspaces_do_nothing_and_fit(
    tabs: Tabs, account: Account, subtests: pytest.Subtests, width: int
) -> None:
    own = as_account(account, pending_email=f"{'x' * 240}@example.com", full_name=IMAGE) | AuditLog(OWN_LOG, "**/api/me/audit").answers
    own |= {"**/api/me/sessions": {"sessions": SESSIONS}, IDENTITIES: {"has_password": True, "identities": HOSTILE_IDENTITIES}}
    mine = {"**/api/me/workspaces": {"workspaces": [*account.call("GET", "/api/me/workspaces")["workspaces"], *CLOSED]}}
    nowhere = in_closed_workspace(account.email) | {"**/api/me/workspaces": {"workspaces": CLOSED}}
    for view, answers, shown, count in [
        ("activity", AuditLog(LOG).answers, "tbody tr", len(LOG)),
        ("account?view=", own, "main", 1),
        ("account?view=sign-in", own, "main li", len(SESSIONS) + len(HOSTILE_IDENTITIES)),
        ("settings?view=security", {"**/api/workspace/security": HOSTILE_SECURITY}, "tbody tr", 3),
        ("account?view=activity", own, "tbody tr", 50),
        ("settings", mine, RESTORING, len(CLOSED)),
        ("w/slug-0/links", mine, "h1:has-text('is closed')", 1),
        ("w/slug-1/links", mine, "h1:has-text('is closed')", 1),
        ("links", nowhere, RESTORING, len(CLOSED)),
    ]:
        with subtests.test(view):
            tab = tabs.open(account, view, width=width, answers=answers)
            expect(tab.page.locator(shown)).to_have_count(count)
            tab.settled()
            assert_untouched(tab)
            tab.assert_not_sideways()


def assert_untouched(tab: Tab) -> None:
    page = tab.page
    assert "taken over" not in page.title() or page.title().startswith(IMAGE)
    assert page.locator("img[src='x'], svg[onload], main script, main style").count() == 0
    links = page.eval_on_selector_all("a[href]", "(links) => links.map(({ href, rel, host }) => [href, rel, host !== location.host])")
    # Settings offer the only script, which nobody's text is part of.
    bookmarklet = f"javascript:void open(\"{tab.api.app}\"+'?url='+encodeURIComponent(location.href)+'&title='+encodeURIComponent(document.title))"
    links = [link for link in links if urllib.parse.unquote(link[0]) != bookmarklet]
    assert [href for href, *_ in links if not href.startswith(("http:", "https:"))] == []
    elsewhere = [(href, rel) for href, rel, is_elsewhere in links if is_elsewhere]
    # Only a link's target and a monitored URL lead out. A referrer never does.
    assert all(rel == "noopener noreferrer" and "?q=" in href for href, rel in elsewhere), elsewhere


def test_a_text_that_turns_the_direction_turns_only_itself(tabs: Tabs, filled: Account) -> None:
    plain, turned = made_up_links(2)
    link = plain | {"tags": ["one", "two"]}
    both = [link | {"title": "png.exe sale"}, link | {"title": REVERSED, "tags": ["\u202eeno", "two"], "short_code": turned["short_code"]}]
    tab = tabs.open(filled, "links", answers=listed(both))
    rows = tab.page.locator(".link-row")
    expect(rows).to_have_count(2)
    for part in (".short-url", ".link-title", ".link-clicks", ".link-age"):
        first, second = (row.locator(part).first.bounding_box() for row in rows.all())
        assert first and second and first["x"] == second["x"], part


def test_long_titles_of_other_scripts_fit(tabs: Tabs, filled: Account, subtests: pytest.Subtests) -> None:
    for width in WIDTHS:
        with subtests.test(width=width):
            tab = tabs.open(filled, "links", width=width, answers=listed(made_up_links(60)))
            rows = tab.page.locator(".link-row")
            expect(rows.first).to_be_visible()
            tab.assert_not_sideways()
            assert {round((row.bounding_box() or {})["height"]) for row in rows.all()} == {56}


def test_a_target_that_is_no_web_address_is_no_link(tabs: Tabs, filled: Account) -> None:
    """The API takes only http and https; should it ever answer with another one, it leads nowhere."""
    link = made_up_links(1)[0] | {"original_url": "javascript:document.title='taken over'"}
    code = link["short_code"]
    tab = tabs.open(filled, f"links/{code}", refused=[404], answers={f"**/api/links/{code}": link})
    expect(tab.page.get_by_role("main").get_by_text("javascript:document.title")).to_be_visible()
    assert tab.page.locator("a[href^='javascript']").count() == 0
