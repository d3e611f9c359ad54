"""The pages other than those of links."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Route, expect

from support.api import PASSWORD, Account, Api
from support.sample_data import sale_of
from support.mails import linked_view
from support.states import in_no_workspace, paused_key, paused_member, paused_workspace
from support.tab import Tabs


def test_the_overview_shows_how_the_workspace_does(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "overview")
    numbers = tab.figures()
    expect(numbers).to_contain_text(re.compile(r"Links\s*15"))
    expect(numbers).to_contain_text("14 active, 1 switched off")
    tab.press(tab.page.get_by_role("link", name=sale_of(filled)))
    expect(tab.page.get_by_role("link", name="shop.example.com/sale")).to_be_visible()


def test_the_overview_makes_a_link(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "overview")
    tab.write(tab.page.get_by_label("Paste a long URL"), "https://example.com/quick")
    tab.press(tab.button("Shorten"))
    tab.says("Link created. Copied.")
    tab.press(tab.page.get_by_role("link", name="Numbers"))
    expect(tab.page.get_by_text("Nobody has followed this link yet.")).to_be_visible()


def test_a_url_is_monitored_and_no_longer(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "monitoring")
    expect(tab.page.get_by_text("No URL is monitored yet")).to_be_visible()
    field = tab.page.get_by_label("URL to monitor")
    held = tab.hold("**/v1/targets")
    tab.write(field, "https://status.example.com/health")
    tab.press(tab.button("Monitor"))
    # What is typed meanwhile stays.
    tab.write(field, "https://other.example.com/")
    held.let_go()
    tab.says("status.example.com is monitored from now on.")
    expect(field).to_have_value("https://other.example.com/")
    target = tab.page.get_by_role("list", name="Monitored URLs").get_by_role("link")
    expect(target).to_contain_text("status.example.com")
    tab.press(target)
    expect(tab.heading(re.compile("status.example.com"))).to_be_visible()
    tab.press(tab.button("Stop monitoring", tab.open_dialog("Stop monitoring", "Stop monitoring?")))
    tab.says("status.example.com isn’t monitored any more.")
    expect(tab.page.get_by_text("No URL is monitored yet")).to_be_visible()


def test_numbers_are_grouped_and_one_is_no_many(tabs: Tabs, account: Account) -> None:
    down = [{"id": f"t_{number}", "url": f"https://{number}.example.com/", "since": "2026-11-12T11:25:00.000Z"} for number in range(1200)]
    many = tabs.open(account, "monitoring", answers={"**/api/overview": {"down": down}})
    expect(many.page.get_by_text("1,200 URLs are down")).to_be_visible()
    expect(many.page.get_by_text("and 1,195 more")).to_be_visible()
    one = tabs.open(account, "monitoring", answers={"**/api/overview": {"down": down[:1]}})
    expect(one.page.get_by_text("1 URL is down")).to_be_visible()


def test_a_member_changes_role_and_is_removed(tabs: Tabs, account: Account) -> None:
    account.add_member()
    tab = tabs.open(account, "members")
    members = tab.page.get_by_role("table", name="Members")
    expect(members.get_by_text("Bob", exact=True)).to_be_visible()
    tab.choose(tab.page.get_by_label("Role of Bob"), "viewer")
    tab.says("Bob is a viewer now.")
    tab.press(tab.button("Remove", tab.open_dialog("Remove Bob", "Remove Bob?")))
    tab.says("Bob is no member any more.")
    expect(members.get_by_text("Bob", exact=True)).to_have_count(0)
    assert [member["email"] for member in account.call("GET", "/api/workspace/members")["members"]] == [account.email]


def test_an_api_key_is_made_renamed_paused_and_revoked(tabs: Tabs, api: Api, account: Account) -> None:
    tab = tabs.open(account, "keys")
    tab.press(tab.button("New key"))
    tab.write(tab.dialog("New API key").get_by_label("Name"), "Build server")
    made = tab.open_dialog("Create key", "Build server is ready")
    key = made.get_by_label("API key").input_value()
    expect(made).to_contain_text("curl")
    # It is shown only now.
    tab.page.keyboard.press("Escape")
    expect(made).to_be_visible()
    tab.press(tab.button("Copy", made).first)
    assert tab.page.evaluate("navigator.clipboard.readText()") == key
    assert api.call("GET", "/api/links", headers={"X-API-Key": key})["links"] == []
    tab.press(tab.button("Done"))
    expect(tab.page.get_by_text(key)).to_have_count(0)

    form = tab.open_dialog("Rename Build server", "Rename key")
    tab.write(form.get_by_label("Name"), "Nightly export")
    tab.press(tab.button("Rename", form))
    tab.says("The key is called “Nightly export” now.")
    tab.press(tab.button("Pause", tab.open_dialog("Pause Nightly export", "Pause “Nightly export”?")))
    tab.says("“Nightly export” is paused.")
    expect(tab.page.get_by_text("1 key is paused.")).to_be_visible()
    [paused] = account.call("GET", "/api/keys")["keys"]
    assert (paused["name"], paused["is_active"]) == ("Nightly export", False)
    tab.press(tab.button("Keep Nightly export"))
    tab.says("“Nightly export” works again within a minute.")
    assert account.call("GET", "/api/keys")["keys"][0]["is_active"]

    tab.press(tab.button("Revoke", tab.open_dialog("Revoke Nightly export", "Revoke “Nightly export”?")))
    tab.says("“Nightly export” is revoked.")
    assert account.call("GET", "/api/keys")["keys"] == []


def test_a_workspace_gets_another_name_and_address(tabs: Tabs, account: Account) -> None:
    slug = account.slug
    tab = tabs.open(account, "settings")
    tab.write(tab.page.get_by_label("Name", exact=True), "Marketing")
    tab.write(tab.page.get_by_label("Short name"), f"{slug}-x")
    tab.press(tab.button("Save"))
    tab.says("Workspace saved.")
    expect(tab.button(re.compile("Marketing"))).to_be_visible()
    assert account.call("GET", "/api/workspace")["name"] == "Marketing"
    expect(tab.page).to_have_url(re.compile(f"#/w/{slug}-x/settings$"))
    expect(tab.heading("Settings")).to_be_visible()
    expect(tab.page.get_by_label("Short name")).to_have_value(f"{slug}-x")


def test_an_admin_is_told_what_another_has_changed_meanwhile(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "settings")
    name = tab.page.get_by_label("Name", exact=True)
    name.fill("Mine")
    account.call("PATCH", "/api/workspace", {"name": "Theirs", "settings": {"colour": "blue"}})
    tab.button("Save").click()
    expect(tab.page.get_by_role("alert")).to_contain_text("somebody has changed: name. Save again to put yours in its place.")
    assert account.call("GET", "/api/workspace")["name"] == "Theirs"

    tab.button("Save").click()
    tab.says("Workspace saved.")
    workspace = account.call("GET", "/api/workspace")
    assert (workspace["name"], workspace["settings"]) == ("Mine", {"colour": "blue"})


def test_colours_are_chosen_and_kept(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "settings")
    tab.press(tab.button("Dark"))
    expect(tab.page.locator("html")).to_have_css("background-color", "rgb(19, 20, 22)")
    tab.page.reload()
    expect(tab.button("Dark")).to_have_attribute("aria-pressed", "true")
    expect(tab.page.locator("html")).to_have_css("background-color", "rgb(19, 20, 22)")


def test_a_password_is_changed(tabs: Tabs, api: Api, account: Account) -> None:
    # A wrong password is 401.
    tab = tabs.open(account, "account", refused=[401])
    tab.write(tab.page.get_by_label("Current password"), "not my password")
    tab.write(tab.page.get_by_label("New password"), "another horse battery")
    tab.press(tab.button("Change password"))
    expect(tab.page.get_by_label("Current password")).to_have_accessible_description("This isn’t your password.")
    tab.write(tab.page.get_by_label("Current password"), PASSWORD)
    tab.press(tab.button("Change password"))
    tab.says(re.compile("Password changed."))
    api.call("POST", "/api/auth/login", {"email": account.email, "password": "another horse battery"})


# -- what is paused


def test_after_reclaiming_an_address_its_owner_keeps_or_removes_what_was_paused(tabs: Tabs, api: Api) -> None:
    ada = api.register("Ada")
    ada.add_member()
    for name in ("Nightly export", "Old script"):
        ada.call("POST", "/api/keys", {"name": name, "scopes": ["links:read"]})
    api.call("POST", "/api/auth/password/forgot", {"email": ada.email})

    tab = tabs.open(None, linked_view(api, ada.email, "reset"))
    tab.write(tab.page.get_by_label("New password"), PASSWORD)
    tab.press(tab.button("Change password"))
    expect(tab.heading("Password changed")).to_be_visible()
    again = api.log_in(ada.email)
    again.wait_for("/api/workspace/members", lambda answer: any("paused_at" in member for member in answer["members"]))
    again.wait_for("/api/keys", lambda answer: all("paused_at" in key for key in answer["keys"]))

    tab.press(tab.page.get_by_role("link", name="Sign in"))
    tab.sign_in(ada.email)
    tab.press(tab.page.get_by_role("link", name="Members"))
    expect(tab.page.get_by_text("1 member is paused.")).to_be_visible()
    bob = tab.page.get_by_role("table", name="Members").get_by_role("row").filter(has_text="Bob")
    expect(bob).to_contain_text("Paused")
    tab.press(tab.button("Keep Bob"))
    tab.says("Bob is in this workspace again.")
    expect(bob).not_to_contain_text("Paused")
    expect(tab.heading("Members")).to_be_focused()
    assert all("paused_at" not in member for member in again.call("GET", "/api/workspace/members")["members"])

    tab.press(tab.page.get_by_role("link", name="API keys"))
    expect(tab.page.get_by_text("2 keys are paused.")).to_be_visible()
    tab.press(tab.button("Keep Nightly export"))
    tab.says("“Nightly export” works again within a minute.")
    # The next one to decide about.
    expect(tab.button("Keep Old script")).to_be_focused()
    tab.press(tab.button("Revoke", tab.open_dialog("Revoke Old script", "Revoke “Old script”?")))
    tab.says("“Old script” is revoked.")
    expect(tab.page.get_by_text("paused", exact=False)).to_have_count(0)
    assert [(key["name"], "paused_at" in key) for key in again.call("GET", "/api/keys")["keys"]] == [("Nightly export", False)]


def test_what_cannot_be_kept_is_paused_again(tabs: Tabs, account: Account) -> None:
    me = account.call("GET", "/api/workspace/members")["members"]
    bodies = {"**/api/workspace/members": {"members": [*me, paused_member("Bob")]}, "**/api/keys": {"keys": [paused_key("Old script")]}}
    tab = tabs.open(account, "members", answers=bodies)
    held = tab.hold("**/api/workspace/members/*")
    bob = tab.page.get_by_role("table", name="Members").get_by_role("row").filter(has_text="Bob")
    tab.button("Keep Bob").click()
    # At once.
    expect(bob).not_to_contain_text("Paused")
    tab.refused.add("404")
    held.let_go()
    tab.says("Bob is still paused.")
    expect(bob).to_contain_text("Paused")
    expect(tab.page.get_by_text("1 member is paused.")).to_be_visible()

    tab.page.get_by_role("link", name="API keys").click()
    tab.fails("**/api/keys/*", 503, "service_unavailable")
    tab.button("Keep Old script").click()
    tab.says("“Old script” is still paused.")
    expect(tab.button("Keep Old script")).to_be_visible()


def test_a_paused_workspace_cannot_be_chosen(tabs: Tabs, account: Account) -> None:
    mine = account.call("GET", "/api/me/workspaces")["workspaces"]
    tab = tabs.open(account, "links", answers={"**/api/me/workspaces": {"workspaces": [*mine, paused_workspace()]}})
    tab.button(re.compile("Switch workspace")).click()
    paused = tab.page.get_by_role("menuitemradio", name=re.compile("Harbour Lamps"))
    expect(paused).to_be_disabled()
    expect(paused).to_contain_text("Paused")
    paused.click(force=True)
    # The keyboard reaches it, too, so that its state is heard.
    tab.page.keyboard.press("Home")
    tab.page.keyboard.press("ArrowDown")
    expect(paused).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(paused).to_be_visible()
    expect(tab.button(re.compile(mine[0]["name"]))).to_be_visible()
    tab.page.keyboard.press("Escape")
    tab.open("settings")
    line = tab.page.get_by_role("listitem").filter(has_text="Harbour Lamps")
    expect(line).to_contain_text("Paused")
    expect(line.get_by_role("button")).to_have_count(0)


# -- in no workspace


def test_an_invitation_and_a_new_one_lead_out_of_no_workspace(tabs: Tabs, api: Api, account: Account) -> None:
    host = api.register("Grace", name="grace")
    token = host.call("POST", "/api/workspace/invitations", {"email": account.email})["token"]
    tab = tabs.open(account, "overview", answers=only_with(account, in_no_workspace(account.email)))
    expect(tab.heading("You are in no workspace")).to_be_visible()
    line = tab.page.get_by_role("listitem").filter(has_text="Harbour Lamps")
    expect(line).to_contain_text("Paused")
    rail = tab.page.get_by_role("navigation").get_by_role("link")
    assert [link.inner_text().strip() for link in rail.all() if link.is_visible()] == ["Workspaces", "Account"]

    field = tab.page.get_by_label("Invitation")
    tab.write(field, "https://example.com/")
    tab.press(tab.button("Join"))
    expect(field).to_have_accessible_description(re.compile("Paste the whole link"))
    tab.write(field, "inv_00000000000000000000000000000000")
    tab.refused.add("404")
    tab.press(tab.button("Join"))
    expect(field).to_have_accessible_description(re.compile("This invitation was used or withdrawn"))
    tab.write(field, f"{api.app}#/invitation?token={token}")
    tab.press(tab.button("Join"))
    tab.says(re.compile("Welcome to .+"))
    expect(tab.heading("Links")).to_be_attached()
    expect(tab.page.get_by_role("link", name="Members")).to_be_visible()
    tab.page.reload()
    expect(tab.heading("Links")).to_be_attached()

    # A workspace of one's own is the other way.
    tab = tabs.open(account, "links", answers=only_with(account, in_no_workspace(account.email)))
    tab.write(tab.page.get_by_label("Name"), "Side project")
    tab.press(tab.button("Create"))
    tab.says("Side project is ready.")
    expect(tab.button(re.compile("Side project"))).to_be_visible()


def only_with(account: Account, bodies: dict[str, Any]) -> dict[str, Any]:
    """These answers for this session; another one of the same person has the real ones."""

    def answer(body: Any) -> Callable[[Route], None]:
        def choose(route: Route) -> None:
            if route.request.headers.get("authorization") == f"Bearer {account.token}":
                return route.fulfill(json=body)
            return route.continue_()

        return choose

    return {pattern: answer(body) for pattern, body in bodies.items()}


def test_an_item_of_a_menu_stays_itself_when_others_appear_above_it(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    held = tab.hold("**/api/me/workspaces")
    tab.page.reload()
    tab.button(re.compile("Switch workspace")).click()
    item = tab.page.get_by_role("menu").get_by_role("menuitem", name="New workspace").element_handle()
    held.let_go()
    expect(tab.page.get_by_role("menu").get_by_role("menuitemradio")).to_have_count(1)
    item.click()
    expect(tab.dialog("New workspace")).to_be_visible()


def test_who_may_create_no_workspace_is_told_whom_to_ask(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    tab.fails("**/api/workspaces", 403, "creation_closed")
    sentence = "Whoever runs this Linklet decides who creates workspaces."
    tab.button(re.compile("Switch workspace")).click()
    tab.page.get_by_role("menu").get_by_text("New workspace").click()
    tab.page.get_by_label("Name").fill("Side project")
    tab.button("Create").click()
    expect(tab.dialog("New workspace").get_by_role("alert")).to_contain_text(sentence)

    other = tabs.open(account, "links", answers=in_no_workspace(account.email))
    other.fails("**/api/workspaces", 403, "creation_closed")
    other.page.get_by_label("Name").fill("Side project")
    other.button("Create").click()
    expect(other.page.get_by_text(sentence)).to_be_visible()


def test_who_is_in_no_workspace_has_an_account(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links", answers=in_no_workspace(account.email))
    tab.press(tab.page.get_by_role("navigation").get_by_role("link", name="Account"))
    expect(tab.heading("Account")).to_be_visible()
    # Loaded again, no other page is tried first.
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    tab.open("members")
    tab.page.reload()
    expect(tab.heading("You are in no workspace")).to_be_visible()
    tab.settled()
    assert not [url for url in asked if "/api/workspace/" in url]
    tab.pick(tab.button(account.email), "Sign out")
    expect(tab.heading("Sign in")).to_be_visible()
