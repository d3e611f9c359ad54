"""Measures what a view costs: requests, bytes over the wire, time, and how long the page was busy at a stretch."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Page

# When what one wants to use is there, and each stretch of more than 50 ms in which the page could not react.
CLOCK = """
window.network = { tasks: [], usableAt: null };
new PerformanceObserver((list) => network.tasks.push(...list.getEntries().map(({ duration }) => duration)))
  .observe({ type: 'longtask', buffered: true });
new MutationObserver((_, observer) => {
  if (!document.querySelector('%s')) return;
  network.usableAt = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
"""


@dataclass
class NetworkLog:
    """Counts from its making on."""

    page: Page
    urls: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        session = self.page.context.new_cdp_session(self.page)
        session.send("Network.enable")
        session.on("Network.responseReceived", self.note)
        session.on("Network.loadingFinished", self.weigh)

    def note(self, event: dict[str, Any]) -> None:
        if not event["response"]["url"].startswith("data:"):
            self.urls[event["requestId"]] = event["response"]["url"]

    def weigh(self, event: dict[str, Any]) -> None:
        """With the headers, as they were sent."""
        self.sizes[event["requestId"]] = event["encodedDataLength"]

    def bytes_of(self, prefix: str = "") -> int:
        """Of what lies below an address."""
        return round(sum(self.sizes.get(request, 0) for request, url in self.urls.items() if url.startswith(prefix)))

    def listed(self) -> str:
        return "\n".join(f"  {self.sizes.get(request, 0):8.0f} {url}" for request, url in self.urls.items())


def longest_task(page: Page, act: Callable[[], None]) -> float:
    """For how many milliseconds the page's thread computes at a stretch while something happens. Waiting for a processor that
    is busy with something else doesn't count, so a busy machine measures the same."""
    browser = page.context.browser
    assert browser
    browser.start_tracing(page=page, categories=["toplevel", "__metadata"])
    act()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"}
    tasks = [event for event in events if event["name"] == "ThreadControllerImpl::RunTask" and (event["pid"], event["tid"]) in threads]
    return max(task.get("tdur", 0) for task in tasks) / 1000


def start_clock(context: BrowserContext, usable: str) -> None:
    """Measures in each page of this browser; `usable` selects what one wants to use."""
    context.add_init_script(CLOCK % usable)
