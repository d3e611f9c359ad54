"""Invites somebody, lets them set a new password, closes their account, exports it or ends it, recounts links, or suspends what does harm.
`make invite`, `make reset`, `make close-account`, `make export`, `make forget`, `make reconcile`, `make who`, `make suspend` and
`make unsuspend` run it; read runbooks/people.md, runbooks/reconcile.md and runbooks/abuse.md first.

The function `operate` does it, or `leave` if people want their data or their end, and logs who has asked for it.
"""

import argparse
import copy
import functools
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from .stack import outputs

# Longer than the function may run. A call is never repeated, since one that got no answer may have done its work.
# Without packets in between, gateways drop a connection after minutes.
PATIENT = Config(read_timeout=930, tcp_keepalive=True, retries={"total_max_attempts": 1})


# What may be suspended.
SCOPES = ["code", "host", "workspace"]
# Functions that create or change links hold what is blocked for 60 s, and may take 25 s more.
BLOCK_IS_KNOWN_AFTER_SECONDS = 90
# So many links are recounted at a time: in a new account, ten invocations run at most, and people are waiting for the others.
AT_ONCE = 3
IN_ORDER = ("Everything is counted.", "nothing is counted for it.")
# Only this function may read all of a person's data, and end accounts.
OF_LEAVE = {"export", "forget"}


@functools.cache
def connection() -> tuple[str, dict[str, str], Any]:
    """Who gives the commands, to functions of which stack, and with which client."""
    return boto3.client("sts").get_caller_identity()["Arn"], outputs(), boto3.client("lambda", config=PATIENT)


def ask(command: dict[str, Any]) -> dict[str, Any]:
    """Has a command carried out, and returns the answer. A refusal or a failure ends the program."""
    try:
        operator, stack, client = connection()
        function = stack["LeaveFunctionName" if OF_LEAVE & set(command) else "OperateFunctionName"]
        called = client.invoke(FunctionName=function, Payload=json.dumps({"operator": operator, "command": command}))
        answer = json.load(called["Payload"])
    except (BotoCoreError, ClientError) as error:
        sys.exit(f"There is no answer: {error}. If the function was called, its log says what was done.")
    if "FunctionError" in called:
        sys.exit(f"The function {function} failed: {answer['errorMessage']}")
    if "refusal" in answer:
        sys.exit(answer["refusal"])
    return answer


def perform(command: dict[str, Any]) -> int:
    """Shows what a command answers, which may be page by page. Returns an exit code."""
    [arguments], failed = command.values(), False
    while True:
        answer = ask(command)
        failed |= answer.get("needs_repair", False) or answer.get("is_incomplete", False)
        if answer["text"]:
            print(answer["text"], flush=True)
        if not answer.get("next"):
            return int(failed)
        arguments["after"] = answer["next"]


def perform_twice(command: dict[str, Any]) -> int:
    """The second time for links that were created while functions didn't know of the block."""
    failed = perform(copy.deepcopy(command))
    print(f"Looking again in {BLOCK_IS_KNOWN_AFTER_SECONDS} s for links that are created until then …", flush=True)
    time.sleep(BLOCK_IS_KNOWN_AFTER_SECONDS)
    return perform(command) or failed


def items_about(email: str) -> Iterator[dict[str, Any]]:
    """All that is stored about a person, first their account."""
    after = None
    while True:
        page = ask({"export": {"email": email, "after": after}})
        yield from page["items"]
        after = page["next_cursor"]
        if after is None:
            return


