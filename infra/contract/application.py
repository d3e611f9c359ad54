"""Compares what the web application calls with docs/openapi.yaml: `make document` runs it.

Everything that a person can do with the API is to be in the application. So each operation is called there, or its
`x-linklet` says why it isn't (`uncalled`). Calls are written out in the application (`call('GET /api/links', …)`), so its text tells
them.
"""

import re
import sys
from pathlib import Path
from typing import Any

import yaml

from ..local.installer import ROOT
from .document import DOCUMENT

APPLICATION = ROOT / "functions" / "web" / "app"

METHODS = {"get", "head", "post", "put", "patch", "delete"}
CALL = re.compile(r"""\b(?:call|addressOf|readAll)\(\s*(?:'[a-z]+', )?['"`]([A-Z]+ [^'"`]+)['"`]""")


def operations(document: dict[str, Any]) -> dict[str, str | None]:
    """Such as `GET /api/links`, each with why the application doesn't call it."""
    return {
        f"{method.upper()} {path}": operation.get("x-linklet", {}).get("uncalled")
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def calls(application: Path) -> dict[str, str]:
    """The operations that the application calls, and a file that does."""
    found = {}
    for file in sorted(application.rglob("*.js")):
        if "vendor" not in file.parts:
            found |= dict.fromkeys(CALL.findall(file.read_text()), str(file.relative_to(application)))
    return found


def complaints(offered: dict[str, str | None], called: dict[str, str]) -> list[str]:
    missing = [f"{one}: the application doesn't call it, and its x-linklet has no `uncalled`" for one, why in offered.items() if one not in called and not why]
    stale = [f"{one}: its x-linklet has `uncalled`, but {called[one]} calls it" for one, why in offered.items() if one in called and why]
    unknown = [f"{one}: {called[one]} calls it, but the document doesn't have it" for one in called.keys() - offered.keys()]
    return sorted(missing + stale + unknown)


def main() -> int:
    offered, called = operations(yaml.safe_load(DOCUMENT.read_text())), calls(APPLICATION)
    if found := complaints(offered, called):
        print("\n".join(found), file=sys.stderr)
        return 1
    print(f"The web application calls {len(called)} of {len(offered)} operations. Not called:")
    for operation, reason in offered.items():
        if reason:
            print(f"  {operation:32} {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
