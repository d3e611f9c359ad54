"""How somebody signs in: at providers or with a password, and proving again who one is. The providers are made up here; sign_in.py has
real ones."""

import re

import pytest
from playwright.sync_api import Locator, Route, expect

from support.answers import query_of
from support.api import PASSWORD, Account, Api
from support.states import ACME, ALSO_ELSEWHERE, LOOK, ONLY_ELSEWHERE, REGISTRATION, SECURITY, TO_JOIN, Elsewhere, identity
from support.tab import Tab, Tabs

SIGN_IN = "account?view=sign-in"
CONFIRMED = "You’ve confirmed that it’s you."
NO_PROOF = [401, 403]


@pytest.fixture
def elsewhere(api: Api) -> Elsewhere:
    """Somebody who signs in at Acme, and has no password."""
    return Elsewhere(api, has_password=False, identities=[identity(ACME)])


def prove(tab: Tab, title: str) -> None:
    """Signs in again, and comes back to the same question."""
    tab.press(tab.button("Continue with Acme", tab.dialog(title)))
    expect(tab.dialog(title).get_by_text(CONFIRMED)).to_be_visible()


def test_an_identity_is_connected_and_removed_with_the_password(tabs: Tabs, account: Account, elsewhere: Elsewhere) -> None:
    elsewhere.has_password, elsewhere.identities = True, []
    tab = tabs.open(account, SIGN_IN, answers=elsewhere.answers, refused=NO_PROOF)
    expect(providers_of(tab).filter(has_text="Not connected")).to_have_count(2)
    dialog = tab.open_dialog("Connect Acme", "Connect Acme?")
    tab.submit("Go to Acme", {"Your password": "not my password"}, dialog)
    expect(dialog.get_by_label("Your password")).to_have_accessible_description("Wrong password.")
    tab.submit("Go to Acme", {"Your password": PASSWORD}, dialog, says="Connected.")
    expect(providers_of(tab).first).to_contain_text("ada@example.com · connected 3 Aug 2026")

    dialog = tab.open_dialog("Remove Acme (ada@example.com)", "Remove Acme?")
    tab.submit("Remove", {"Your password": PASSWORD}, dialog, says="Acme is removed.", shows=tab.button("Connect Acme"))
    assert elsewhere.identities == []


