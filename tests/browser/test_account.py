"""The account: name, address, mail, sessions, what has happened to it, its data, and its end."""

import json
import re

import pytest
from playwright.sync_api import Locator, Route, expect

from support.answers import query_of
from support.api import PASSWORD, Account, Api, Refused, new_email
from support.states import DOMAINS, REGISTRATION, as_account, own_session
from support.tab import Tab, Tabs

ME = "**/api/me"
EXPORT = "**/api/me/export*"
SESSIONS = "**/api/me/sessions"
NOWHERE_ELSE = "You’re not signed in anywhere else."
NARROW = 320


def test_somebody_changes_their_name(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account", shows="Not set")
    tab.press(tab.button("Change your name"), focuses=tab.page.get_by_label("Your name"))
    tab.submit("Save", {"Your name": " Ada  Lovelace "}, says="Name changed.", focuses=tab.button("Change your name"))
    assert account.call("GET", "/api/me")["full_name"].startswith("Ada")
    tab.press(tab.button("Change your name"))
    tab.submit("Save", {"Your name": " "}, shows="Not set")
    assert account.call("GET", "/api/me")["full_name"] is None


def test_a_name_stays_typed_until_it_is_saved(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account")
    tab.fails(ME, 429, "rate_limited", headers={"retry-after": "30"}, method="PATCH")
    tab.press(tab.button("Change your name"))
    tab.submit("Save", {"Your name": "Ada Lovelace"})
    expect(tab.page.get_by_role("alert")).to_contain_text("You can try again in")
    expect(tab.page.get_by_label("Your name")).to_have_value("Ada Lovelace")
    tab.click(tab.button("Cancel"), focuses=tab.button("Change your name"))


def test_an_address_changes_once_it_is_confirmed(tabs: Tabs, api: Api, account: Account) -> None:
    wanted = new_email("lovelace")
    tab = tabs.open(account, "account", refused=[401])
    tab.press(tab.button("Change your email"))
    tab.submit("Change email", {"New email": account.email.upper()})
    expect(tab.page.get_by_label("New email")).to_have_accessible_description(re.compile("This is already your email."))
    expect(tab.page.get_by_label("Your password")).to_have_accessible_description("Enter your password.")
    tab.submit("Change email", {"New email": wanted, "Your password": "not my password"})
    expect(tab.page.get_by_label("Your password")).to_have_accessible_description("Wrong password.")
    tab.submit("Change email", {"Your password": PASSWORD}, says=f"We sent a link to {wanted}.")
    expect(tab.page.get_by_role("main").get_by_role("status").filter(has_text="Waiting for you to confirm")).to_contain_text(wanted)
    assert account.call("GET", "/api/me")["email"] == account.email

    tab.open(api.linked_view(wanted, "verify"))
    expect(tab.page.get_by_text(f"You’re signed in as {account.email}. Confirm that the email this link was sent to is yours")).to_be_visible()
    tab.press(tab.button("Confirm email"), heading="Email confirmed")
    tab.open("account", shows=tab.page.get_by_role("main").get_by_text(wanted, exact=True))
    expect(tab.page.get_by_text("Waiting for you to confirm")).to_have_count(0)
    assert api.log_in(wanted).call("GET", "/api/me")["verified"] is True
    with pytest.raises(Refused):
        api.log_in(account.email)


def test_an_address_that_waits_gets_another_mail_and_is_taken_back(tabs: Tabs, account: Account) -> None:
    wanted = new_email("lovelace")
    account.call("PATCH", "/api/me", {"email": wanted, "password": PASSWORD})
    tab = tabs.open(account, "account")
    again = tab.button(f"Resend email to {wanted}")
    with tab.page.expect_response("**/api/auth/verification") as answered:
        tab.press(again)
    # Without an address, the one that waits is meant.
    assert (answered.value.status, answered.value.request.post_data) == (202, None)
    tab.says(f"Check {wanted} for the link. We send it at most once a minute.")
    expect(again).to_be_focused()
    expect(tab.page.get_by_text("Waiting for you to confirm")).to_contain_text(wanted)
    tab.press(tab.button("Cancel change"), says=f"Your email is still {account.email}.", focuses=tab.heading("Account"))
    expect(tab.page.get_by_text("Waiting for you to confirm")).to_have_count(0)
    assert account.call("GET", "/api/me")["pending_email"] is None


def test_an_address_waits_on_if_nothing_can_be_sent_or_taken_back(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account", answers=as_account(account, verified=True, pending_email="lovelace@example.com"))
    again = tab.button("Resend email to lovelace@example.com")
    tab.fails("**/api/auth/verification", 429, "rate_limited")
    held = tab.hold("**/api/auth/verification")
    again.click()
    for button in (again, tab.button("Cancel change")):
        expect(button).to_have_attribute("aria-disabled", "true")
        button.press("Enter")
    assert len(held.waiting) == 1
    held.let_go()
    tab.says("Couldn’t send the email. Too many requests.")
    expect(again).not_to_have_attribute("aria-disabled", "true")
    tab.fails(ME, 503, "service_unavailable", method="PATCH")
    tab.press(tab.button("Cancel change"), says="Couldn’t cancel the change.", shows="Waiting for you to confirm lovelace@example.com")
    expect(tab.button("Cancel change")).to_be_enabled()


def test_the_present_address_stops_another_one_if_it_waits(tabs: Tabs, api: Api, account: Account) -> None:
    token = api.linked_view(account.email, "verify").partition("token=")[2]
    account.call("POST", "/api/auth/verify", {"token": token})
    account.call("PATCH", "/api/me", {"email": new_email("mallory"), "password": PASSWORD})
    tab = tabs.open(None, api.linked_view(account.email, "keep-address"), heading="Keep your email")
    # Programs that look at mails open their links.
    assert account.call("GET", "/api/me")["pending_email"] is not None
    keep, said = tab.button("Keep my email"), tab.page.get_by_role("alert")
    with tab.failing("**/api/auth/address/keep", 503, "service_unavailable"):
        tab.press(keep)
        expect(said).to_contain_text("Linklet is temporarily unavailable")
    tab.press(keep, focuses=tab.heading("Your email stays the same"), shows=tab.page.get_by_role("link", name="Set a new password"))
    assert account.call("GET", "/api/me")["pending_email"] is None

    tab = tabs.open(None, "keep-address?token=kep_0", refused=[404])
    tab.press(tab.button("Keep my email"))
    expect(tab.page.get_by_role("alert")).to_contain_text("This link no longer works.")
    expect(tab.button("Keep my email")).to_have_count(0)


def test_without_mails_an_address_changes_at_once_if_it_can_be(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account", answers={REGISTRATION: DOMAINS | {"sends_mail": False}})
    tab.button("Change your email").click()
    email = tab.page.get_by_label("New email")
    expect(email).to_have_accessible_description("This takes effect immediately.")
    tab.page.get_by_label("Your password").fill(PASSWORD)
    for wanted, status, code, sentence in [
        ("nobody", 0, "", "Enter a valid email address."),
        ("ada@elsewhere.example", 403, "registration_closed", "Use an email address at example.com or example.org."),
        ("bob@example.com", 409, "email_taken", "An account with this email already exists."),
    ]:
        email.fill(wanted)
        if status:
            tab.fails(ME, status, code, method="PATCH", field="email")
        tab.click(tab.button("Change email"), focuses=email)
        expect(email).to_have_accessible_description(re.compile(re.escape(sentence)))
        expect(tab.page.get_by_label("Your password")).to_have_value(PASSWORD)

    changed = account.call("GET", "/api/me") | {"email": "lovelace@example.com", "verified": False, "pending_email": None}
    tab.page.route(ME, lambda route: route.fulfill(json=changed) if route.request.method == "PATCH" else route.fallback())
    email.fill(" lovelace@example.com ")
    sent = tab.sent(lambda request: request.method == "PATCH", tab.button("Change email"))
    assert sent == {"email": "lovelace@example.com", "password": PASSWORD}
    tab.says("Your email is now lovelace@example.com.")
    # The frame has it, too.
    expect(tab.button("lovelace@example.com")).to_be_visible()
    expect(tab.page.get_by_text("Not yet")).to_be_visible()


def test_an_address_that_got_an_account_meanwhile_is_not_confirmed(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "verify?token=vrf_0", answers=as_account(account, pending_email="lovelace@example.com"))
    tab.fails("**/api/auth/verify", 409, "email_taken")
    tab.button("Confirm email").click()
    expect(tab.page.get_by_role("alert")).to_contain_text("Another account now uses this email.")
    expect(tab.button("Confirm email")).to_have_count(0)
    tab.follow("Go to your account", "Account")


def test_who_cannot_be_reached_by_mail_is_told_and_confirms_again(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links", answers=as_account(account, verified=True, undeliverable=True) | {"**/api/auth/verification": None})
    tab.press(tab.page.get_by_role("link", name="Email is bouncing"), shows="An email to this address bounced. Confirm it again")
    with tab.page.expect_request("**/api/auth/verification"):
        tab.press(tab.button("Confirm again"))
    expect(tab.page.get_by_role("main").get_by_role("status").filter(has_text="a link is on its way")).to_contain_text(account.email)
    tab.press(tab.button("Email"))
    expect(tab.page.get_by_role("alert")).to_contain_text("an email to it bounced")

    phone = tabs.open(account, "links", width=NARROW, answers=as_account(account, undeliverable=True))
    phone.button("More").last.click()
    phone.click(phone.page.get_by_role("menuitem", name="Email is bouncing"), heading="Account")


def test_somebody_chooses_which_mail_they_get(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account?view=mail")
    expect(tab.page.get_by_label("Important only")).to_be_checked()
    expect(tab.button("Save")).to_be_disabled()
    # Of a group of radio buttons, the tabulator reaches the one that is chosen; arrows choose another one.
    tab.press(tab.page.get_by_label("Important only"))
    while not tab.page.get_by_label("Everything").is_checked():
        tab.keys("ArrowDown")
    tab.press(tab.button("Save"), says="Saved.")
    assert account.call("GET", "/api/me/notifications") == {"mail": "all"}
    tab.reload()
    expect(tab.page.get_by_label("Everything")).to_be_checked()

    # A choice that is refused can be sent again.
    tab.page.get_by_label("None").click()
    with tab.failing("**/api/me/notifications", 503, "service_unavailable", method="PATCH"):
        tab.press(tab.button("Save"), shows=tab.page.get_by_role("alert").filter(has_text="is temporarily unavailable"))
        expect(tab.page.get_by_label("None")).to_be_checked()
    tab.press(tab.button("Save"), says="Saved.")
    assert account.call("GET", "/api/me/notifications") == {"mail": "none"}


ADDED = re.compile("You’ll get this report|Report added")


def reports_of(account: Account) -> list[tuple[str, str | None]]:
    return [(report["every"], report["tag"]) for report in account.call("GET", "/api/workspace/reports")["reports"]]


def test_somebody_gets_reports_by_email_and_stops_them(tabs: Tabs, account: Account) -> None:
    account.call("POST", "/api/workspace/reports", {"every": "month", "tag": "launch"})
    tab = tabs.open(account, "account?view=mail")
    lines = tab.page.get_by_role("list", name="Reports").get_by_role("listitem")
    expect(lines).to_contain_text(["launch"])
    tab.press(tab.button("Add weekly report"), says=ADDED)
    expect(lines).to_contain_text(["launch", "All links"])
    expect(tab.button("Add weekly report")).to_have_count(0)
    assert reports_of(account) == [("month", "launch"), ("week", None)]

    stop = tab.button("Stop (monthly, launch)")
    with tab.failing("**/api/workspace/reports/*", 503, "service_unavailable"):
        tab.press(stop, says="Couldn’t stop the report.")
        expect(lines).to_have_count(2)
    tab.press(stop, says="Report stopped.")
    expect(lines).to_have_count(1)
    assert reports_of(account) == [("week", None)]


def test_a_report_says_why_none_arrives(tabs: Tabs, account: Account) -> None:
    report = {"id": "week_0", "every": "week", "tag": None, "created_at": "2126-11-21T16:41:12.105Z", "not_mailed": "undeliverable"}
    tab = tabs.open(account, "account?view=mail", answers={"**/api/workspace/reports": {"reports": [report], "next_cursor": None, "has_more": False}})
    expect(tab.page.get_by_role("list", name="Reports")).to_contain_text("An email to you bounced, so confirm your email to get it.")


def test_a_mailed_report_leads_to_where_it_ends(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "unsubscribe?token=uns_0&report=week_0")
    asked: list[str] = []
    tab.answers("**/api/unsubscribe?*", lambda route: (asked.append(route.request.url), route.fulfill(status=204)))
    expect(tab.page.get_by_text("Linklet emails you this report regularly.")).to_be_visible()
    tab.press(tab.button("Unsubscribe"), focuses=tab.heading("You’re unsubscribed"))
    expect(tab.page.get_by_text("You won’t get this report anymore. Other emails continue.")).to_be_visible()
    assert asked == [f"{tab.api.url}/api/unsubscribe?token=uns_0&report=week_0"]


def test_a_mail_leads_to_where_one_gets_no_more(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "unsubscribe?token=uns_0%2B")
    asked: list[str] = []
    tab.answers("**/api/unsubscribe?*", lambda route: (asked.append(f"{route.request.method} {route.request.url}"), route.fulfill(status=204)))
    expect(tab.heading("Unsubscribe?")).to_be_visible()
    tab.settled()
    assert asked == []
    tab.press(tab.button("Unsubscribe"), focuses=tab.heading("You’re unsubscribed"))
    expect(tab.page.get_by_text("You won’t get emails about links anymore. You’ll still get security emails.")).to_be_visible()
    assert asked == [f"POST {tab.api.url}/api/unsubscribe?token=uns_0%2B"]
    tab.press(tab.page.get_by_role("link", name="Email settings"))
    expect(tab.page.get_by_role("group", name="Emails about your links")).to_be_visible()

    # One that is too old leads to the choice, too.
    tab = tabs.open(None, "unsubscribe?token=uns_0")
    tab.fails("**/api/unsubscribe?*", 404, "token_invalid")
    tab.button("Unsubscribe").click()
    expect(tab.page.get_by_role("alert")).to_contain_text("This link has expired.")
    tab.page.get_by_role("link", name="Sign in").click()
    tab.sign_in(account.email)
    expect(tab.page.get_by_role("group", name="Emails about your links")).to_be_visible()


def test_a_session_elsewhere_is_ended_or_all_at_once(tabs: Tabs, api: Api, account: Account) -> None:
    api.log_in(account.email)
    elsewhere = api.log_in(account.email)
    tab = tabs.open(account, "account?view=sign-in")
    lines = sessions_of(tab)
    expect(lines).to_have_count(3)
    expect(lines.filter(has_text="This session")).to_have_count(1)
    expect(lines.first).to_contain_text("This session")
    tab.press(tab.button(re.compile(r"^Sign out \(")).first, says="The session ends within a minute.", counts=(lines, 2))
    expect(tab.button(re.compile(r"^Sign out \(")).first).to_be_focused()
    tab.press(tab.button(re.compile(r"^Sign out \(")).first, focuses=tab.page.get_by_text(NOWHERE_ELSE))
    tab.settled()
    assert [one["is_current"] for one in account.call("GET", "/api/me/sessions")["sessions"]] == [True]
    with pytest.raises(Refused, match="401"):
        elsewhere.wait_for("/api/me", lambda _: False, seconds=70)
    tab.press(tab.button("Sign out everywhere", tab.open_dialog("Sign out everywhere", "Sign out everywhere?")))
    expect(tab.heading("Sign in")).to_be_visible()


def sessions_of(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Sessions").get_by_role("listitem")


def test_a_session_is_shown_again_unless_it_has_ended(tabs: Tabs, account: Account) -> None:
    listed = {"sessions": [own_session(0), own_session(1, device="Chrome on Windows")]}
    tab = tabs.open(account, "account?view=sign-in", answers={SESSIONS: listed})
    end = tab.button("Sign out (Chrome on Windows, Norway)")
    tab.fails("**/api/me/sessions/*", 503, "service_unavailable")
    tab.click(end, says="Couldn’t end the session. Linklet is temporarily unavailable.")
    expect(sessions_of(tab)).to_have_count(2)
    tab.page.route("**/api/me/sessions/*", lambda route: route.fulfill(status=204))
    tab.click(end, says="The session ends within a minute.", counts=(sessions_of(tab), 1))


def test_somebody_reads_what_has_happened_to_their_account(tabs: Tabs, account: Account) -> None:
    account.call("PATCH", "/api/me", {"full_name": "Ada Lovelace"})
    account.call("PATCH", "/api/me/notifications", {"mail": "none"})
    tab = tabs.open(account, "account")
    tab.press(tab.button("Activity"))
    rows = tab.page.get_by_role("table", name="Account activity").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("Changed the email settings from important to none")
    expect(rows.filter(has_text="Changed the name")).to_have_count(1)
    expect(rows.filter(has_text="Signed in").first).to_be_visible()
    # Neither is in an entry.
    expect(tab.page.get_by_role("table")).not_to_contain_text(account.email)
    expect(tab.page.get_by_role("table")).not_to_contain_text("Lovelace")


def test_somebody_takes_their_data(tabs: Tabs, account: Account) -> None:
    account.shorten("https://example.com/mine", title="Mine")
    tab = tabs.open(account, "account?view=data")
    # It can be stopped.
    tab.hold(EXPORT)
    tab.press(tab.button("Download my data"))
    tab.press(tab.button("Cancel"), lacks=tab.page.get_by_role("alert"))
    tab.recovers(EXPORT)
    with tab.page.expect_download() as download:
        tab.press(tab.button("Download my data"))
    kept = json.loads(download.value.path().read_text())
    assert {"account", "membership", "session", "link"} <= {item["kind"] for item in kept["items"]}
    assert re.fullmatch(r"linklet-\d{4}-\d{2}-\d{2}\.json", download.value.suggested_filename)
    expect(tab.page.get_by_text(re.compile(r"^Saved: \d+ entries\."))).to_be_visible()
    assert not re.search(r'"(?!address_hash)[^"]*(hash|password|secret)[^"]*":', json.dumps(kept["items"]))


def test_a_large_export_is_read_in_parts_and_resumes_where_it_failed(tabs: Tabs, account: Account) -> None:
    parts = Parts()
    tab = tabs.open(account, "account?view=data", refused=[429, 503], answers={EXPORT: parts.answer})
    tab.button("Download my data").click()
    failure = tab.page.get_by_role("alert").filter(has_text="The export stopped after 200 entries.")
    expect(failure).to_be_visible()
    with tab.page.expect_download() as download:
        tab.button("Try again", failure).click()
    kept = json.loads(download.value.path().read_text())
    assert [item["id"] for item in kept["items"]] == list(range(400))
    # The second part was refused once, and the third one twice, since what is read is tried again at once.
    assert parts.asked == ["", "1", "1", "2", "2", "2", "3"]
    expect(tab.page.get_by_text("Saved: 400 entries.")).to_be_visible()


class Parts:
    """Of the data, there are four: one with too many requests before, and one that fails first."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def answer(self, route: Route) -> None:
        after = query_of(route).get("after", "")
        self.asked.append(after)
        often = self.asked.count(after)
        if after == "1" and often == 1:
            return route.fulfill(status=429, headers={"retry-after": "1"}, json={"code": "rate_limited", "detail": "not now"})
        if after == "2" and often <= 2:
            return route.fulfill(status=503, json={"code": "service_unavailable", "detail": "not now"})
        number = int(after or 0)
        items = [{"kind": "link", "id": 100 * number + at} for at in range(100)]
        return route.fulfill(json={"items": items, "next_cursor": str(number + 1) if number < 3 else None})


def test_an_account_is_closed(tabs: Tabs, api: Api, account: Account) -> None:
    for number in range(2):
        account.shorten(f"https://example.com/{number}")
    account.wait_for("/api/overview", lambda overview: overview["links"]["total"] == 2)
    tab = tabs.open(account, "account?view=data", refused=[401])
    dialog = tab.open_dialog("Close my account", "Close your account?")
    expect(dialog.get_by_role("listitem").first).to_contain_text("You’re its only member. 2 links and 0 clicks from the last 12 months are lost immediately.")
    tab.press(tab.button("Close account", dialog))
    typed, password = dialog.get_by_label(f"Type {account.email} to confirm"), dialog.get_by_label("Your password")
    expect(typed).to_have_accessible_description(f"Type {account.email} to confirm.")
    expect(password).to_have_accessible_description("Enter your password.")
    tab.submit("Close account", {typed: account.email, password: "not my password"}, dialog)
    expect(password).to_have_accessible_description("Wrong password.")
    tab.submit("Close account", {password: PASSWORD}, dialog, says="Your account is closed.", heading="Sign in")
    assert tab.view() == "sign-in"
    with pytest.raises(Refused):
        api.log_in(account.email)


def test_the_last_admin_is_told_where_another_one_is_needed(tabs: Tabs, account: Account) -> None:
    account.add_member()
    name = account.call("GET", "/api/workspace")["name"]
    tab = tabs.open(account, "account?view=data", refused=[409])
    dialog = tab.open_dialog("Close my account", "Close your account?")
    expect(dialog.get_by_role("listitem").first).to_contain_text("It has other members but no other admin.")
    tab.submit("Close account", {f"Type {account.email} to confirm": account.email, "Your password": PASSWORD}, dialog)
    refusal = dialog.get_by_role("alert")
    expect(refusal).to_contain_text(f"{name} has other members but no other admin.")
    tab.follow(refusal.get_by_role("link", name="Make one of them an admin"), "Members")
    assert account.call("GET", "/api/me")["email"] == account.email


def test_who_leaves_others_is_told_what_goes_to_them_if_known(tabs: Tabs, account: Account) -> None:
    bob = account.add_member()
    tab = tabs.open(bob, "account?view=data")
    tab.button("Close my account").click()
    lines = tab.dialog("Close your account?").get_by_role("list", name="What happens to your workspaces").get_by_role("listitem")
    expect(lines).to_have_count(2)
    expect(lines.filter(has_text="You’ll leave it. You have no links there.")).to_have_count(1)
    expect(lines.filter(has_text="You’re its only member, and it has no links.")).to_have_count(1)
    tab.fails("**/api/workspace/members", 503, "service_unavailable")
    tab.reload()
    tab.button("Close my account").click()
    expect(tab.dialog("Close your account?")).to_contain_text("Couldn’t load what will be lost.")
    expect(tab.button("Close account", tab.dialog("Close your account?"))).to_be_enabled()


def test_closing_goes_on_though_the_session_has_ended(tabs: Tabs, api: Api, account: Account) -> None:
    tab = tabs.open(account, "account?view=data", refused=[401])
    dialog = tab.open_dialog("Close my account", "Close your account?")
    dialog.get_by_label(f"Type {account.email} to confirm").fill(account.email)
    dialog.get_by_label("Your password").fill(PASSWORD)
    with tab.failing(ME, 503, "service_unavailable", method="DELETE"):
        tab.press(tab.button("Close account", dialog))
        expect(dialog).to_contain_text("Your account may be partly closed. Close it again to finish.")
    account.call("POST", "/api/auth/logout", {"everywhere": True})
    api.next_second()
    tab.press(tab.button("Close account", dialog), says="Your account is closed.", heading="Sign in")
    expect(tab.dialog("Your session has expired")).to_have_count(0)
    with pytest.raises(Refused, match="401"):
        api.log_in(account.email)


def test_the_palette_leads_to_the_address_of_each_part_of_the_account(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    for text, name, view in [
        ("sessions", "Your sign-in", "account?view=sign-in"),
        ("signed in", "Your sign-in", "account?view=sign-in"),
        ("close your account", "Your data", "account?view=data"),
        ("account", "Account", "account"),
    ]:
        tab.keys("Control+k")
        tab.page.get_by_role("combobox", name="Find anything").fill(text)
        expect(tab.page.get_by_role("option", name=name, exact=True)).to_have_attribute("aria-selected", "true")
        tab.keys("Enter", heading="Account")
        tab.page.wait_for_function("(view) => location.hash.endsWith(`/${view}`)", arg=view)
    tab.keys("Control+k", lacks=tab.page.get_by_role("option", name="Your sign-in"))
    tab.keys("Escape")

    tab.press(tab.button("Sign-in"), at="account?view=sign-in")
    tab.press(tab.button("Data"), shows=tab.button("Download my data"))
    tab.go_back()
    expect(tab.button("Sign-in")).to_have_attribute("aria-pressed", "true")
    tab.reload(shows=sessions_of(tab).first)
    tab.open("account?view=nonsense", shows=tab.button("Change your name"))


def test_who_has_more_sessions_than_are_listed_is_told(tabs: Tabs, account: Account) -> None:
    listed = {"sessions": [own_session(0), own_session(1)], "has_more": True}
    tab = tabs.open(account, "account?view=sign-in", answers={SESSIONS: listed, f"{SESSIONS}/*": None})
    told = tab.page.get_by_text("Only the latest 100 are shown. “Sign out everywhere” ends the others too.")
    expect(told).to_be_visible()
    tab.press(tab.button(re.compile(r"^Sign out \(")), says="The session ends within a minute.")
    # The last one that is listed isn't the last one.
    expect(sessions_of(tab)).to_have_count(1)
    expect(told).to_be_focused()
    expect(tab.page.get_by_text(NOWHERE_ELSE)).to_have_count(0)

    tab.answers(SESSIONS, {"sessions": [own_session(0)], "has_more": False})
    tab.reload(shows=tab.page.get_by_text(NOWHERE_ELSE), lacks=tab.page.get_by_text("Only the latest"))


def test_without_mails_there_is_nothing_to_choose(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account?view=mail", answers={REGISTRATION: DOMAINS | {"sends_mail": False}})
    said = tab.page.get_by_text("This Linklet doesn’t send email, not even security alerts.")
    expect(said).to_be_visible()
    tab.settled()
    expect(tab.page.get_by_role("radio")).to_have_count(0)
    expect(tab.page.get_by_text("You always get security emails")).to_have_count(0)
    said.get_by_role("link", name="Activity").click()
    expect(tab.page.get_by_role("table", name="Account activity")).to_be_visible()


def test_a_failed_export_moves_the_focus_to_try_again_and_back(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account?view=data")
    with tab.failing(EXPORT, 500, "internal_error"):
        tab.button("Download my data").focus()
        tab.keys("Enter", focuses=tab.button("Try again"))
    held = tab.hold(EXPORT)
    tab.keys("Enter", focuses=tab.button("Cancel"))
    with tab.page.expect_download():
        held.let_go()
    expect(tab.button("Download my data")).to_be_focused()


def test_who_is_elsewhere_when_reading_ones_data_fails_stays_there(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "account?view=data")
    tab.fails(EXPORT, 500, "internal_error")
    held = tab.hold(EXPORT)
    with tab.page.expect_request(EXPORT):
        tab.button("Download my data").click()
    elsewhere = tab.button("Close my account")
    elsewhere.focus()
    expect(tab.button("Cancel")).to_be_visible()
    held.let_go()
    expect(tab.button("Try again")).to_be_visible()
    expect(elsewhere).to_be_focused()
