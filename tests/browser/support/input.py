"""Two input devices. A test with the fixture `input_device` is taken with each of them, since a widget of ours handles both; any other is
taken with the keyboard alone, since whatever it presses is a control that the browser presses for keys (handlers.test.mjs)."""

from playwright.sync_api import Locator, Page, expect

# More stops than any page has.
MOST_STOPS = 200


class Pointer:
    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, target: Locator) -> None:
        target.click()

    def write(self, target: Locator, text: str) -> None:
        target.click()
        target.fill(text)

    def choose(self, target: Locator, option: str, label: str = "") -> None:
        target.select_option(option)

    def pick(self, menu: Locator, item: str) -> None:
        menu.click()
        self.page.get_by_role("menu").get_by_text(item, exact=True).click()


class Keyboard:
    """Uses nothing but keys: whatever it needs has to be reached with the tabulator, and each stop to show that it has the focus."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.keyboard = page.keyboard
        # So what each device does is done in light and in dark.
        page.emulate_media(color_scheme="dark")

    def press(self, target: Locator) -> None:
        self.reach(target)
        is_box = target.evaluate("(element) => element.matches('input[type=checkbox], input[type=radio], summary')")
        self.keyboard.press("Space" if is_box else "Enter")

    def write(self, target: Locator, text: str) -> None:
        self.reach(target)
        self.keyboard.press("ControlOrMeta+a")
        self.keyboard.insert_text(text)

    def choose(self, target: Locator, option: str, label: str = "") -> None:
        """An option is found by its label, which is its value if none is given."""
        self.reach(target)
        self.keyboard.type(label or option)
        expect(target).to_have_value(option)

    def pick(self, menu: Locator, item: str) -> None:
        self.press(menu)
        wanted = self.page.get_by_role("menu").get_by_text(item, exact=True)
        wanted.wait_for()
        for _ in range(MOST_STOPS):
            if wanted.evaluate("(element) => element.closest('[role^=menuitem]') === document.activeElement"):
                return self.keyboard.press("Enter")
            self.keyboard.press("ArrowDown")
        raise AssertionError(f"No arrow key reaches “{item}”.")

    def reach(self, target: Locator) -> None:
        """Goes there with the tabulator, no sooner than the page has done what the last key asked for, such as giving a heading the focus."""
        target.wait_for(state="attached")
        self.page.evaluate(TWO_FRAMES)
        for stops in range(MOST_STOPS):
            at = target.evaluate(STOP)
            # What has the focus at first may have got it by the page.
            assert at["shows"] or not (stops or at["isThere"]), f"This doesn't show that it has the focus: {at['is']}"
            if at["isThere"]:
                return
            self.keyboard.press("Shift+Tab" if at["isBehind"] else "Tab")
        raise AssertionError(f"The tabulator never reaches {target}; it is at {at['is']}.")


# Of what has the focus: whether it is the target, comes after it, and shows that it has the focus to whoever uses keys.
STOP = """
(target) => {
  const element = document.activeElement;
  const draws = ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  const around = [element, element.parentElement, element.parentElement?.parentElement].filter(Boolean);
  return { isThere: element === target, is: element.outerHTML.slice(0, 200),
    isBehind: Boolean(element.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_PRECEDING),
    // A heading gets it by the page, and of a date, the browser itself shows which part has it.
    shows: (element !== target && (element.tabIndex < 0 || element.matches('[type^=date]'))) || around.some((one) => draws(getComputedStyle(one)) || draws(getComputedStyle(one, '::after'))) };
}
"""
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
DEVICES = {"pointer": Pointer, "keyboard": Keyboard}
