"""The pages other than those of links, the members of a workspace, and its addresses."""

import base64
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from support.api import PASSWORD, Account, Api
from support.states import in_no_workspace, paused_key, paused_member, paused_workspace
from support.tab import Tab, Tabs


def test_the_overview_makes_a_link(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "overview")
    tab.submit("Shorten", {"Paste a long URL": "https://example.com/quick"}, says="Link created. Copied.")
    tab.press(tab.page.get_by_role("link", name="Statistics"), shows="No clicks yet")


def test_a_url_is_monitored_and_no_longer(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "monitoring", shows="No monitored URLs yet")
    field = tab.page.get_by_label("URL to monitor")
    held = tab.hold("**/v1/targets")
    tab.submit("Monitor", {field: "https://status.example.com/health"})
    # What is typed meanwhile stays.
    tab.write(field, "https://other.example.com/")
    held.let_go()
    tab.says("status.example.com is now monitored.")
    expect(field).to_have_value("https://other.example.com/")
    target = tab.page.get_by_role("list", name="Monitored URLs").get_by_role("link")
    expect(target).to_contain_text("status.example.com")
    tab.press(target, heading=re.compile("status.example.com"))
    tab.press(tab.button("Stop monitoring", tab.open_dialog("Stop monitoring", "Stop monitoring?")))
    tab.says("status.example.com is no longer monitored.")
    expect(tab.page.get_by_text("No monitored URLs yet")).to_be_visible()


def test_numbers_are_grouped_and_one_is_no_many(tabs: Tabs, account: Account) -> None:
    down = [{"id": f"t_{number}", "url": f"https://{number}.example.com/", "since": "2026-11-12T11:25:00.000Z"} for number in range(1200)]
    many = tabs.open(account, "monitoring", answers={"**/api/overview": {"down": down}}, shows="1,200 URLs are down")
    expect(many.page.get_by_text("and 1,195 more")).to_be_visible()
    tabs.open(account, "monitoring", answers={"**/api/overview": {"down": down[:1]}}, shows="1 URL is down")


def test_a_member_changes_role_and_is_removed(tabs: Tabs, account: Account) -> None:
    account.add_member()
    tab = tabs.open(account, "members")
    members = tab.page.get_by_role("table", name="Members")
    expect(members.get_by_text("Bob", exact=True)).to_be_visible()
    tab.choose(tab.page.get_by_label("Role of Bob"), "viewer", says="Bob is now a viewer.")
    tab.press(tab.button("Remove", tab.open_dialog("Remove Bob", "Remove Bob?")), says="Bob is no longer a member.")
    expect(members.get_by_text("Bob", exact=True)).to_have_count(0)
    assert [member["email"] for member in account.call("GET", "/api/workspace/members")["members"]] == [account.email]


def test_an_api_key_is_made_renamed_paused_rotated_and_revoked(tabs: Tabs, api: Api, account: Account) -> None:
    tab = tabs.open(account, "keys")
    tab.press(tab.button("New key"))
    tab.write(tab.dialog("New API key").get_by_label("Name"), "Build server")
    made = tab.open_dialog("Create key", "Build server is ready")
    key = made.get_by_label("API key").input_value()
    expect(made).to_contain_text("curl")
    # It is shown only now.
    tab.keys("Escape", shows=made)
    tab.press(tab.button("Copy", made).first)
    assert tab.clipboard() == key
    assert api.call("GET", "/api/links", headers={"X-API-Key": key})["links"] == []
    tab.press(tab.button("Done"), lacks=tab.page.get_by_text(key))

    form = tab.open_dialog("Rename Build server", "Rename key")
    tab.submit("Rename", {"Name": "Nightly export"}, form, says="The key is now called “Nightly export”.")
    tab.press(tab.button("Pause", tab.open_dialog("Pause Nightly export", "Pause “Nightly export”?")), says="“Nightly export” is paused.")
    expect(tab.page.get_by_text("1 key is paused.")).to_be_visible()
    [paused] = account.call("GET", "/api/keys")["keys"]
    assert (paused["name"], paused["is_active"]) == ("Nightly export", False)
    tab.press(tab.button("Keep Nightly export"), says="“Nightly export” works again within a minute.")
    assert account.call("GET", "/api/keys")["keys"][0]["is_active"]

    rotation = tab.open_dialog("Rotate Nightly export", "Rotate “Nightly export”?")
    tab.press(tab.button("Rotate", rotation))
    rotated = tab.dialog("Nightly export is ready")
    new_key = rotated.get_by_label("API key").input_value()
    assert new_key != key
    for works in (key, new_key):
        assert api.call("GET", "/api/links", headers={"X-API-Key": works})["links"] == []
    tab.press(tab.button("Done", rotated), lacks=tab.page.get_by_text(new_key))
    expect(tab.page.get_by_role("table", name="API keys").get_by_text("Rotated", exact=True)).to_be_visible()

    tab.press(tab.button("Revoke Nightly export").first)
    tab.press(tab.button("Revoke", tab.dialog("Revoke “Nightly export”?")), says="“Nightly export” is revoked.")
    assert account.call("GET", "/api/keys")["keys"] == []


