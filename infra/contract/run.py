"""Holds the system in API_URL against docs/openapi.yaml, from outside: `make e2e` runs it after the other end-to-end tests.

Programs that know nothing but the document are its judges. Schemathesis calls each operation with inputs that it makes up,
allowed and forbidden ones, and no answer may be one that the document lacks. And clients that generators make of the document
take a tour (clients.py): the one in Python, or with `CLIENTS=required` all.
"""

import json
import os
import subprocess
import sys
import tempfile

from ..local.client import call
from ..local.seed import sign_up
from ..local.installer import ROOT
from .clients import HERE, PROGRAMS, Python
from .document import DOCUMENT

# Inputs per operation and phase; a run takes some minutes.
EXAMPLES = os.environ.get("CONTRACT_EXAMPLES", "25")
# So many operations are called at once, since a call mostly waits for its answer.
AT_ONCE = "4"


def main() -> int:
    chosen = [] if os.environ.get("CLIENTS") == "required" else [Python.tour]
    # Generators and compilers need the processor, where the inputs mostly wait for answers.
    with subprocess.Popen(["nice", "-n", "19", sys.executable, "-m", "infra.contract.clients", *chosen], cwd=ROOT) as clients:
        code = made_up_inputs(os.environ["API_URL"])
        return clients.wait() or code


def made_up_inputs(url: str) -> int:
    """Calls each operation as the admin of a workspace of its own."""
    user = sign_up(url, "contract")
    token = user["token"]
    code = call("POST", f"{url}/api/shorten", {"url": "https://doc.rust-lang.org/std/"}, token)["short_code"]
    target = call("POST", f"{url}/v1/targets", {"url": "https://doc.rust-lang.org/std/"}, token)["id"]
    existing = {"code": code, "id": target, "user_id": user["user_id"]}

    command = [PROGRAMS / "schemathesis", "--config-file", HERE / "schemathesis.toml", "run", DOCUMENT, "--url", url]
    command += ["--max-examples", EXAMPLES, "--workers", AT_ONCE, "--header", f"Authorization: Bearer {token}"]
    # It would end the session in which everything else is called.
    command += ["--exclude-operation-id", "logOut"]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": str(HERE / "hooks.py"), "CONTRACT_EXISTING": json.dumps(existing)}
    # It remembers failures in the folder where it runs, and would repeat them against another system.
    with tempfile.TemporaryDirectory(prefix="linklet-contract-") as folder:
        return subprocess.run(command, env=environment, cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
