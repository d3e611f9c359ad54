"""The page /api/docs, on which the routes can be tried."""

from __future__ import annotations

from playwright.sync_api import Browser

from support.api import Api

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