def test_a_workspace_gets_another_name_and_address(tabs: Tabs, account: Account) -> None:
    slug = account.slug
    tab = tabs.open(account, "settings")
    tab.submit("Save", {tab.page.get_by_label("Name", exact=True): "Marketing", "Slug": f"{slug}-x"}, says="Workspace saved.")
    expect(tab.button(re.compile("Marketing"))).to_be_visible()
    assert account.call("GET", "/api/workspace")["name"] == "Marketing"
    expect(tab.page).to_have_url(re.compile(f"#/w/{slug}-x/settings$"))
    expect(tab.heading("Settings")).to_be_visible()
    expect(tab.page.get_by_label("Slug")).to_have_value(f"{slug}-x")


def test_an_admin_is_told_what_another_has_changed_meanwhile(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "settings")
    name = tab.page.get_by_label("Name", exact=True)
    name.fill("Mine")
    account.call("PATCH", "/api/workspace", {"name": "Theirs", "settings": {"colour": "blue"}})
    tab.press(tab.button("Save"))
    expect(tab.page.get_by_role("alert")).to_contain_text("Someone else has changed this: name. Save again to overwrite it.")
    assert account.call("GET", "/api/workspace")["name"] == "Theirs"

    tab.press(tab.button("Save"), says="Workspace saved.")
    workspace = account.call("GET", "/api/workspace")
    assert (workspace["name"], workspace["settings"]) == ("Mine", {"colour": "blue"})


def test_colours_are_chosen_and_kept(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "settings")
    tab.press(tab.button("Dark"))
    expect(tab.page.locator("html")).to_have_css("background-color", "rgb(19, 20, 22)")
    tab.reload()
    expect(tab.button("Dark")).to_have_attribute("aria-pressed", "true")
    expect(tab.page.locator("html")).to_have_css("background-color", "rgb(19, 20, 22)")


def test_a_password_is_changed(tabs: Tabs, api: Api, account: Account) -> None:
    # A wrong password is 401.
    tab = tabs.open(account, "account?view=sign-in", refused=[401])
    tab.submit("Change password", {"Current password": "not my password", "New password": "another horse battery"})
    expect(tab.page.get_by_label("Current password")).to_have_accessible_description("Wrong password.")
    tab.submit("Change password", {"Current password": PASSWORD}, says=re.compile("Password changed."))
    api.call("POST", "/api/auth/login", {"email": account.email, "password": "another horse battery"})


