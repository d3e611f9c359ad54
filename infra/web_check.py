"""Checks the types of the web application with the TypeScript compiler, and what needs no browser. `make web-check` runs it.

The application itself needs no Node.js, so a machine without it is no failure: a line says that nothing was checked. With
`WEB_CHECK=required` it is one. The compiler is installed once, as infra/requirements/web/package-lock.json pins it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "local"))

from linklet import REQUIREMENTS, ROOT, TOOLS, Failure, locked, say  # noqa: E402

NODE_AT_LEAST = 18
FILES = ["package.json", "package-lock.json"]


def missing() -> str | None:
    """What this machine lacks, if anything."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "Node.js with npm is missing"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    found = re.match(r"v(\d+)\.", version)
    if found is None or int(found[1]) < NODE_AT_LEAST:
        return f"Node.js {NODE_AT_LEAST} or later is needed, this is {version.strip()}"
    return None


def install(name: str, what: str) -> Path:
    """The folder with the modules that a lock file pins, which are downloaded once per version of that file."""
    pinned, home = REQUIREMENTS / name, TOOLS / name
    stamp = home / "installed"
    wanted = hashlib.sha256(b"".join((pinned / file).read_bytes() for file in FILES)).hexdigest()
    with locked(TOOLS):
        if stamp.is_file() and stamp.read_text() == wanted:
            return home / "node_modules"
        say(f"Installing {what} (once) …")
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        for file in FILES:
            shutil.copy(pinned / file, home)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        if subprocess.run(command, cwd=home, stdout=subprocess.DEVNULL).returncode != 0:
            raise Failure(f"Installing {what} failed (see above). Is https://registry.npmjs.org or your own registry reachable?")
        stamp.write_text(wanted)
    return home / "node_modules"


def main() -> int:
    lacks = missing()
    if lacks:
        if os.environ.get("WEB_CHECK") == "required":
            raise Failure(f"{lacks}.")
        say(f"The web application was not checked: {lacks}.")
        return 0
    compiler = install("web", "the TypeScript compiler") / "typescript" / "bin" / "tsc"
    web = ROOT / "functions" / "web"
    types = subprocess.run(["node", compiler, "--project", web / "tsconfig.json"]).returncode
    # With a folder, newer versions look for a file.
    tests = subprocess.run(["node", "--test", "--test-reporter=dot", *sorted((web / "tests").glob("*.test.mjs"))]).returncode
    return types or tests


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"web_check: {failure}")
