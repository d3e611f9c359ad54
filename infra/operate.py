"""Invites somebody, lets them set a new password, closes their account, recounts links, or suspends what does harm. `make invite`,
`make reset`, `make close-account`, `make reconcile`, `make who`, `make suspend` and `make unsuspend` run it; read runbooks/people.md,
runbooks/reconcile.md and runbooks/abuse.md first.

The function `operate` does it, and logs who has asked for it.
"""

import argparse
import copy
import functools
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
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


@functools.cache
def connection() -> tuple[str, str, Any]:
    """Who gives the commands, and to which function with which client."""
    return boto3.client("sts").get_caller_identity()["Arn"], outputs()["OperateFunctionName"], boto3.client("lambda", config=PATIENT)


def ask(command: dict[str, Any]) -> dict[str, Any]:
    """Has a command carried out, and returns the answer. A refusal or a failure ends the program."""
    try:
        operator, function, client = connection()
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
    parser = argparse.ArgumentParser(description="Invites people, resets passwords, closes accounts, recounts and suspends links")
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")
    for name, what in [("invite", "let an address register"), ("close-account", "close the account of an address")]:
        commands.add_parser(name, help=what).add_argument("email")
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
    if command == "reconcile-workspace":
        sys.exit(recount_all(**arguments))
    if scopes := {kind: arguments.pop(kind) for kind in SCOPES if command.endswith("suspend")}:
        arguments["what"] = {kind: value for kind, value in scopes.items() if value is not None}
    repeats = command == "suspend" and "code" not in arguments["what"]
    sys.exit((perform_twice if repeats else perform)({command: arguments}))


if __name__ == "__main__":
    main()
