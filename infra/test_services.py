"""Which Python LocalStack is given."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import services


class Pythons(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        for patch in (
            mock.patch.dict(os.environ, PATH=str(self.home / "bin"), PYENV_ROOT=str(self.home / "pyenv")),
            mock.patch("sys.executable", self.python("own/python3", "echo 3.11")),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def python(self, path: str, does: str) -> str:
        program = self.home / path
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)
        return str(program)

    def test_one_that_is_too_old_or_too_new_is_not_taken(self) -> None:
        self.python("bin/python3.14", "echo 3.14")
        self.assertIsNone(services.python_for_localstack())
        self.assertEqual(services.missing_for_localstack(), "no Python 3.13 or 3.12 is installed")

    def test_one_in_the_path_is_taken(self) -> None:
        self.python("bin/python3.12", "echo 3.12")
        self.assertEqual(services.python_for_localstack(), "python3.12")

    def test_where_pyenv_has_chosen_another_one_its_own_is_taken(self) -> None:
        self.python("bin/python3.13", "exit 127")
        program = self.python("pyenv/versions/3.13.0/bin/python", "echo 3.13")
        self.assertEqual(services.python_for_localstack(), program)
