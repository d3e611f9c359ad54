"""What holds for each page, dialog, menu and rare state: everybody can use it, in light and in dark, read aloud, on the narrowest phone,
enlarged, and with large letters."""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from support.api import Account, Api
from support.answers import ago
from support.faults import assert_usable_by_everybody, faults_of
from support.feeds import AuditLog, Feed, Jobs, entry, job, notification
from support.sample_data import sale_of
from support.overlays import OVERLAYS, assert_left, reopen, open_overlay, show_terms, wrong_overlay
from support.states import ACME, ALSO_ELSEWHERE, DOMAINS, IDENTITIES, INVITED, MOCK, ONLY_ELSEWHERE, REGISTRATION, SECURITY, Elsewhere, identity, in_closed_workspace, in_no_workspace, own_session, paused_key, paused_member, public_answers, with_paused_workspace
from support.tab import Tab, Tabs
from support.tree import tree_of, wrong_names, wrong_page
from test_hostile import VIEWS as SHOWING_TEXTS
from test_trouble import READS

PAGES_OF_THE_APPLICATION = Path(__file__).parents[2] / "functions" / "web" / "app" / "pages.js"
# Views of somebody who is signed in, and their headings.
VIEWS = {
    "links": "Links",
    "links?q=nothing-has-this-name": "Links",
    "links?tag=sale&status=inactive&sort=clicks&from=2026-01-01": "Links",
    "links/{code}": re.compile(".+"),
    "links/{code}?table=1": re.compile(".+"),
    "links/{code}?country=NO&country=DE&source=qr&map=1": re.compile(".+"),
    "links/{code}?audience=human&audience=bot&audience=prefetch": re.compile(".+"),
    "links/nowhere1": "nowhere1",
    "compare?codes={code},nowhere1": "Compare",
    "compare": "Compare",
    "overview": "Overview",
    "overview?range=12m&table=1&audience=bot&audience=prefetch": "Overview",
    "tags": "Tags",
    "tags?q=sa&sort=name": "Tags",
    "tags?q=nothing-has-this-name": "Tags",
    "tags/sale": "Tag sale",
    "tags/nowhere": "nowhere",
    "monitoring": "Monitoring",
    "monitoring/{target}": re.compile(".+"),
    "notifications": "Notifications",
    "notifications?kind=all": "Notifications",
    "members": "Members",
    "keys": "API keys",
    "activity": "Activity",
    "activity?what=key&who=019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a99&from=2026-01-01": "Activity",
    "settings": "Settings",
    "settings?job=nowhere": "Settings",
    "settings?view=security": "Settings",
    "account": "Account",
    "account?view=mail": "Account",
    "account?view=sign-in": "Account",
    "account?view=activity": "Account",
    "account?view=data": "Account",
    "no-such-page": "Page not found",
}
# Views of whoever comes.
PUBLIC = {
    "sign-in": "Sign in",
    "signed-in": "Sign in",
    "join?provider=Acme&email=ada%40example.com": "You already have an account",
    "sign-up": "Create an account",
    "forgot": "Forgot password",
    "reset?token=rst_0": "New password",
    "reset": "New password",
    "first-password?token=vrf_0": "Choose a password",
    "first-password": "Choose a password",
    "verify?token=vrf_0": "Confirm your email",
    "verify": "Confirm your email",
    "keep-address?token=kep_0": "Keep your email",
    "keep-address": "Keep your email",
    "unsubscribe?token=uns_0": "Unsubscribe?",
    "unsubscribe": "Unsubscribe?",
    "invitation?token=inv_0": "You’re invited",
    "invitation?token=inv_0&email=ada%40example.com": "You’re invited",
    "shared/links/launch": "Shared statistics",
}
# How people may register elsewhere, and a sentence that says so.
ELSEWHERE = [
    ("sign-up", DOMAINS, "You need an email address at"),
    ("sign-up", INVITED, "You need an invitation to create an account."),
    ("sign-in", INVITED, "You need an invitation to create an account."),
    ("forgot", INVITED, "This Linklet doesn’t send email."),
    ("sign-in?refused=stale", ONLY_ELSEWHERE, "The provider didn’t ask you to sign in again."),
    ("sign-up", ALSO_ELSEWHERE, "Continue with Mock"),
    ("forgot", ONLY_ELSEWHERE, "Passwords aren’t used here."),
    ("join?provider=Acme&email=ada%40example.com", ONLY_ELSEWHERE, "Confirm once that you can read its email"),
]
FEED = Feed([notification("target.down", "t_7UJmGlcSOIpXh9XKQroFP8", "https://shop.example.com/ is down: it responded with 503."), notification("milestone.reached", "launch", "Your short link launch has reached 100 clicks.", hours=1)])
FAILED_LINKS = [{"short_code": "launch", "code": "invalid_input", "detail": "a link has at most 20 tags"}]
GRACE = "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a22"
JOBS = Jobs([
    job(1, "tag", "queued", by=GRACE, tag="outlet", filter={"tag": ["winter,sale", "-old"], "archived": "all", "created_by": GRACE}),
    job(2, "rename_tag", "running", by=GRACE, **{"from": "print", "to": "on paper"}, changed=3, failed=2, failures=FAILED_LINKS),
    job(3, "delete", "running", by=GRACE, filter={"search": "lamp"}, expected=None),
    job(4, "set_expiry", "failed", by=GRACE, filter={"all": True}, failed=1, failures=FAILED_LINKS, reason={"code": "rights_lost", "detail": "the role was taken away"}),
])
# Another address waits, and mail to the present one came back.
WAITING = in_no_workspace("ada@example.com")["**/api/me"] | {"pending_email": "an-address-that-is-wider-than-the-narrowest-phone@example.com", "undeliverable": True}
OWN_ACTIONS = ["session.guessed", "account.mail_changed", "account.cloned"]
OWN_AUDIT_LOG = AuditLog([entry(number, action, device="Firefox on Linux", country="NO", **{"from": "all", "to": "none"}) for number, action in enumerate(OWN_ACTIONS)], "**/api/me/audit")
# What is rare: the answers that make it so, and sentences that show that they have.
RARE: dict[str, tuple[Any, ...]] = {
    "links": (in_no_workspace("ada@example.com"), "You’re not in a workspace"),
    "overview": (in_closed_workspace("ada@example.com"), "A workspace was closed"),
    "activity": ({"**/api/workspace/audit": {"entries": [], "next_cursor": None}}, "No activity yet."),
    "tags": (JOBS.answers, "3 of 8 changed, 2 failed"),
    "settings": (JOBS.answers, "The member who started it can no longer change links.", "Harbour Lamps"),
    "members": ({"**/api/workspace/members": {"members": [paused_member("Bob")]}}, "1 member is paused."),
    "keys": ({"**/api/keys": {"keys": [paused_key("Old script")]}}, "1 key is paused."),
    "verify?token=vrf_0": ({}, "You’re signed in as"),
    "account": ({"**/api/me": WAITING}, "Waiting for you to confirm"),
    "account?view=mail": ({"**/api/me": WAITING}, "an email to it bounced"),
    "account?view=sign-in": ({REGISTRATION: ALSO_ELSEWHERE, IDENTITIES: {"has_password": True, "identities": [identity(ACME, email=WAITING["pending_email"]), identity(None, issuer="https://sign-in.an-address-that-is-wider-than-the-narrowest-phone.example.com/v2")]}, "**/api/me/sessions": {"sessions": [own_session(0), own_session(1, device=None, country=None, remembered=True)]}}, "Unknown device", "no longer set up here", "Not connected"),
    "account?view=activity": (OWN_AUDIT_LOG.answers, "Delayed sign-in after several wrong passwords", "Firefox on Linux, Norway"),
    "settings?view=security": ({"**/api/workspace/security": SECURITY}, "member from groups at Acme", "Nothing yet"),
    "notifications": (FEED.answers | {"**/api/overview": {"as_of": ago(hours=1), "down": []}}, "Needs attention"),
}


