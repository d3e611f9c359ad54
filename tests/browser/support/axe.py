"""Judges whether everybody can use what a tab shows, as far as a program can tell: axe-core, WCAG 2.2 AA."""

from importlib.resources import files

from .tab import Tab

SCRIPT = (files("axe_playwright_python") / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """
async (rules) => {
  // What it loads ahead, it would put into the page as a style, which the content security policy forbids.
  const { violations } = await axe.run(document, { runOnly: rules, resultTypes: ['violations'], preload: false, elementRef: true });
  // The arrow keys scroll a menu, which axe doesn't know.
  const isFault = (id, element) => id !== 'scrollable-region-focusable' || !element.matches('[role=menu]');
  return violations.flatMap(({ id, nodes }) => nodes.filter(({ element }) => isFault(id, element)).map(({ html, failureSummary }) =>
    `${id}: ${html.slice(0, 200)}\\n    ${failureSummary.replace(/\\s+/g, ' ')}`));
}
"""


def unusable(tab: Tab) -> list[str]:
    """What not everybody can use."""
    if not tab.page.evaluate("'axe' in window"):
        tab.page.evaluate(SCRIPT)
    return tab.page.evaluate(RUN, RULES)


def assert_usable_by_everybody(tab: Tab, what: str) -> None:
    violations = unusable(tab)
    assert not violations, f"{what} has {len(violations)} violations:\n" + "\n".join(violations)
