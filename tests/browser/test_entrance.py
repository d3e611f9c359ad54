"""The ways in and out, and what is served beside the application."""

import re
import urllib.parse

import pytest
from playwright.sync_api import expect

from support.api import PASSWORD, Account, Api, new_email
from support.states import DOMAINS, INVITED, LOOK, REGISTRATION, TO_REGISTER
from support.tab import Tab, Tabs
from test_every_page import judge


def test_somebody_signs_in_where_they_wanted_to_be_and_out(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(None, "links?status=inactive", refused=[401], heading="Sign in")

    tab.sign_in(account.email, "not my password")
    expect(tab.page.get_by_role("alert")).to_contain_text("Wrong email or password.")
    expect(tab.page.get_by_label("Email")).to_have_value(account.email)

    tab.submit("Sign in", {"Password": PASSWORD})
    expect(tab.heading("Links")).to_be_attached()
    assert tab.view() == "links?status=inactive"

    tab.settled()
    tab.pick(tab.button(account.email), "Sign out", heading="Sign in")
    assert tab.page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('linklet:session'))") == []
    tab.reload(heading="Sign in")


def test_a_newcomer_begins_in_the_first_field_and_gets_the_keys_there(tabs: Tabs) -> None:
    tab = tabs.open(None, "sign-in")
    tab.press(tab.page.get_by_role("link", name="Create an account"), focuses=tab.page.get_by_label("Email"))
    tab.sign_in(new_email(), button="Create account")
    expect(tab.page.get_by_label("Paste a long URL")).to_be_focused()
    tab.keys("?", shows=tab.dialog("Keyboard shortcuts"))


def test_what_is_wrong_stands_at_its_field(tabs: Tabs) -> None:
    tab = tabs.open(None, "sign-up", refused=[400])
    email, password = tab.page.get_by_label("Email"), tab.page.get_by_label("Password")
    tab.sign_in("nobody", "short", button="Create account")
    expect(email).to_have_accessible_description("Enter a valid email address.")
    expect(password).to_have_accessible_description(re.compile("Use at least 8 characters."))
    expect(password).to_have_value("short")
    # Only the API knows which ones are guessed.
    tab.sign_in(new_email(), "password1", button="Create account")
    expect(email).not_to_have_attribute("aria-invalid", "true")
    expect(password).to_have_attribute("aria-invalid", "true")


def test_a_password_is_seen_until_it_is_sent(tabs: Tabs) -> None:
    tab = tabs.open(None, "sign-in", refused=[401])
    password, eye = tab.page.get_by_label("Password"), tab.button("Reveal")
    tab.write(tab.page.get_by_label("Email"), new_email())
    tab.write(password, "not my password")
    expect(password).to_have_attribute("type", "password")
    tab.press(eye)
    expect(password).to_have_attribute("type", "text")
    expect(password).to_have_value("not my password")
    tab.press(eye)
    expect(password).to_have_attribute("type", "password")
    tab.press(eye)
    tab.press(tab.button("Sign in"), shows=tab.page.get_by_role("alert"))
    expect(password).to_have_attribute("type", "password")


def test_a_new_password_says_how_strong_it_is(tabs: Tabs) -> None:
    tab = tabs.open(None, "sign-up")
    password, button = tab.page.get_by_label("Password"), tab.button("Create account")
    expect(button).to_be_visible()
    before = button.bounding_box()
    for value, word in [("short", "Too short"), ("hunter2!", "Weak"), ("correct horse", "Fair"), (PASSWORD, "Strong")]:
        password.fill(value)
        expect(password).to_have_accessible_description(re.compile(word))
    assert button.bounding_box() == before, "nothing moves when one begins to type"
    password.fill("")
    expect(tab.page.get_by_role("meter")).to_have_count(0)


