"""What becomes of a test that fails, end to end or in a browser."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from .. import browser
from . import suites


class SecondTries(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.flaky = self.folder / "flaky"
        self.flaky.touch()
        self.enterContext(mock.patch.object(suites, "FLAKY", self.flaky))

    def run_suite(self, name: str, *answers: tuple[int, list[str]]) -> tuple[int, int, str]:
        """The exit code, how many systems were started, and which tests are named as flaky, if Cargo answers so."""
        start = mock.Mock(return_value={})
        command = mock.patch.object(suites, "commands", return_value=[["cargo"]])
        with command, mock.patch.object(suites, "run_one", side_effect=answers):
            return suites.run_in(start, [name], []), start.call_count, self.flaky.read_text()

    def run_browser(self, failed: list[str], *codes: int) -> tuple[int, list[list[str]], str]:
        """The exit code, with which arguments pytest ran, and which tests are named as flaky, if pytest ends with these codes."""
        noted = self.folder / "v" / "cache" / "lastfailed"
        noted.parent.mkdir(parents=True)
        noted.write_text(json.dumps(dict.fromkeys(failed, True)))
        run = mock.Mock(side_effect=codes)
        with mock.patch.object(browser, "CACHE", self.folder):
            return browser.test_all(run), [call.args[0] for call in run.call_args_list], self.flaky.read_text()

    def test_a_test_that_passes_alone_is_named(self) -> None:
        answers = (101, ["links::one", "links::two"]), (0, []), (0, [])
        self.assertEqual(self.run_suite("e2e", *answers), (0, 1, "e2e: links::one\ne2e: links::two\n"))

    def test_the_run_fails_if_one_fails_again_or_there_are_three_or_none(self) -> None:
        for answers in ([(101, ["links::one"])] * 2, [(101, ["a::one", "a::two", "b::three"])], [(101, [])]):
            self.assertEqual(self.run_suite("e2e", *answers), (101, 1, ""), answers)

    def test_a_test_that_disturbs_the_system_gets_a_new_one(self) -> None:
        self.assertEqual(self.run_suite("outage", (101, ["outage::one"]), (0, [])), (0, 2, "outage: outage::one\n"))

    def test_a_test_in_a_browser_gets_one_too(self) -> None:
        both = [browser.AT_ONCE, ["test_links.py::one"]]
        self.assertEqual(self.run_browser(["test_links.py::one"], 1, 0), (0, both, "tests/browser/test_links.py::one\n"))

    def test_a_run_in_a_browser_that_ends_otherwise_gets_none(self) -> None:
        self.assertEqual(self.run_browser(["left from before"], 2), (2, [browser.AT_ONCE], ""))
