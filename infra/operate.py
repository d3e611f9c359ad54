"""Invites somebody, lets them set a new password, closes their account, or recounts a link. `make invite`, `make reset`,
`make close-account` and `make reconcile` run it; read runbooks/people.md and runbooks/reconcile.md first.

The function `operate` does it, and logs who has asked for it.
"""

import argparse
import json
import sys
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from .stack import outputs

# Longer than the function may run. A call is never repeated, since one that got no answer may have done its work.
# Without packets in between, gateways drop a connection after minutes.
PATIENT = Config(read_timeout=930, tcp_keepalive=True, retries={"total_max_attempts": 1})


def ask(command: dict[str, Any]) -> dict[str, Any]:
    """Has a command carried out, and returns the answer. A refusal or a failure ends the program."""
    try:
        order = {"operator": boto3.client("sts").get_caller_identity()["Arn"], "command": command}
        function = outputs()["OperateFunctionName"]
        called = boto3.client("lambda", config=PATIENT).invoke(FunctionName=function, Payload=json.dumps(order))
        answer = json.load(called["Payload"])
    except (BotoCoreError, ClientError) as error:
        sys.exit(f"There is no answer: {error}. If the function was called, its log says what was done.")
    if "FunctionError" in called:
        sys.exit(f"The function {function} failed: {answer['errorMessage']}")
    if "refusal" in answer:
        sys.exit(answer["refusal"])
    return answer


def perform(command: dict[str, Any]) -> int:
    """Shows what a command answers. Returns an exit code."""
    answer = ask(command)
    print(answer["text"])
    return int(answer.get("needs_repair", False))


def main() -> None:
    parser = argparse.ArgumentParser(description="Invites people, resets passwords, closes accounts, recounts links")
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")
    for name, what in [("invite", "let an address register"), ("close-account", "close the account of an address")]:
        commands.add_parser(name, help=what).add_argument("email")
    reset = commands.add_parser("reset", help="let an address set a new password")
    reset.add_argument("email")
    reset.add_argument("--reclaim", action="store_true", help="the address is the person's")
    reconcile = commands.add_parser("reconcile", help="recount a link from its raw clicks")
    reconcile.add_argument("code", help="the short code")
    reconcile.add_argument("--repair", action="store_true", help="put right what differs")
    arguments = vars(parser.parse_args())
    sys.exit(perform({arguments.pop("command"): arguments}))


if __name__ == "__main__":
    main()
