"""What a deployment takes, in a folder of its own: the functions' packages, and the templates that name them.

`make release` makes one of what `make package` has built, with an SBOM and checksums. The local system deploys another one, so that
`target/lambda` belongs to cargo-lambda.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tomllib
import uuid
import zipfile
from functools import partial
from pathlib import Path

from .local.installer import ROOT, Failure, end_with, install_crate, shown

FUNCTION = re.compile(r"target/lambda/([\w-]+)/")
# sam looks for its settings beside the template.
COPIED = ["samconfig.toml", "infra/observability.yaml"]
SUMS = "SHA256SUMS"
NO_COMMIT = "  Commit: { Type: String, Default: ''"


def from_commit(template: str, commit: str) -> str:
    return template.replace(NO_COMMIT, NO_COMMIT.replace("''", f"'{commit}'"), 1)


def commit_of(root: Path) -> str:
    """That of a working copy, or nothing if there are changes or no Git."""
    try:
        git = partial(subprocess.run, cwd=root, capture_output=True, text=True, check=True)
        return "" if git(["git", "status", "--porcelain"]).stdout else git(["git", "rev-parse", "--short=8", "HEAD"]).stdout[:8]
    except (OSError, subprocess.CalledProcessError):
        return ""


def zip_bootstrap(executable: bytes, package: Path, level: int = 9) -> None:
    with zipfile.ZipFile(package, "w") as archive:
        entry = zipfile.ZipInfo("bootstrap")  # of 1980, so that the same executable makes the same package
        entry.external_attr = 0o755 << 16
        archive.writestr(entry, executable, zipfile.ZIP_DEFLATED, compresslevel=level)


def lay_out(folder: Path, root: Path = ROOT, commit: str = "") -> list[str]:
    """Writes what sam reads, and names the functions whose packages it will look for in `functions`."""
    for name in ("functions", "infra"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copyfile(root / name, folder / name)
    template = (root / "template.yaml").read_text()
    (folder / "template.yaml").write_text(FUNCTION.sub(r"functions/\1.zip", from_commit(template, commit)))
    return FUNCTION.findall(template)


def make(root: Path, folder: Path, sbom: str) -> None:
    """Fills the folder with the release of what is built in `root`."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in lay_out(folder, root, commit_of(root)):
        zip_bootstrap((root / "target" / "lambda" / name / "bootstrap").read_bytes(), folder / "functions" / f"{name}.zip")
    (folder / "sbom.cdx.json").write_text(sbom)
    write_sums(folder)


def write_sums(folder: Path) -> None:
    (folder / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in digests(folder).items()))


def digests(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / SUMS)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def verified(folder: Path) -> Path:
    """The template of a release, all of whose files are those that it was made with."""
    if not (folder / SUMS).is_file():
        raise Failure(f"{folder} has no {SUMS}. Name the folder that `make release` has made, or the archive of a release.")
    listed = {name: digest for digest, name in re.findall(r"^([0-9a-f]{64})  (.+)$", (folder / SUMS).read_text(), re.MULTILINE)}
    if wrong := listed.items() ^ digests(folder).items():
        names = ", ".join(sorted({name for name, _ in wrong}))
        raise Failure(f"{folder}: changed, missing or added since {SUMS} was written: {names}. Unpack the release into a new folder.")
    return folder / "template.yaml"


def bill_of_materials(root: Path, version: str) -> str:
    """What the functions are made of, without what only tests need: that of a package which needs the functions and nothing else."""
    program = install_crate("cargo-cyclonedx@0.5.9") / "bin" / "cargo-cyclonedx"
    folder = root / "target" / "sbom"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "main.rs").touch()
    needed = "".join(f'{name}.path = "{root}/functions/{name}"\n' for name in FUNCTION.findall((root / "template.yaml").read_text()))
    (folder / "Cargo.toml").write_text(f'[package]\nname = "linklet"\nversion = "{version}"\n[workspace]\n[dependencies]\n{needed}')
    shutil.copyfile(root / "Cargo.lock", folder / "Cargo.lock")
    command = [program, "cyclonedx", "--quiet", "--format=json", "--spec-version=1.5", "--no-build-deps", "--override-filename=sbom"]
    # With a fixed time, it adds no random number either.
    environment = os.environ | {"SOURCE_DATE_EPOCH": "0", "CARGO_BUILD_TARGET": "aarch64-unknown-linux-gnu"}
    subprocess.run(command, cwd=folder, env=environment, check=True)
    document = json.loads((folder / "sbom.json").read_text().replace(f"{root}/", ""))
    del document["metadata"]["timestamp"]
    # GitHub attests no document without a number. The same content has the same one.
    document["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document)).urn
    return json.dumps(document, indent=1)


def main() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    folder = ROOT / "dist" / f"linklet-{version}"
    make(ROOT, folder, bill_of_materials(ROOT, version))
    print(shown(folder))


if __name__ == "__main__":
    end_with(main)
