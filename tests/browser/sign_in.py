"""Signing in at identity providers that nobody here wrote: whole ways, in a browser. The suite `sign_in` runs it, since it deploys the
system again. A plain run of pytest doesn't find it.

Acme is `oidc-provider`, which is certified, and says whose an address is apart from the ID token. Mock is `oidc-provider-mock`.
"""

import json
import os
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from infra.local.installer import ROOT, install, install_modules, missing_node
from infra.local.system import free_port
from support.api import PASSWORD, Account, Api, new_email

SUPPORT = Path(__file__).parent / "support"
SECRETS = "certified secret\nany secret\n"


@pytest.fixture(scope="session")
def ports() -> dict[str, int]:
    return {"Acme": free_port(), "Mock": free_port()}


@pytest.fixture(scope="session")
def providers(api: Api, ports: dict[str, int]) -> Iterator[dict[str, int]]:
    """Both, on a system whose people sign in there."""
    if (missing := missing_node()) is not None:
        pytest.skip(missing)
    modules = install_modules()
    acme, mock = ports["Acme"], ports["Mock"]
    back = f"{api.url}/api/auth/oidc/acme/callback"
    commands = [
        ["node", SUPPORT / "certified.mjs", modules, str(acme), back, api.app],
        [install("providers") / "bin" / "oidc-provider-mock", "--port", str(mock)],
    ]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands]
    try:
        deploy(OidcIssuers=f"http://127.0.0.1:{acme},http://127.0.0.1:{mock}", OidcClientIds="linklet,linklet", OidcNames="Acme,Mock")
        # What `make oidc` runs.
        keep = [install("sam") / "bin" / "python", "-m", "infra.oidc"]
        printed = subprocess.run(keep, cwd=ROOT, check=True, input=SECRETS, text=True, stdout=subprocess.PIPE).stdout
        assert back in printed, printed
        yield ports
    finally:
        for process in running:
            process.terminate()


def deploy(**parameters: str) -> None:
    redeploy = [os.environ["LINKLET_PYTHON"], "-m", "infra.local", "redeploy", *(f"{name}={value}" for name, value in parameters.items())]
    subprocess.run(redeploy, cwd=ROOT, check=True)


@pytest.fixture
def page(browser: Browser, providers: dict[str, int]) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def at_acme(page: Page, person: str) -> None:
    page.get_by_placeholder("Enter any login").fill(person)
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def at_mock(page: Page, person: str, ports: dict[str, int]) -> None:
    claims = json.dumps({"email": f"{person}@example.com", "email_verified": True}).encode()
    headers = {"Content-Type": "application/json"}
    address = f"http://127.0.0.1:{ports['Mock']}/users/{person}"
    urllib.request.urlopen(urllib.request.Request(address, claims, headers, method="PUT")).close()
    page.get_by_placeholder("sub").fill(person)
    page.get_by_role("button", name="Authorize").click()


def leave_for(page: Page, api: Api, name: str, view: str = "") -> None:
    page.goto(f"{api.app}{view}")
    page.get_by_role("button", name=f"Continue with {name}").click()


def is_in(page: Page, email: str) -> None:
    """The application shows whose account it is."""
    expect(page.get_by_role("button", name=email, exact=True)).to_be_visible()


def person(name: str) -> str:
    return new_email(name).split("@")[0]


def test_who_signs_in_elsewhere_is_back_on_their_page(page: Page, api: Api, providers: dict[str, int]) -> None:
    ada = person("ada")
    leave_for(page, api, "Acme", "#/tags")
    at_acme(page, ada)
    expect(page).to_have_url(re.compile(r"#/w/[^/]+/tags$"))
    is_in(page, f"{ada}@example.com")

    # The session goes on after the tab was closed.
    with page.context.expect_page() as opened:
        page.evaluate(f"window.open({json.dumps(api.app)})")
    is_in(opened.value, f"{ada}@example.com")


def test_both_providers_and_two_tabs_work(page: Page, api: Api, providers: dict[str, int]) -> None:
    other = page.context.new_page()
    first, second = person("grace"), person("linus")
    leave_for(page, api, "Mock")
    leave_for(other, api, "Mock")
    at_mock(other, first, providers)
    is_in(other, f"{first}@example.com")
    at_mock(page, second, providers)
    is_in(page, f"{second}@example.com")


def test_who_refuses_or_has_proved_nothing_is_told(page: Page, api: Api, providers: dict[str, int]) -> None:
    leave_for(page, api, "Mock")
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("The sign-in was canceled or refused.")).to_be_visible()

    leave_for(page, api, "Acme")
    at_acme(page, person("unproven"))
    expect(page.get_by_text("The provider doesn’t confirm your email address.")).to_be_visible()