def judge(tab: Tab, what: str) -> None:
    """What a test has come to: in light, in dark, and on the narrowest phone, where nothing may need scrolling to the side."""
    tab.settled()
    for theme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=theme)
        assert_usable_by_everybody(tab, f"{what}, {theme},")
    tab.page.set_viewport_size({"width": 320, "height": 640})
    tab.settled()
    tab.assert_not_sideways()
    assert_usable_by_everybody(tab, f"{what}, narrow,")
    tab.page.set_viewport_size({"width": 1280, "height": 800})
    tab.page.emulate_media(color_scheme="light")


def assert_no_faults(found: list[str]) -> None:
    assert not found, f"{len(found)} faults:\n" + "\n".join(found)


# What is chosen, and what it has to differ from.
CHOSEN = [
    (".choice [aria-pressed=true]", ".choice [aria-pressed=false]"),
    (".choice [aria-pressed=true]", ".choice"),
    (".rail-item[aria-current]", ".rail-item:not([aria-current])"),
]


def test_what_is_chosen_differs_in_dark_and_in_forced_colors(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "overview", clicks=8)

    def ground(selector: str) -> str:
        return tab.page.locator(selector).first.evaluate("(element) => getComputedStyle(element).backgroundColor")

    for media in ({"color_scheme": "dark"}, {"forced_colors": "active"}):
        tab.page.emulate_media(**media)
        assert [pair for pair in CHOSEN if ground(pair[0]) == ground(pair[1])] == [], media


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_can_be_used_by_everybody(tabs: Tabs, filled: Account, target: str, view: str) -> None:
    shown = view.format(code=sale_of(filled), target=target)
    # A link that doesn't exist answers 404.
    tab = tabs.open(filled, shown, refused=[404] if "nowhere" in view else [])
    heading = expect(tab.heading(VIEWS[view]))
    assert_no_faults(faults_of(tab, heading.to_be_attached, lambda: wrong_page(tree_of(tab)) + wrong_place(tab, view), is_page=True))


