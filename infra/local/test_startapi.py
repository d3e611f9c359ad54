"""That a stack's file of variables is looked at before minutes of building, and that one run excludes another."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import startapi
from .installer import Failure


class FileOfVariables(unittest.TestCase):
    def check(self, text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "env.json"
            path.write_text(text)
            startapi.check_format(path)

    def test_sections_of_variables_are_fine(self) -> None:
        self.check('{"Parameters": {"LINKS_TABLE": "links"}, "RedirectFunction": {"LOG_LEVEL": "debug"}}')

    def test_what_is_not_json_is_named(self) -> None:
        with self.assertRaisesRegex(Failure, "is not JSON"):
            self.check("LINKS_TABLE=links")

    def test_variables_without_a_section_are_refused(self) -> None:
        for text in ('{"LINKS_TABLE": "links"}', '["LINKS_TABLE"]'):
            with self.assertRaisesRegex(Failure, "another form"):
                self.check(text)

    def test_a_missing_file_leads_to_the_documentation(self) -> None:
        with self.assertRaisesRegex(Failure, "docs/local-sam.md"):
            startapi.check_format(Path("/nowhere/env.json"))


class Alone(unittest.TestCase):
    def test_a_second_run_says_that_there_is_a_first(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(startapi, "FOLDER", Path(folder)):
            with startapi.alone(), self.assertRaisesRegex(Failure, "already runs"):
                with startapi.alone():
                    pass
            with startapi.alone():
                pass


if __name__ == "__main__":
    unittest.main()
