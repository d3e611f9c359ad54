"""That sam and cargo-lambda find the functions without make."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from fnmatch import fnmatchcase
from pathlib import Path

from samcli.yamlhelper import yaml_parse

from .local.installer import ROOT
from .release import COPIED

FUNCTIONS = {manifest.parent.name for manifest in ROOT.glob("functions/*/Cargo.toml")}


class Built(unittest.TestCase):
    """A working copy in which cargo-lambda has built, of executables that do nothing."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
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


class CargoLambda(unittest.TestCase):
    def test_it_builds_the_functions_unless_it_is_told_otherwise(self) -> None:
        workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
        manifests = [path / "Cargo.toml" for member in workspace["members"] for path in ROOT.glob(member)]
        names = {tomllib.loads(path.read_text())["package"]["name"] for path in manifests if path.is_file()}
        patterns = workspace["metadata"]["lambda"]["build"]["packages"]
        self.assertEqual({name for name in names if any(fnmatchcase(name, each) for each in patterns)}, FUNCTIONS)