@pytest.fixture
def existing(api: Api) -> Account:
    return api.register(name="existing")


def test_an_account_with_that_address_is_joined_with_its_password(page: Page, api: Api, existing: Account) -> None:
    name = existing.email.split("@")[0]
    leave_for(page, api, "Acme")
    at_acme(page, name)
    expect(page.get_by_role("heading", name="You already have an account")).to_be_visible()
    page.get_by_label("Password").fill("a wrong password")
    page.get_by_role("button", name="Connect Acme").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Connect Acme").click()
    is_in(page, existing.email)


def test_an_account_with_that_address_is_joined_by_mail(page: Page, api: Api, existing: Account) -> None:
    leave_for(page, api, "Acme")
    at_acme(page, existing.email.split("@")[0])
    page.get_by_role("button", name="Email me a link instead").click()
    expect(page.get_by_text("Open it in this browser")).to_be_visible()

    page.goto(f"{api.app}#/{api.linked_view(existing.email, 'reset')}")
    page.reload()
    page.get_by_role("button", name="Connect Acme").click()
    is_in(page, existing.email)
    with pytest.raises(Exception, match="401|invalid"):
        # Nobody had confirmed the address before, so the password may have been somebody else's.
        api.log_in(existing.email)


def sign_in_at_acme(page: Page, api: Api, name: str) -> None:
    leave_for(page, api, "Acme")
    at_acme(page, name)
    is_in(page, f"{name}@example.com")


def again_at_acme(page: Page, name: str) -> None:
    """Acme asks for the password again, and not whether Linklet may know who it is."""
    page.get_by_placeholder("Enter any login").fill(name)
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()


def open_dialog(page: Page, button: str, title: str) -> Locator:
    page.get_by_role("button", name=button, exact=True).click()
    return page.get_by_role("dialog", name=title)


def test_an_identity_is_connected_signs_in_and_is_removed(page: Page, api: Api, existing: Account, ports: dict[str, int]) -> None:
    page.goto(f"{api.app}#/account?view=sign-in")
    page.get_by_label("Email").fill(existing.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    dialog = open_dialog(page, "Connect Mock", "Connect Mock?")
    dialog.get_by_label("Your password").fill(PASSWORD)
    dialog.get_by_role("button", name="Go to Mock").click()
    elsewhere, domain = existing.email.split("@")
    assert domain == "example.com"
    at_mock(page, elsewhere, ports)
    listed = page.get_by_role("list", name="Identity providers").get_by_role("listitem").first
    expect(listed).to_contain_text(f"{elsewhere}@example.com")

    page.get_by_role("button", name="Sign out here").click()
    page.get_by_role("button", name="Continue with Mock").click()
    at_mock(page, elsewhere, ports)
    is_in(page, existing.email)

    page.goto(f"{api.app}#/account?view=sign-in")
    dialog = open_dialog(page, f"Remove Mock ({elsewhere}@example.com)", "Remove Mock?")
    dialog.get_by_label("Your password").fill(PASSWORD)
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("button", name="Connect Mock")).to_be_visible()


def test_who_has_no_password_proves_who_they_are_and_closes_the_account(page: Page, api: Api) -> None:
    name = person("ada")
    sign_in_at_acme(page, api, name)
    page.goto(f"{api.app}#/account?view=data")
    dialog = open_dialog(page, "Close my account", "Close your account?")
    dialog.get_by_role("button", name="Continue with Acme").click()
    again_at_acme(page, name)
    dialog.get_by_label("to confirm").fill(f"{name}@example.com")
    dialog.get_by_role("button", name="Close account").click()
    expect(page.get_by_text("Your account is closed.")).to_be_visible()
    expect(page.get_by_role("button", name="Continue with Acme")).to_be_visible()


def test_another_identity_proves_nothing(page: Page, api: Api, ports: dict[str, int]) -> None:
    leave_for(page, api, "Mock", "#/account")
    at_mock(page, name := person("ada"), ports)
    page.get_by_role("button", name="Change your email").click()
    page.get_by_role("button", name="Continue with Mock").click()
    at_mock(page, person("mallory"), ports)
    expect(page.get_by_role("alert")).to_contain_text("You signed in there as someone else.")

    page.get_by_role("button", name="Continue with Mock").click()
    at_mock(page, name, ports)
    page.get_by_label("New email").fill(wanted := new_email("lovelace"))
    page.get_by_role("button", name="Change email").click()
    expect(page.get_by_text(f"We sent a link to {wanted}.")).to_be_visible()