def export(email: str, file: str | None) -> int:
    """Writes all that is stored about a person to a file that only the operator may read, and which is there as a whole or not at all."""
    refuse_existing(file)
    try:
        with tempfile.TemporaryDirectory(prefix=".export-", dir=Path(file or "").parent) as hidden:
            part, items = Path(hidden) / "part", list(items_about(email))
            path = file or f"export-{items[0]['user_id']}.json"
            with open(part, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as written:
                json.dump(items, written, indent=1, ensure_ascii=False)
            refuse_existing(path)
            part.rename(path)
    except OSError as error:
        sys.exit(f"The export can't be written: {error}")
    print(f"{path} has what is stored about {email}: {len(items)} items. Nobody else may read it. Delete it once it is handed over.")
    return 0


def refuse_existing(file: str | None) -> None:
    if file and os.path.lexists(file):
        sys.exit(f"{file} is there already.")


def forget(email: str) -> int:
    """Ends an account, if somebody confirms that."""
    if os.environ.get("CONFIRM") != "yes":
        try:
            agreed = input(f"End the account of {email} for good, with the workspaces that nobody else is in? [y/N] ") == "y"
        except EOFError:
            agreed = False
        if not agreed:
            sys.exit("Nothing has changed. CONFIRM=yes answers where nobody can.")
    return perform({"forget": {"email": email}})


def recount(code: str, repair: bool) -> tuple[str, bool]:
    """What recounting a link answers, or why there is no answer, and whether somebody has to look at it."""
    try:
        answer = ask({"reconcile": {"code": code, "repair": repair}})
    except SystemExit as failure:
        return str(failure), True
    return answer["text"], answer["needs_repair"]


def recount_all(workspace: str, after: str | None, repair: bool) -> int:
    """Recounts the links of a workspace, and shows those that are not in order. Returns an exit code."""
    recounted = wrong = 0
    while True:
        page = ask({"links": {"workspace": workspace, "after": after}})
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for code, (text, needs_care) in zip(page["codes"], pool.map(lambda code: recount(code, repair), page["codes"]), strict=True):
                wrong += needs_care
                if not text.endswith(IN_ORDER):
                    print(f"{code}: {text}\n")
        recounted += len(page["codes"])
        after = page["next"]
        print(f"{recounted} links are recounted; {wrong} need care.{f' AFTER={after} goes on from here.' if after else ''}", flush=True)
        if after is None:
            return int(wrong > 0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Invites people, resets passwords, closes, exports and ends accounts, recounts and suspends links")
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")
    for name, what in [
        ("invite", "let an address register"), ("close-account", "close the account of an address"), ("forget", "end the account of an address"),
    ]:
        commands.add_parser(name, help=what).add_argument("email")
    exporting = commands.add_parser("export", help="write what is stored about the person of an address to a file")
    exporting.add_argument("email")
    exporting.add_argument("--file", help="by default, named after the person's id")
    reset = commands.add_parser("reset", help="let an address set a new password")
    reset.add_argument("email")
    reset.add_argument("--reclaim", action="store_true", help="the address is the person's")
    reconcile = commands.add_parser("reconcile", help="recount a link from its raw clicks")
    reconcile.add_argument("code", help="the short code")
    every = commands.add_parser("reconcile-workspace", help="recount all links of a workspace")
    every.add_argument("workspace", help="its slug")
    every.add_argument("--after", help="where an interrupted recount goes on, as it has printed")
    for each in (reconcile, every):
        each.add_argument("--repair", action="store_true", help="put right what differs")
    commands.add_parser("who", help="say whose a link is, and which others lead to its host").add_argument("code")
    for name, what in [("suspend", "suspend a link, all to a host, or all of a workspace"), ("unsuspend", "lift that")]:
        suspending = commands.add_parser(name, help=what)
        scope = suspending.add_mutually_exclusive_group(required=True)
        for kind in SCOPES:
            scope.add_argument(f"--{kind.upper()}", dest=kind, metavar=kind)
        if name == "suspend":
            suspending.add_argument("--reason", required=True, choices=["abuse", "legal", "other"])
    arguments = vars(parser.parse_args())
    command = arguments.pop("command")
    if alone := {"reconcile-workspace": recount_all, "export": export, "forget": forget}.get(command):
        sys.exit(alone(**arguments))
    if scopes := {kind: arguments.pop(kind) for kind in SCOPES if command.endswith("suspend")}:
        arguments["what"] = {kind: value for kind, value in scopes.items() if value is not None}
    repeats = command == "suspend" and "code" not in arguments["what"]
    sys.exit((perform_twice if repeats else perform)({command: arguments}))


if __name__ == "__main__":
    main()