def providers_of(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Identity providers").get_by_role("listitem")


def test_who_has_no_password_proves_it_elsewhere_and_closes_the_account(tabs: Tabs, account: Account, elsewhere: Elsewhere, input_device: str) -> None:
    tab = tabs.open(account, "account?view=data", answers=elsewhere.answers, refused=NO_PROOF)
    dialog = tab.open_dialog("Close my account", "Close your account?")
    expect(dialog.get_by_label("Your password")).to_have_count(0)
    expect(tab.button("Close account", dialog)).to_have_count(0)
    prove(tab, "Close your account?")
    assert tab.view() == "account?view=data"
    tab.submit("Close account", {"to confirm": account.email}, dialog, says="Your account is closed.", heading="Sign in")
    assert elsewhere.done == [("DELETE", {})]


def test_a_proof_that_is_too_old_is_asked_for_again(tabs: Tabs, account: Account, elsewhere: Elsewhere) -> None:
    tab = tabs.open(account, "settings", answers=elsewhere.answers, refused=NO_PROOF)
    title = re.compile("^Close .+")
    dialog = tab.open_dialog("Close this workspace", title)
    tab.press(tab.button("Continue with Acme", dialog))
    expect(dialog.get_by_text(CONFIRMED)).to_be_visible()
    elsewhere.is_proven = False
    tab.submit("Close workspace", {"to confirm": account.slug}, dialog)
    expect(dialog.get_by_role("alert")).to_contain_text("Your confirmation has expired.")
    expect(tab.button("Continue with Acme", dialog)).to_be_visible()
    assert elsewhere.done == []


@pytest.mark.parametrize(("refused", "why"), [
    ("denied", "The sign-in was canceled or refused."),
    ("other", "You signed in there as someone else."),
    ("stale", "The provider didn’t ask you to sign in again."),
])
def test_who_comes_back_without_a_proof_is_told_why(tabs: Tabs, account: Account, elsewhere: Elsewhere, refused: str, why: str) -> None:
    elsewhere.refused = refused
    tab = tabs.open(account, "account", answers=elsewhere.answers)
    tab.press(tab.button("Change your email"))
    tab.press(tab.button("Continue with Acme"))
    expect(tab.page.get_by_role("alert")).to_contain_text(why)
    expect(tab.page.get_by_label("New email")).to_have_count(0)
    # Nobody is told twice.
    tab.press(tab.button("Cancel"))
    tab.press(tab.button("Change your email"), shows=tab.button("Continue with Acme"), lacks=tab.page.get_by_role("alert"))


def test_an_identity_of_another_account_is_not_connected(tabs: Tabs, account: Account, elsewhere: Elsewhere) -> None:
    elsewhere.has_password, elsewhere.refused = True, "taken"
    tab = tabs.open(account, SIGN_IN, answers=elsewhere.answers)
    tab.submit("Go to Mock", {"Your password": PASSWORD}, tab.open_dialog("Connect Mock", "Connect Mock?"))
    expect(tab.page.get_by_role("alert")).to_contain_text("You signed in there as someone who has another account here.")
    expect(tab.button("Connect Mock")).to_be_visible()


def test_a_password_is_created_and_removed_without_one(tabs: Tabs, account: Account, elsewhere: Elsewhere) -> None:
    tab = tabs.open(account, SIGN_IN, answers=elsewhere.answers)
    expect(providers_of(tab).first).to_contain_text("Your only way to sign in")
    dialog = tab.open_dialog("Create a password", "Create a password")
    prove(tab, "Create a password")
    tab.submit("Create password", {"New password": PASSWORD}, dialog, says="Password created.", lacks=dialog)
    dialog = tab.open_dialog("Remove your password", "Remove your password?")
    tab.press(tab.button("Remove password", dialog), says="Password removed.", shows=tab.button("Create a password"))
    assert [method for method, _ in elsewhere.done] == ["POST", "DELETE"]


def test_who_has_both_may_choose_how_to_prove_it(tabs: Tabs, account: Account, elsewhere: Elsewhere) -> None:
    elsewhere.has_password = True
    tab = tabs.open(account, "account?view=data", answers=elsewhere.answers)
    dialog = tab.open_dialog("Close my account", "Close your account?")
    expect(dialog.get_by_label("Your password")).to_be_visible()
    tab.press(tab.button("Continue with Acme instead", dialog))
    expect(dialog.get_by_text(CONFIRMED)).to_be_visible()
    expect(dialog.get_by_label("Your password")).to_have_count(0)


def test_where_passwords_are_off_none_is_asked_for(tabs: Tabs, account: Account, elsewhere: Elsewhere) -> None:
    elsewhere.has_password, elsewhere.registration = True, ONLY_ELSEWHERE
    tab = tabs.open(account, SIGN_IN, answers=elsewhere.answers, shows="Passwords are turned off here")
    expect(tab.page.locator("input[type=password]")).to_have_count(0)
    tab.open_dialog("Remove your password", "Remove your password?")
    prove(tab, "Remove your password?")


# Where a field for a password is otherwise.
NO_FIELDS = ["sign-in", "sign-up", "forgot", "first-password?token=vrf_0", "verify?token=vrf_0", "invitation?token=inv_0"]


@pytest.mark.parametrize("view", NO_FIELDS)
def test_where_passwords_are_off_the_ways_in_are_providers(tabs: Tabs, view: str) -> None:
    tab = tabs.open(None, view, answers={REGISTRATION: ONLY_ELSEWHERE, LOOK: TO_JOIN})
    expect(tab.page.get_by_role("button", name="Continue with")).to_have_count(2)
    expect(tab.page.locator("input")).to_have_count(0)
    expect(tab.page.get_by_role("link", name="Forgot your password?")).to_have_count(0)


def test_an_operators_token_still_sets_a_password(tabs: Tabs) -> None:
    tab = tabs.open(None, "reset?token=rst_0", answers={REGISTRATION: ONLY_ELSEWHERE, "**/api/auth/password/reset": None})
    tab.submit("Change password", {"New password": PASSWORD}, heading="Password changed")
    tab.follow("Sign in", "Sign in")
    expect(tab.page.get_by_label("Password")).to_be_visible()


def test_an_identity_joins_by_mail_where_passwords_are_off(tabs: Tabs) -> None:
    tab = tabs.open(None, "join?provider=Acme&email=ada%40example.com", answers={REGISTRATION: ONLY_ELSEWHERE, "**/api/auth/password/forgot": None})
    expect(tab.page.get_by_label("Password")).to_have_count(0)
    tab.press(tab.button("Email me a link"), shows="Open it in this browser within 30 minutes.")
    tab.open("reset?token=rst_0", shows=tab.button("Connect Acme"))
    expect(tab.page.get_by_label("New password")).to_have_count(0)


def test_an_invitation_goes_along_to_a_provider(tabs: Tabs) -> None:
    tab = tabs.open(None, "invitation?token=inv_0", answers={REGISTRATION: ALSO_ELSEWHERE, LOOK: TO_JOIN, "**/api/auth/oidc/**": None})
    expect(tab.page.get_by_label("Password")).to_be_visible()
    with tab.page.expect_request("**/api/auth/oidc/acme*") as left:
        tab.press(tab.button("Continue with Acme"))
    assert left.value.url.endswith("/api/auth/oidc/acme?invitation=inv_0")


def test_who_signed_in_elsewhere_may_sign_out_there_too(tabs: Tabs, api: Api, account: Account) -> None:
    begun = {"token": account.token, "expires_at": account.expires_at}
    back = {"**/api/auth/oidc/acme": lambda route: route.fulfill(status=302, headers={"location": f"{api.app}#/signed-in"})}
    tab = tabs.open(None, "tags", answers={REGISTRATION: ONLY_ELSEWHERE, "**/api/auth/refresh": begun} | back)
    tab.press(tab.button("Continue with Acme"), heading="Tags")
    tab.open(SIGN_IN)
    tab.press(tab.button("Sign out here"), shows="You’re signed out here.")
    link = tab.page.get_by_role("link", name="Sign out at Acme, too")
    expect(link).to_have_attribute("href", f"{api.url}/api/auth/oidc/acme/logout")
    # Later, it says nothing any more.
    tab.reload(lacks=link)


def test_a_session_that_ends_goes_on_at_a_provider(tabs: Tabs, api: Api, account: Account) -> None:
    begun = {"token": account.token, "expires_at": account.expires_at}
    back = {"**/api/auth/oidc/acme": lambda route: route.fulfill(status=302, headers={"location": f"{api.app}#/signed-in"})}
    tab = tabs.open(account, "links", answers={REGISTRATION: ONLY_ELSEWHERE, "**/api/auth/refresh": begun} | back)
    with tab.failing("**/api/workspace/members*", 401, "unauthorized"):
        tab.go("members")
        over = tab.dialog("Your session has expired")
        expect(over.get_by_label("Password")).to_have_count(0)
        expect(tab.button("Continue with Mock", over)).to_be_visible()
    tab.press(tab.button("Continue with Acme", over), heading="Members", lacks=over)


def test_an_admin_sees_who_signs_in_how(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "settings", answers={"**/api/workspace/security*": security})
    tab.press(tab.button("Security"), at="settings?view=security", shows="Turned off")
    members = tab.page.get_by_role("table", name="How members sign in").get_by_role("row")
    expect(members).to_have_count(3)
    expect(members.nth(1)).to_contain_text("Acme")
    expect(members.nth(1)).to_contain_text("member from groups at Acme")
    tab.press(tab.button("Load more"), counts=(members, 5), lacks=tab.button("Load more"))
    expect(tab.page.get_by_role("table", name="Roles by groups").get_by_role("row").last).to_contain_text("Engineering")

    tab = tabs.open(account.add_member(enters=True), "settings?view=security", heading="Settings")
    expect(tab.button("Security")).to_have_count(0)
    expect(tab.heading("Settings")).to_be_visible()


def security(route: Route) -> None:
    """Two pages of members."""
    start = int(query_of(route).get("after", 0))
    members = [SECURITY["members"][0] | {"user_id": f"u{number}"} for number in (start, start + 1)]
    route.fulfill(json=SECURITY | {"members": members, "next_cursor": None if start else "2"})
