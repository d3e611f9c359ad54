"""What a screen reader says by itself while a tab is used: texts that come into live regions.

A region that is new together with its text isn't read, unless it is an alert; nor is one that can't be seen, or that lies beside an
open dialog."""

import re

from .tab import Tab

LISTEN = """
{
  const LIVE = '[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]';
  // So long it takes until a new region is known.
  const KNOWN_AFTER_MS = 100;
  const known = new WeakSet();
  window.heard = [];
  const learn = () => setTimeout(() => {
    for (const region of document.querySelectorAll(LIVE)) if (region.checkVisibility()) known.add(region);
  }, KNOWN_AFTER_MS);
  const isInert = (region) => {
    const open = document.querySelectorAll('dialog:modal');
    return open.length > 0 && !open[open.length - 1].contains(region);
  };
  const wordsOf = (node) => node.textContent.replace(/\\s+/g, ' ').trim();
  const say = (region, node) => {
    if (region.checkVisibility() && !isInert(region) && !region.closest('[aria-hidden=true]') && wordsOf(node)) window.heard.push(wordsOf(node));
  };
  const hear = (records) => {
    const whole = new Set();
    for (const { target, addedNodes, type } of records) {
      const at = target instanceof Element ? target : target.parentElement;
      const region = at?.closest(LIVE);
      if (region && known.has(region)) {
        const isWhole = region.matches('[role=status], [role=alert]') ? region.ariaAtomic !== 'false' : region.ariaAtomic === 'true';
        if (isWhole) whole.add(region);
        else for (const node of type === 'characterData' ? [target] : addedNodes) say(region, node);
      }
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue;
        for (const alert of [node, ...node.querySelectorAll('*')]) if (alert.matches('[role=alert], [aria-live=assertive]')) say(alert, alert);
      }
    }
    for (const region of whole) say(region, region);
    learn();
  };
  new MutationObserver(hear).observe(document, { childList: true, subtree: true, characterData: true });
}
"""


def listen(tab: Tab) -> Tab:
    """From the next loading of the page on."""
    tab.page.add_init_script(LISTEN)
    tab.page.reload()
    tab.settled()
    forget(tab)
    return tab


def forget(tab: Tab) -> None:
    tab.page.evaluate("window.heard.length = 0")


def hears(tab: Tab, text: str | re.Pattern[str]) -> None:
    """Waits until this is said, and forgets what was said so far."""
    wanted = text if isinstance(text, re.Pattern) else re.compile(re.escape(text))
    try:
        tab.page.wait_for_function("([source]) => window.heard.some((text) => new RegExp(source).test(text))", arg=[wanted.pattern], timeout=5_000)
    except Exception:
        raise AssertionError(f"Nobody says “{wanted.pattern}”, but {tab.page.evaluate('window.heard')}.") from None
    forget(tab)