def test_a_further_tab_takes_the_session(tabs: Tabs, account: Account) -> None:
    first = tabs.open(None, "sign-in")
    first.sign_in(account.email)
    expect(first.heading("Links")).to_be_attached()

    second = tabs.keep(Tab(first.context, first.api)).open("settings")
    expect(second.heading("Settings")).to_be_visible()
    # What is still asked for when the session ends is refused.
    second.settled()

    first.page.bring_to_front()
    first.button(account.email).click()
    first.page.get_by_role("menu").get_by_text("Sign out").click()
    expect(first.heading("Sign in")).to_be_visible()
    expect(second.heading("Sign in")).to_be_visible()


def test_an_invitation_brings_somebody_into_the_workspace(tabs: Tabs, api: Api, account: Account) -> None:
    friend = new_email("bob")
    admin = tabs.open(account, "members")
    admin.write(admin.page.get_by_label("Email"), friend)
    admin.choose(admin.page.get_by_label("Role", exact=True), "viewer")
    admin.press(admin.button("Invite"))
    invitation = admin.dialog("Share this link").get_by_label("Invitation").input_value()
    assert invitation.startswith(f"{api.app}#/invitation?token=inv_")
    # It is shown only now.
    admin.keys("Escape", shows=admin.dialog("Share this link"))
    admin.press(admin.button("Done"), shows=admin.page.get_by_role("table", name="Pending invitations").get_by_text(friend))

    guest = tabs.open_new()
    guest.page.goto(invitation)
    expect(guest.heading("You’re invited")).to_be_visible()
    name = account.call("GET", "/api/workspace")["name"]
    expect(guest.page.get_by_text(f"{account.email} invites {friend} to the workspace {name} as a viewer.")).to_be_visible()
    expect(guest.page.get_by_label("Email")).to_have_value(friend)
    expect(guest.page.get_by_label("Email")).not_to_be_editable()
    guest.submit("Create account", {"Password": PASSWORD, "Your name": "Bob"})
    expect(guest.heading("Links")).to_be_attached()
    # A viewer makes no links.
    expect(guest.page.get_by_label("Paste a long URL")).to_have_count(0)

    admin.reload(shows=admin.page.get_by_role("table", name="Members").get_by_text("Bob", exact=True))
    expect(admin.page.get_by_role("table", name="Pending invitations")).to_have_count(0)


def test_an_operators_invitation_makes_an_account_for_its_address(tabs: Tabs, account: Account) -> None:
    # Only an operator makes the right to register, so what the API says of it is made up.
    friend = new_email("o'brien+links")
    token = account.call("POST", "/api/workspace/invitations", {"email": friend})["token"]
    view = f"invitation?token={token}&email={urllib.parse.quote(friend, safe='')}"

    tab = tabs.open(account, view, answers={LOOK: TO_REGISTER | {"email": friend}})
    expect(tab.page.get_by_text("This invitation is for a new account.")).to_be_visible()
    tab.press(tab.button("Sign out and create one"))
    expect(tab.page.get_by_label("Email")).to_have_value(friend)
    expect(tab.page.get_by_label("Email")).not_to_be_editable()
    expect(tab.page.get_by_role("group", name="Account")).to_have_count(0)
    tab.submit("Create account", {"Password": PASSWORD}, shows=tab.button(friend))
    expect(tab.heading("Links")).to_be_attached()


def test_an_invitation_for_another_address_or_a_used_one_is_not_accepted(tabs: Tabs, account: Account) -> None:
    friend = new_email()
    token = account.call("POST", "/api/workspace/invitations", {"email": friend})["token"]
    tab = tabs.open(account, f"invitation?token={token}")
    expect(tab.page.get_by_role("alert")).to_contain_text("the invitation is for another email")
    expect(tab.button("Join")).to_have_count(0)
    tab.press(tab.button("Use another account"))
    expect(tab.page.get_by_label("Email")).to_have_value(friend)

    tab = tabs.open(None, "invitation?token=inv_00000000000000000000000000000000", refused=[404])
    expect(tab.page.get_by_role("alert")).to_contain_text("This invitation was used or withdrawn, or it has expired.")
    expect(tab.page.get_by_role("textbox")).to_have_count(0)