def wrong_place(tab: Tab, view: str) -> list[str]:
    """Whether it is said where one is."""
    current = tab.page.get_by_role("navigation").locator("[aria-current=page]").locator("visible=true")
    found = current.evaluate_all("(links) => links.map((link) => link.getAttribute('href'))")
    page = re.split(r"[?/]", view)[0]
    if page in ("account", "no-such-page"):
        return [f"{found} says where one is" for _ in found]
    is_right = len(found) == 1 and {"compare": "links"}.get(page, page) in found[0]
    return [] if is_right else [f"{found} says where one is"]


@pytest.mark.parametrize("view", PUBLIC)
def test_a_way_in_can_be_used_by_everybody(tabs: Tabs, view: str) -> None:
    tab = tabs.open(None, view, answers=public_answers(view))
    assert_no_faults(faults_of(tab, expect(tab.heading(PUBLIC[view])).to_be_visible, lambda: wrong_page(tree_of(tab), is_framed=False)))


@pytest.mark.parametrize(("view", "registration", "sentence"), ELSEWHERE)
def test_a_way_into_another_linklet_can_be_used_by_everybody(tabs: Tabs, view: str, registration: dict[str, Any], sentence: str) -> None:
    tab = tabs.open(None, view, answers={REGISTRATION: registration})
    said = expect(tab.page.get_by_text(sentence).first)
    assert_no_faults(faults_of(tab, said.to_be_visible, lambda: wrong_page(tree_of(tab), is_framed=False)))


@pytest.mark.parametrize("view", RARE)
def test_what_is_rare_can_be_used_by_everybody(tabs: Tabs, filled: Account, view: str) -> None:
    answers, *sentences = RARE[view]
    tab = tabs.open(filled, view, answers=with_paused_workspace(filled) | answers)

    def shown() -> None:
        for sentence in sentences:
            expect(tab.page.get_by_text(sentence).first).to_be_visible()

    is_page = view in VIEWS
    assert_no_faults(faults_of(tab, shown, lambda: wrong_page(tree_of(tab), is_framed=is_page), is_page=is_page))