def test_after_reclaiming_an_address_its_owner_keeps_or_removes_what_was_paused(tabs: Tabs, api: Api) -> None:
    ada = api.register("Ada")
    ada.add_member()
    for name in ("Nightly export", "Old script"):
        ada.call("POST", "/api/keys", {"name": name, "scopes": ["links:read"]})
    api.call("POST", "/api/auth/password/forgot", {"email": ada.email})

    tab = tabs.open(None, api.linked_view(ada.email, "reset"))
    tab.submit("Change password", {"New password": PASSWORD}, heading="Password changed")
    again = api.log_in(ada.email)
    again.wait_for("/api/workspace/members", lambda answer: any(member["paused_at"] for member in answer["members"]))
    again.wait_for("/api/keys", lambda answer: all(key["paused_at"] for key in answer["keys"]))

    tab.press(tab.page.get_by_role("link", name="Sign in"))
    tab.sign_in(ada.email)
    tab.press(tab.page.get_by_role("link", name="Members"), shows="1 member is paused.")
    bob = tab.page.get_by_role("table", name="Members").get_by_role("row").filter(has_text="Bob")
    expect(bob).to_contain_text("Paused")
    tab.press(tab.button("Keep Bob"), says="Bob is back in this workspace.", focuses=tab.heading("Members"))
    expect(bob).not_to_contain_text("Paused")
    assert all(member["paused_at"] is None for member in again.call("GET", "/api/workspace/members")["members"])

    tab.press(tab.page.get_by_role("link", name="API keys"), shows="2 keys are paused.")
    tab.press(tab.button("Keep Nightly export"), says="“Nightly export” works again within a minute.")
    # The next one to decide about.
    expect(tab.button("Keep Old script")).to_be_focused()
    tab.press(tab.button("Revoke", tab.open_dialog("Revoke Old script", "Revoke “Old script”?")), says="“Old script” is revoked.")
    expect(tab.page.get_by_text("paused", exact=False)).to_have_count(0)
    assert [(key["name"], key["paused_at"]) for key in again.call("GET", "/api/keys")["keys"]] == [("Nightly export", None)]


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
    tab.press(tab.button("Keep Old script"), says="“Old script” is still paused.", shows=tab.button("Keep Old script"))


def test_a_paused_workspace_cannot_be_chosen(tabs: Tabs, account: Account) -> None:
    mine = account.call("GET", "/api/me/workspaces")["workspaces"]
    tab = tabs.open(account, "links", answers={"**/api/me/workspaces": {"workspaces": [*mine, paused_workspace()]}})
    tab.button(re.compile("Switch workspace")).click()
    paused = tab.page.get_by_role("menuitemradio", name=re.compile("Harbour Lamps"))
    expect(paused).to_be_disabled()
    expect(paused).to_contain_text("Paused")
    paused.click(force=True)
    # The keyboard reaches it, too, so that its state is heard.
    tab.keys("Home", "ArrowDown", focuses=paused)
    tab.keys("Enter", shows=paused)
    expect(tab.button(re.compile(mine[0]["name"]))).to_be_visible()
    tab.keys("Escape")
    tab.open("settings")
    line = tab.page.get_by_role("listitem").filter(has_text="Harbour Lamps")
    expect(line).to_contain_text("Paused")
    expect(line.get_by_role("button")).to_have_count(0)


def test_an_invitation_and_a_new_one_lead_out_of_no_workspace(tabs: Tabs, api: Api, account: Account) -> None:
    host = api.register("Grace", name="grace")
    token = host.call("POST", "/api/workspace/invitations", {"email": account.email})["token"]
    tab = tabs.open(account, "overview", answers=only_with(account, in_no_workspace(account.email)))
    expect(tab.heading("You’re not in a workspace")).to_be_visible()
    line = tab.page.get_by_role("listitem").filter(has_text="Harbour Lamps")
    expect(line).to_contain_text("Paused")
    rail = tab.page.get_by_role("navigation").get_by_role("link")
    assert [link.inner_text().strip() for link in rail.all() if link.is_visible()] == ["Workspaces", "Account"]

    field = tab.page.get_by_label("Invitation")
    tab.submit("Join", {field: "https://example.com/"})
    expect(field).to_have_accessible_description(re.compile("Paste the whole link"))
    tab.write(field, "inv_00000000000000000000000000000000")
    tab.refused.add("404")
    tab.press(tab.button("Join"))
    expect(field).to_have_accessible_description(re.compile("This invitation is no longer valid"))
    tab.submit("Join", {field: f"{api.app}#/invitation?token={token}"}, says=re.compile("Welcome to .+"))
    expect(tab.heading("Links")).to_be_attached()
    expect(tab.page.get_by_role("link", name="Members")).to_be_visible()
    tab.reload()
    expect(tab.heading("Links")).to_be_attached()

    # A workspace of one's own is the other way.
    tab = tabs.open(account, "links", answers=only_with(account, in_no_workspace(account.email)))
    tab.submit("Create", {"Name": "Side project"}, says="Side project is ready.")
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
    tab.reload()
    tab.button(re.compile("Switch workspace")).click()
    item = tab.page.get_by_role("menu").get_by_role("menuitem", name="New workspace").element_handle()
    held.let_go()
    expect(tab.page.get_by_role("menu").get_by_role("menuitemradio")).to_have_count(1)
    tab.click(item, shows=tab.dialog("New workspace"))