NOT_EMAILED = {
    "mail_off": "this server doesn’t send email",
    "inviter_unverified": "your own email isn’t confirmed",
    "limit_reached": "you’ve reached the hourly limit of emailed invitations",
    "mailed_recently": "this address was emailed an invitation recently",
}


def test_who_invites_sees_whether_and_why_no_mail_was_sent(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    # Only who has confirmed their own address has a mail sent.
    friend = new_email()
    tab = tabs.open(account, "members")
    tab.write(tab.page.get_by_label("Email"), friend)
    made = tab.open_dialog("Invite", "Share this link")
    expect(made.get_by_text("We didn’t email them because your own email isn’t confirmed.")).to_be_visible()
    (listed,) = account.call("GET", "/api/workspace/invitations")["invitations"]
    for reason, words in NOT_EMAILED.items():
        with subtests.test(reason):
            tab.answers("**/api/workspace/invitations", {"invitations": [listed | {"not_mailed": reason}]})
            expect(made.get_by_text(f"We didn’t email them because {words}. Send them this link yourself.")).to_be_visible()
    tab.answers("**/api/workspace/invitations", {"invitations": [listed | {"mailed_at": listed["created_at"], "not_mailed": None}]})
    expect(made.get_by_text("We also emailed them a separate link.")).to_be_visible()
    tab.press(tab.button("Done", made))
    expect(tab.page.get_by_role("table", name="Pending invitations").get_by_role("row").filter(has_text=friend)).to_contain_text("Today")


def test_an_invitation_that_is_sent_again_has_a_new_link(tabs: Tabs, api: Api, account: Account, input_device: str) -> None:
    friend = new_email()
    first = account.call("POST", "/api/workspace/invitations", {"email": friend, "role": "viewer"})["token"]
    tab = tabs.open(account, "members")
    row = tab.page.get_by_role("table", name="Pending invitations").get_by_role("row").filter(has_text=friend)
    expect(row).to_contain_text("Not emailed: your own email isn’t confirmed.")
    expect(row.get_by_role("link", name="Confirm it")).to_be_visible()
    again = tab.button(f"Send again to {friend}", row)
    tab.press(again)
    made = tab.dialog("Share this link")
    expect(made).to_contain_text(f"{friend} can use it once to join as a viewer")
    link = made.get_by_label("Invitation").input_value()
    assert link.startswith(f"{api.app}#/invitation?token=inv_") and first not in link
    judge(tab, "an invitation that is sent again")
    tab.press(tab.button("Done", made), counts=(row, 1))
    # Who made it is somebody else.
    listed = account.call("GET", "/api/workspace/invitations")["invitations"][0]
    tab.answers("**/api/workspace/invitations", {"invitations": [listed | {"invited_by": listed["id"]}]})
    tab.reload(shows=row)
    expect(row).to_contain_text("Not emailed: the inviter’s own email isn’t confirmed.")
    tab.assert_not_sideways()
    with tab.failing("**/api/workspace/invitations", 429, "rate_limited", method="POST"):
        tab.press(again, says="Couldn’t send the invitation.")


def test_a_forgotten_password_is_asked_for(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(None, "sign-in")
    tab.follow("Forgot your password?", "Forgot password")
    tab.submit("Send link", {"Email": account.email}, shows=tab.page.locator(".notice").filter(has_text=account.email))


def test_a_new_password_is_set(tabs: Tabs) -> None:
    token = "rst_00000000000000000000000000000000"
    tab = tabs.open(None, f"reset?token={token}")
    # An address gets few mails, so nobody waits for one here.
    tab.page.route("**/api/auth/password/reset", lambda route: route.fulfill(status=204))
    tab.write(tab.page.get_by_label("New password"), PASSWORD)
    assert tab.sent("**/api/auth/password/reset", tab.button("Change password")) == {"token": token, "password": PASSWORD}
    expect(tab.heading("Password changed")).to_be_visible()
    expect(tab.page.get_by_text("API keys and other people’s memberships are paused")).to_be_visible()
    tab.follow("Sign in", "Sign in")


def test_an_address_is_confirmed_by_whoever_is_signed_in(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, account.api.linked_view(account.email, "verify"), heading="Confirm your email")
    # Programs that look at mails open their links.
    assert account.call("GET", "/api/me")["verified"] is False
    tab.press(tab.button("Confirm email"), heading="Email confirmed")
    assert account.call("GET", "/api/me")["verified"] is True
    tab.follow("Go to your links", "Links")


def test_an_address_is_confirmed_with_the_password(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(None, account.api.linked_view(account.email, "verify"), refused=[401])
    password = tab.page.get_by_label("Password")
    expect(password).to_be_focused()
    tab.press(tab.button("Confirm email"))
    expect(password).to_have_accessible_description("Enter the account’s password.")
    tab.submit("Confirm email", {password: "not my password"}, shows="Never signed up here?")
    expect(password).to_have_accessible_description("Wrong password.")
    tab.submit("Confirm email", {password: PASSWORD}, heading="Email confirmed")
    assert account.call("GET", "/api/me")["verified"] is True
    tab.follow("Sign in", "Sign in")


def test_a_link_for_another_account_asks_for_its_password_or_signs_out(tabs: Tabs, api: Api, account: Account) -> None:
    bob = api.register("Bob", name="bob")
    tab = tabs.open(account, api.linked_view(bob.email, "verify"), refused=[403])
    tab.press(tab.button("Confirm email"))
    expect(tab.page.get_by_text("This link is for another account.")).to_contain_text(account.email)
    tab.submit("Confirm email", {"That account’s password": PASSWORD}, heading="Email confirmed")
    assert [who.call("GET", "/api/me")["verified"] for who in (account, bob)] == [False, True]

    # One can also sign out.
    tab = tabs.open(account, "verify?token=vrf_0")
    tab.fails("**/api/auth/verify", 403, "forbidden")
    tab.button("Confirm email").click()
    tab.click(tab.button("Sign out"), shows=tab.page.get_by_label("Password", exact=True), at="verify?token=vrf_0")


TOO_OLD = [
    ("verify?token=vrf", "Password", "Confirm email", None),
    ("first-password?token=vrf", "Password", "Set password", "request a new link"),
    ("reset?token=rst", "New password", "Change password", "Request a new one"),
]


@pytest.mark.parametrize(("view", "label", "button", "link"), TOO_OLD)
def test_a_token_that_is_too_old_says_so_or_leads_on(tabs: Tabs, view: str, label: str, button: str, link: str | None) -> None:
    tab = tabs.open(None, f"{view}_00000000000000000000000000000000", refused=[404])
    password = tab.page.get_by_label(label)
    expect(password).to_be_focused()
    tab.submit(button, {password: PASSWORD})
    if link is None:
        expect(tab.page.locator(".notice").filter(has_text="This link has been used or has expired.")).to_be_visible()
    else:
        tab.follow(link, "Forgot password")


def test_a_first_password_is_chosen(tabs: Tabs) -> None:
    token = "vrf_00000000000000000000000000000000"
    tab = tabs.open(None, f"first-password?token={token}", answers={"**/api/auth/verify": None})
    password = tab.page.get_by_label("Password")
    expect(password).to_be_focused()
    tab.submit("Set password", {password: "short"})
    expect(password).to_have_accessible_description(re.compile("Use at least 8 characters."))
    tab.write(password, PASSWORD)
    assert tab.sent("**/api/auth/verify", tab.button("Set password")) == {"token": token, "password": PASSWORD}
    expect(tab.heading("Your account is ready")).to_be_visible()
    tab.follow("Sign in", "Sign in")


def test_where_addresses_are_confirmed_first_nobody_chooses_a_password_yet(tabs: Tabs) -> None:
    tab = tabs.open(None, "sign-up", answers={REGISTRATION: DOMAINS})
    email = tab.page.get_by_label("Email")
    expect(tab.page.get_by_text("You need an email address at example.com or example.org.")).to_be_visible()
    expect(tab.page.get_by_label("Password")).to_have_count(0)

    with tab.failing("**/api/auth/register", 403, "registration_closed"):
        tab.submit("Create account", {email: "ada@example.net"})
        expect(email).to_have_accessible_description(re.compile("Other email addresses need an invitation."))
    tab.answers("**/api/auth/register", {"user_id": "u", "email": "ada@example.com", "workspace_id": "w"}, status=201)
    tab.write(email, "ada@example.com")
    assert tab.sent("**/api/auth/register", tab.button("Create account")) == {"email": "ada@example.com", "full_name": ""}
    expect(tab.page.locator(".notice").filter(has_text="We sent a link to ada@example.com")).to_be_visible()

    tab.answers("**/api/auth/verification", {}, status=202)
    assert tab.sent("**/api/auth/verification", tab.button("Resend")) == {"email": "ada@example.com"}
    expect(tab.page.get_by_text("Sent.")).to_be_visible()


def test_where_accounts_are_made_by_invitation_there_are_no_forms(tabs: Tabs) -> None:
    tab = tabs.open(None, "sign-in", answers={REGISTRATION: INVITED}, shows="You need an invitation to create an account.")
    expect(tab.page.get_by_role("link", name="Create an account")).to_have_count(0)
    tab.open("sign-up", heading="Create an account", shows="Ask someone who uses this Linklet")
    expect(tab.page.get_by_role("textbox")).to_have_count(0)
    tab.open("forgot", shows="This Linklet doesn’t send email.", lacks=tab.page.get_by_role("textbox"))


def test_a_form_is_there_although_nobody_says_how_people_register(tabs: Tabs) -> None:
    tab = tabs.open(None, "sign-in")
    tab.fails(REGISTRATION, 503, "service_unavailable")
    tab.reload()
    tab.click(tab.page.get_by_role("link", name="Create an account"), shows=tab.page.get_by_label("Password"))


def test_somebody_makes_a_workspace_and_goes_back(tabs: Tabs, account: Account, input_device: str) -> None:
    account.shorten("https://example.com/mine")
    tab = tabs.open(account, "links", links=1)
    own = account.call("GET", "/api/workspace")["name"]
    tab.pick(tab.button(re.compile("Switch workspace")), "New workspace")
    tab.submit("Create", {tab.dialog("New workspace").get_by_label("Name"): "Side project"}, says="Side project is ready.")
    expect(tab.button(re.compile("Side project"))).to_be_visible()
    expect(tab.links).to_have_count(0)
    tab.pick(tab.button(re.compile("Switch workspace")), own, links=1)


def test_the_page_of_the_documentation_calls_the_system_that_serves_it(tabs: Tabs, api: Api) -> None:
    tab = tabs.open_new()
    tab.page.goto(f"{api.url}/api/docs")
    tab.until("() => document.querySelector('rapi-doc').selectedServer")
    assert tab.page.evaluate("document.querySelector('rapi-doc').selectedServer.computedUrl") == api.url


def test_the_page_of_the_documentation_shows_the_paragraph_of_a_problem_and_samples(tabs: Tabs, api: Api) -> None:
    tab = tabs.open_new()
    tab.page.goto(f"{api.url}/api/docs#rate_limited")
    expect(tab.page.get_by_role("heading", name="rate_limited")).to_be_in_viewport()
    sample = f"curl -X POST '{api.url}/api/shorten'"
    samples = "JSON.stringify(document.querySelector('rapi-doc').resolvedSpec.tags.flatMap(({ paths }) => paths.map(({ xCodeSamples }) => xCodeSamples)))"
    assert sample in tab.page.evaluate(samples)


def test_the_application_works_as_its_sources_are(tabs: Tabs, api: Api, account: Account) -> None:
    if api.send("GET", "/app-source", None, {}) == 404:
        pytest.skip("only the local system serves the sources")
    tab = tabs.open(account)
    tab.page.goto(f"{api.app}-source#/settings")
    expect(tab.heading("Settings")).to_be_visible()
    expect(tab.page.locator("meta[name=version]")).to_have_attribute("content", "source")