def test_a_link_for_another_account_can_be_used_by_everybody(tabs: Tabs, api: Api) -> None:
    tab = tabs.open(api.register(name="an-address-that-is-wider-than-the-narrowest-phone"), "verify?token=vrf_0")
    tab.fails("**/api/auth/verify", 403, "forbidden")

    def shown() -> None:
        tab.click(tab.button("Confirm email"), shows=tab.page.get_by_label("That account’s password"))

    assert_no_faults(faults_of(tab, shown, lambda: wrong_page(tree_of(tab), is_framed=False)))


@pytest.mark.parametrize("has_password", [True, False])
def test_a_question_that_takes_a_proof_can_be_used_by_everybody(tabs: Tabs, api: Api, filled: Account, has_password: bool) -> None:
    elsewhere = Elsewhere(api, has_password=has_password, identities=[identity(ACME), identity(MOCK)])
    tab = tabs.open(filled, "account?view=data", answers=elsewhere.answers)

    def shown() -> None:
        tab.click(tab.button("Close my account"), shows=tab.page.get_by_role("button", name="Continue with Mock"))

    assert_no_faults(faults_of(tab, shown, lambda: wrong_names(tree_of(tab))))


def test_a_selection_can_be_used_by_everybody(tabs: Tabs, filled: Account) -> None:
    # A single one, so that the bar that floats covers no other.
    tab = tabs.open(filled, "links?tag=spring")

    def shown() -> None:
        tab.settled()
        tab.keys("j", "x", shows=tab.page.get_by_role("region", name="Selected links"))

    assert_no_faults(faults_of(tab, shown, lambda: wrong_page(tree_of(tab))))


def test_a_form_with_errors_can_be_used_by_everybody(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "links")

    def shown() -> None:
        tab.settled()
        show_terms(tab)
        form = tab.dialog("New link")
        form.locator("summary", has_text="Campaign").click()
        form.get_by_role("button", name="On a date").click()
        form.get_by_label("Click limit").fill("0")
        form.get_by_label("Preview title").fill("Half price")
        form.get_by_label("Preview image").fill("https://example.com/card.png")
        tab.click(tab.button("Create link", form), counts=(form.locator("[aria-invalid=true]"), 2))

    assert_no_faults(faults_of(tab, shown, lambda: wrong_names(tree_of(tab))))


@pytest.mark.parametrize("what", OVERLAYS)
def test_what_lies_over_a_page_can_be_used_by_everybody(tabs: Tabs, filled: Account, what: str) -> None:
    overlay = OVERLAYS[what]
    tab = tabs.open(filled, overlay.view.format(code=sale_of(filled)), answers=with_paused_workspace(filled))
    show, read, resized, leave = (partial(each, tab, overlay) for each in (open_overlay, wrong_overlay, reopen, assert_left))
    assert_no_faults(faults_of(tab, show, read, resized=resized, leave=leave))


def test_nothing_moves_for_who_wants_no_motion(tabs: Tabs, filled: Account) -> None:
    moving = "document.getAnimations().filter(({ effect }) => effect.getComputedTiming().activeDuration > 1).length"
    tab = tabs.open(filled, "links", reduced_motion="reduce")
    # A dialog slides in otherwise.
    for key in ("c", "Escape", "?", "Escape", "Control+k"):
        tab.page.keyboard.press(key)
        tab.page.locator("dialog").first.wait_for(state="detached" if key == "Escape" else "visible")
        assert tab.page.evaluate(moving) == 0


def test_no_page_is_forgotten() -> None:
    """Neither here and in the pictures of all these views, nor where each page fails or shows what others have written."""
    rows = dict(re.findall(r"^  \{ path: '([a-z-]+)', (.*) \},$", PAGES_OF_THE_APPLICATION.read_text(), re.MULTILINE))
    shown_to_members = {path for path, row in rows.items() if "isPublic" not in row}
    assert len(shown_to_members) > 5 and len(rows) > len(shown_to_members)
    assert rows.keys() <= pages_of([*VIEWS, *PUBLIC])
    # From the account, those tests come to the other pages.
    assert shown_to_members <= pages_of(READS) | {"account"}
    assert shown_to_members <= pages_of(SHOWING_TEXTS)


def pages_of(views: Iterable[str]) -> set[str]:
    return {re.split(r"[?/]", view)[0] for view in views}
