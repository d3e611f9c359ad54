"""Judges whether everybody can use what a tab shows, as far as a program can tell: axe-core, WCAG 2.2 AA."""

from __future__ import annotations

from importlib.resources import files

from .tab import Tab

SCRIPT = (files("axe_playwright_python") / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """
async (rules) => {
  // What it loads ahead, it would put into the page as a style, which the content security policy forbids.
  const { violations } = await axe.run(document, { runOnly: rules, resultTypes: ['violations'], preload: false });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
    `${id}: ${html.slice(0, 200)}\\n    ${failureSummary.replace(/\\s+/g, ' ')}`));
}
"""


def assert_usable_by_everybody(tab: Tab, what: str = "") -> None:
    if not tab.page.evaluate("'axe' in window"):
        tab.page.evaluate(SCRIPT)
    violations = tab.page.evaluate(RUN, RULES)
    assert not violations, f"{what or tab.view()} has {len(violations)} violations:\n" + "\n".join(violations)
