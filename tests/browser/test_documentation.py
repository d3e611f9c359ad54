"""The page /api/docs, on which the routes can be tried."""

from __future__ import annotations

from playwright.sync_api import Browser

from support.api import Api


def test_the_page_calls_the_system_that_serves_it(browser: Browser, api: Api) -> None:
    page = browser.new_page()
    page.goto(f"{api.url}/api/docs")
    page.wait_for_function("document.querySelector('rapi-doc').selectedServer")

    assert page.evaluate("document.querySelector('rapi-doc').selectedServer.computedUrl") == api.url
    page.close()
