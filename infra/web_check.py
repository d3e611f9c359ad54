"""Checks the types of the web application with the TypeScript compiler, and what needs no browser. `make web-check` runs it.

The application itself needs no Node.js, so a machine without it is no failure: a line says that nothing was checked. With
`WEB_CHECK=required` it is one. The compiler is installed once, as infra/requirements/web/package-lock.json pins it.
"""

from __future__ import annotations

import os
import subprocess

from .local.installer import ROOT, Failure, end_with, install_modules, missing_node, say


def main() -> int:
    lacks = missing_node()
    if lacks:
        if os.environ.get("WEB_CHECK") == "required":
            raise Failure(f"{lacks}.")
        say(f"The web application was not checked: {lacks}.")
        return 0
    compiler = install_modules("web", "the TypeScript compiler") / "typescript" / "bin" / "tsc"
    web = ROOT / "functions" / "web"
    types = subprocess.run(["node", compiler, "--project", web / "tsconfig.json"]).returncode
    # With a folder, newer versions look for a file.
    tests = subprocess.run(["node", "--test", "--test-reporter=dot", *sorted((web / "tests").glob("*.test.mjs"))]).returncode
    return types or tests


if __name__ == "__main__":
    end_with(main)