def test_who_may_create_no_workspace_is_told_whom_to_ask(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links")
    tab.fails("**/api/workspaces", 403, "creation_closed", "you can't create workspaces here; ask the operator")
    tab.button(re.compile("Switch workspace")).click()
    tab.page.get_by_role("menu").get_by_text("New workspace").click()
    tab.submit("Create", {"Name": "Side project"})
    expect(tab.dialog("New workspace").get_by_role("alert")).to_contain_text("You can't create workspaces here")

    other = tabs.open(account, "links", answers=in_no_workspace(account.email))
    other.fails("**/api/workspaces", 403, "creation_closed")
    other.submit("Create", {"Name": "Side project"}, shows=other.page.get_by_text("This Linklet’s operator decides who can create workspaces."))


def test_who_is_in_no_workspace_has_an_account(tabs: Tabs, account: Account) -> None:
    tab = tabs.open(account, "links", answers=in_no_workspace(account.email))
    tab.follow(tab.page.get_by_role("navigation").get_by_role("link", name="Account"), "Account")
    # Loaded again, no other page is tried first.
    asked = tab.requests("/api/workspace/")
    tab.open("members")
    tab.reload(heading="You’re not in a workspace")
    tab.settled()
    assert asked == []
    tab.pick(tab.button(account.email), "Sign out", heading="Sign in")


def test_an_archived_link_of_a_member_is_handed_over_too(tabs: Tabs, account: Account) -> None:
    bob = account.add_member(enters=True)
    code = bob.shorten("https://example.com/last-year")
    bob.call("PATCH", f"/api/links/{code}", {"archived": True})
    tab = tabs.open(account, "members")
    dialog = tab.open_dialog("Remove Bob", "Remove Bob?")
    expect(dialog).to_contain_text("Their 1 link and their monitored URLs become yours. The link keeps working.")


def test_nobody_is_told_a_number_of_links_that_is_not_known(tabs: Tabs, account: Account, subtests: pytest.Subtests) -> None:
    account.add_member()
    tab = tabs.open(account, "members")
    for total, sentence in [(0, "They have no links."), (None, "Their links and their monitored URLs become yours. The links keep working.")]:
        with subtests.test(total=total):
            tab.answers("**/api/links?*", {"links": [], "total": total, "page": 1, "per_page": 1, "total_pages": None, "next_cursor": None, "archived_left_out": 0})
            dialog = tab.open_dialog("Remove Bob", "Remove Bob?")
            expect(dialog).to_contain_text("They have no API keys.")
            expect(dialog).to_contain_text(sentence)
            tab.keys("Escape")


def test_nobody_is_offered_what_their_role_does_not_allow(tabs: Tabs, account: Account) -> None:
    account.shorten("https://example.com/tagged", tags=["sale"])
    account.wait_for("/api/tags", lambda answer: len(answer["tags"]) == 1)
    bob = account.add_member(enters=True)
    tab = tabs.open(bob, "settings", refused=[403])
    expect(tab.page.get_by_role("heading", name="Jobs")).to_be_visible()
    expect(tab.button("Close this workspace")).to_have_count(0)
    expect(tab.page.get_by_role("link", name="Members").first).to_be_visible()
    account.call("POST", "/api/keys", {"name": "Of an admin"})
    tab.open("keys")
    expect(tab.page.get_by_role("main").get_by_text("No keys yet")).to_be_visible()
    expect(tab.page.get_by_role("link", name="Activity")).to_have_count(0)
    tab.open("activity")
    expect(tab.page.get_by_role("main").get_by_role("alert")).to_contain_text("This needs the role admin")
    expect(tab.page.get_by_role("main").get_by_role("row").filter(has_text=re.compile("."))).to_have_count(0)

    tab = tabs.open(account.add_member(enters=True, role="viewer"), "links")
    expect(tab.button("Bulk create")).to_have_count(0)
    tab.keys("C", lacks=tab.dialog("Bulk create"))
    tab.open("tags", counts=(tab.page.get_by_role("table", name="Tags").locator(".line-title"), 1))
    expect(tab.button(re.compile("^(Rename|Delete) "))).to_have_count(0)
    tab.open("monitoring")
    tab.keys("Control+k")
    palette = tab.dialog("Find anything")
    expect(palette.get_by_role("option", name=re.compile("^Overview"))).to_be_visible()
    expect(palette.get_by_role("option", name=re.compile("^API keys"))).to_have_count(0)
    expect(palette.get_by_role("group", name="On this page", exact=True)).to_have_count(0)


def whole_view(tab: Tab) -> str:
    return tab.page.evaluate("location.hash")


def two_workspaces(account: Account) -> tuple[str, str, str]:
    """The one that somebody is in, and a second one with a link, of which this is the code."""
    second = account.call("POST", "/api/workspaces", {"name": "Harbour Lamps"})["slug"]
    token = account.call("POST", "/api/auth/switch", {"workspace": second})["token"]
    made = account.api.call("POST", "/api/shorten", {"url": "https://example.com/lamps", "title": "Lamps"}, token=token)
    return account.slug, second, made["short_code"]


def test_an_address_without_a_workspace_gets_that_of_the_tab(tabs: Tabs, account: Account) -> None:
    slug = account.slug
    tab = tabs.open(account, "overview?range=7d", heading="Overview")
    tab.page.wait_for_url(re.compile("#/w/"))
    assert whole_view(tab) == f"#/w/{slug}/overview?range=7d"
    expect(tab.page.get_by_role("navigation").get_by_role("link", name="Members").first).to_have_attribute("href", f"#/w/{slug}/members")
    tab.reload(heading="Overview")
    assert whole_view(tab) == f"#/w/{slug}/overview?range=7d"
    tab.open("")
    tab.page.wait_for_url(re.compile("#/w/"))
    assert whole_view(tab) == f"#/w/{slug}/links"
    tab.settled()


def test_a_link_of_another_workspace_opens_there_without_moving_other_tabs(tabs: Tabs, account: Account) -> None:
    first, second, code = two_workspaces(account)
    here = tabs.open(account, "links")
    expect(here.heading("Links")).to_be_attached()

    # A mail names it by its id.
    ids = {one["slug"]: one["workspace_id"] for one in account.call("GET", "/api/me/workspaces")["workspaces"]}
    for workspace in (second, ids[second]):
        there = tabs.open(account, f"w/{workspace}/links/{code}")
        expect(there.page.get_by_text("Lamps", exact=True)).to_be_visible()
        expect(there.button(re.compile("Harbour Lamps"))).to_be_visible()
        assert whole_view(there).startswith(f"#/w/{second}/links/{code}")
    there.open(f"w/{ids[first]}/members", heading="Members")
    assert whole_view(there) == f"#/w/{first}/members"
    here.follow("Members", "Members")
    assert whole_view(here) == f"#/w/{first}/members"
    here.settled()


def test_an_address_of_no_workspace_of_ones_own_says_so_and_fits(tabs: Tabs, api: Api, account: Account, subtests: pytest.Subtests) -> None:
    stranger = api.register("Eve", name="eve")
    for width, workspace in [(1280, "019adcb1-5a4e-7c11-9d2f-0b6c8f3e7c01"), (320, "z" * 100), (1280, stranger.slug)]:
        with subtests.test(workspace):
            tab = tabs.open(account, f"w/{workspace}/links", refused=[404], width=width)
            expect(tab.heading("You’re not in this workspace")).to_be_visible()
            tab.assert_not_sideways()
    expect(tab.page.get_by_text("You aren’t a member.")).to_be_visible()
    tab.follow("Go to your links", "Links")
    assert whole_view(tab) == f"#/w/{account.slug}/links"
    tab.settled()


def test_a_tab_goes_to_and_fro_between_workspaces_by_its_address(tabs: Tabs, account: Account) -> None:
    first, second, _ = two_workspaces(account)
    tab = tabs.open(account, "settings", heading="Settings")
    tab.pick(tab.button(re.compile("Switch workspace")), "Harbour Lamps", says="Switched to Harbour Lamps.")
    assert whole_view(tab) == f"#/w/{second}/links"
    expect(tab.page.get_by_text("Lamps").first).to_be_visible()
    tab.settled()

    tab.go_back(heading="Settings")
    assert whole_view(tab) == f"#/w/{first}/settings"
    tab.settled()
    tab.page.go_forward()
    expect(tab.page.locator(".link-row").filter(has_text="Lamps")).to_be_visible()
    tab.settled()


# A picture of one pixel.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def test_a_workspace_shows_itself_to_visitors(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://example.com/secret", password="open sesame")
    tab = tabs.open(account, "settings")
    chooser = tab.page.locator("input[type=file]")
    chooser.set_input_files({"name": "logo.svg", "mimeType": "image/svg+xml", "buffer": b"<svg/>"})
    expect(tab.page.get_by_role("alert")).to_contain_text("Use a PNG of at most 64 KB")
    chooser.set_input_files({"name": "logo.png", "mimeType": "image/png", "buffer": PNG})
    tab.says("Logo saved.")
    expect(tab.page.get_by_role("img", name="Logo of the workspace")).to_be_visible()
    tab.write(tab.page.get_by_label("Color optional"), "red")
    tab.press(tab.button("Save branding"))
    expect(tab.page.get_by_text("Enter # and six digits")).to_be_visible()
    tab.submit("Save branding", {tab.page.get_by_label("Color optional"): "#ffd400", tab.page.get_by_label("Contact"): "help@example.com"}, says="Branding saved.")
    expect(tab.page.get_by_role("figure", name="Preview")).to_contain_text("Ask for the password: help@example.com")

    visitor = tabs.open_new()
    visitor.refused.add("403")
    visitor.page.goto(account.call("GET", f"/api/links/{code}")["short_url"])
    expect(visitor.page.get_by_role("link", name="help@example.com")).to_have_attribute("href", "mailto:help@example.com")
    expect(visitor.page.get_by_role("button", name="Open link")).to_have_css("background-color", "rgb(255, 212, 0)")

    tab.press(tab.button("Remove logo"), says="Logo removed.")
    assert account.call("GET", "/api/workspace")["logo_url"] is None


def test_statistics_are_private_by_link_or_by_workspace(tabs: Tabs, account: Account) -> None:
    code = account.shorten("https://example.com/report")
    tab = tabs.open(account, f"links/{code}", shows="Statistics: public – anyone with the short link can see the numbers")
    tab.press(tab.button("Change who sees the statistics"))
    form = tab.dialog(f"Edit {code}")
    tab.choose(form.get_by_label("Statistics"), "private")
    tab.press(tab.button("Save", form), says="Saved.")
    expect(tab.page.get_by_text("Statistics: private – only members of this workspace can see the numbers")).to_be_visible()
    assert account.call("GET", f"/api/links/{code}")["statistics"] == "private"

    tab.go("settings")
    tab.press(tab.page.get_by_role("group", name="Statistics of links").get_by_role("button", name="Private"))
    tab.press(tab.button("Save"), says="Workspace saved.")
    assert account.call("GET", "/api/workspace")["statistics"] == "private"