def test_a_password_is_created_and_removed_by_who_signs_in_elsewhere(page: Page, api: Api) -> None:
    name = person("ada")
    sign_in_at_acme(page, api, name)
    page.goto(f"{api.app}#/account?view=sign-in")
    expect(page.get_by_text("Your only way to sign in")).to_be_visible()
    open_dialog(page, "Create a password", "Create a password").get_by_role("button", name="Continue with Acme").click()
    again_at_acme(page, name)
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Create password").click()
    expect(page.get_by_text("Password created.")).to_be_visible()
    api.log_in(f"{name}@example.com")

    open_dialog(page, "Remove your password", "Remove your password?").get_by_role("button", name="Remove password").click()
    expect(page.get_by_role("button", name="Create a password")).to_be_visible()
    with pytest.raises(Exception, match="401"):
        api.log_in(f"{name}@example.com")


def test_who_signs_out_may_sign_out_at_the_provider_too(page: Page, api: Api) -> None:
    name = person("ada")
    sign_in_at_acme(page, api, name)
    page.goto(f"{api.app}#/account?view=sign-in")
    page.get_by_role("button", name="Sign out here").click()
    page.get_by_role("link", name="Sign out at Acme, too").click()
    page.get_by_role("button", name="Yes, sign me out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    # There, nobody is signed in any more.
    page.get_by_role("button", name="Continue with Acme").click()
    expect(page.get_by_placeholder("Enter any login")).to_be_visible()


def test_who_is_invited_joins_by_signing_in_elsewhere(page: Page, api: Api, existing: Account) -> None:
    name = person("grace")
    token = existing.call("POST", "/api/workspace/invitations", {"email": f"{name}@example.com", "role": "viewer"})["token"]
    leave_for(page, api, "Acme", f"#/invitation?token={token}")
    at_acme(page, name)
    is_in(page, f"{name}@example.com")
    expect(page).to_have_url(re.compile(rf"#/w/{existing.slug}/links$"))

    # Nobody gets in by it a second time.
    page.goto(f"{api.app}#/invitation?token={token}")
    expect(page.get_by_text("This invitation was used or withdrawn")).to_be_visible()


def test_an_admin_sees_how_members_sign_in(page: Page, api: Api) -> None:
    name = person("ada")
    sign_in_at_acme(page, api, name)
    page.goto(f"{api.app}#/settings?view=security")
    row = page.get_by_role("table", name="How members sign in").get_by_role("row", name=re.compile(name))
    expect(row).to_contain_text("Acme")
    expect(page.get_by_text("http://127.0.0.1:")).to_have_count(2)


@pytest.fixture(scope="module")
def without_passwords(api: Api, providers: dict[str, int]) -> Iterator[list[Account]]:
    """People who have registered with a password before those were off."""
    registered = [api.register(name="early") for _ in range(2)]
    deploy(PasswordLogin="off")
    try:
        yield registered
    finally:
        deploy(PasswordLogin="on")


def test_where_passwords_are_off_people_sign_in_elsewhere_only(page: Page, api: Api, without_passwords: list[Account]) -> None:
    existing = without_passwords[0]
    name = existing.email.split("@")[0]
    leave_for(page, api, "Acme")
    at_acme(page, name)
    # The account was made with a password.
    page.get_by_role("button", name="Email me a link", exact=True).click()
    expect(page.get_by_text("Open it in this browser")).to_be_visible()
    page.goto(f"{api.app}#/{api.linked_view(existing.email, 'reset')}")
    page.reload()
    expect(page.get_by_label("New password")).to_have_count(0)
    page.get_by_role("button", name="Connect Acme").click()
    is_in(page, existing.email)

    page.goto(f"{api.app}#/account?view=sign-in")
    expect(page.get_by_text("Your only way to sign in")).to_be_visible()
    expect(page.get_by_role("heading", name="Password")).to_have_count(0)
    page.get_by_role("button", name="Sign out here").click()
    expect(page.get_by_role("button", name="Continue with Acme")).to_be_visible()
    expect(page.get_by_label("Password")).to_have_count(0)
    with pytest.raises(Exception, match="password_login_off"):
        api.log_in(existing.email)


def test_an_operator_lets_somebody_in_by_password_though_those_are_off(page: Page, api: Api, without_passwords: list[Account]) -> None:
    existing = without_passwords[1]
    reset = [install("sam") / "bin" / "python", "-m", "infra.operate", "reset", existing.email]
    printed = subprocess.run(reset, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
    page.goto(f"{api.app}#/{printed.partition('#/')[2].split()[0]}")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Change password").click()
    page.get_by_role("link", name="Sign in", exact=True).click()
    page.get_by_label("Email").fill(existing.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    is_in(page, existing.email)
