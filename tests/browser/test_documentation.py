"""What is served beside the application: the page /api/docs, on which the routes can be tried, and locally the sources."""

import pytest
from playwright.sync_api import Browser, expect

from support.api import Account, Api
from support.tab import Tabs

# Waits in one script, since the page's content security policy forbids the one that would evaluate text again and again.
SELECTED_SERVER = """() => new Promise((resolve) => {
  const look = () => {
    const server = document.querySelector("rapi-doc").selectedServer;
    return server ? resolve(server.computedUrl) : setTimeout(look, 50);
  };
  look();
})"""


def test_the_page_calls_the_system_that_serves_it(browser: Browser, api: Api) -> None:
    page = browser.new_page()
    page.goto(f"{api.url}/api/docs")
    server = page.evaluate(SELECTED_SERVER)

    assert server == api.url
    page.close()


def test_the_application_works_as_its_sources_are(tabs: Tabs, api: Api, account: Account) -> None:
    if api.send("GET", "/app-source", None, {}) == 404:
        pytest.skip("only the local system serves the sources")
    tab = tabs.open(account)
    tab.page.goto(f"{api.app}-source#/settings")
    expect(tab.heading("Settings")).to_be_visible()
    expect(tab.page.locator("meta[name=version]")).to_have_attribute("content", "source")
