"""What a release has and refuses, and that sam and cargo-lambda find the functions without make."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

from samcli.yamlhelper import yaml_parse

from .local.installer import ROOT, Failure
from .release import COPIED, SUMS, make, verified

FUNCTIONS = {manifest.parent.name for manifest in ROOT.glob("functions/*/Cargo.toml")}


class Built(unittest.TestCase):
    """A working copy in which cargo-lambda has built, of executables that do nothing."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.release = self.root / "release"
        (self.root / "infra").mkdir()
        for name in [*COPIED, "template.yaml"]:
            shutil.copyfile(ROOT / name, self.root / name)
        for name in FUNCTIONS:
            (self.root / "target" / "lambda" / name).mkdir(parents=True)
            (self.root / "target" / "lambda" / name / "bootstrap").write_text(name)

    def code(self, template: Path) -> set[Path]:
        """The paths of the functions' code. That of the child stack has to be there, too."""
        resources = {name: each["Properties"] for name, each in yaml_parse(template.read_text())["Resources"].items() if "Properties" in each}
        self.assertTrue((template.parent / resources["Observability"]["TemplateURL"]).is_file())
        return {(template.parent / each["CodeUri"]).resolve() for each in resources.values() if "CodeUri" in each}

    def test_sam_build_takes_what_is_built(self) -> None:
        subprocess.run([Path(sys.executable).parent / "sam", "build"], cwd=self.root, check=True, capture_output=True)
        wanted = {self.root / "target" / "lambda" / name for name in FUNCTIONS}
        self.assertEqual(self.code(self.root / ".aws-sam" / "build" / "template.yaml"), wanted)

    def test_a_release_has_what_its_template_names_and_is_the_same_each_time(self) -> None:
        make(self.root, self.release, "{}")
        packages = self.code(verified(self.release))
        self.assertEqual(packages, {self.release / "functions" / f"{name}.zip" for name in FUNCTIONS})
        for path in packages:
            with zipfile.ZipFile(path) as package:
                self.assertEqual(package.read("bootstrap").decode(), path.stem)
                self.assertEqual(package.getinfo("bootstrap").external_attr >> 16, 0o755)
            (self.root / "target" / "lambda" / path.stem / "bootstrap").touch()
        sums = (self.release / SUMS).read_text()
        make(self.root, self.release, "{}")
        self.assertEqual((self.release / SUMS).read_text(), sums)

    def test_a_file_that_was_changed_added_or_lost_is_refused(self) -> None:
        for name, lost in (("functions/web.zip", False), ("functions/more.zip", False), ("infra/observability.yaml", True), (SUMS, True)):
            make(self.root, self.release, "{}")
            path = self.release / name
            path.unlink() if lost else path.write_text("other")
            with self.subTest(name), self.assertRaisesRegex(Failure, f" {name}[.]"):
                verified(self.release)


class CargoLambda(unittest.TestCase):
    def test_it_builds_the_functions_unless_it_is_told_otherwise(self) -> None:
        workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
        manifests = [path / "Cargo.toml" for member in workspace["members"] for path in ROOT.glob(member)]
        names = {tomllib.loads(path.read_text())["package"]["name"] for path in manifests if path.is_file()}
        patterns = workspace["metadata"]["lambda"]["build"]["packages"]
        self.assertEqual({name for name in names if any(fnmatchcase(name, each) for each in patterns)}, FUNCTIONS)
