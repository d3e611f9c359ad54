"""The deployed functions: their logs, their variables, their code. Run by the emulator's Python, which has boto3."""

import argparse
import base64
import contextlib
import hashlib
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3

from .installer import end_with, say
from .system import MEANT, PACKAGES, STACK, SYSTEMS, System, aws_environment


def deployed() -> list[dict[str, Any]]:
    """The configurations of the functions."""
    return boto3.client("lambda").get_paginator("list_functions").paginate().build_full_result()["Functions"]


def print_variables(public_base_url: str) -> None:
    """The environment variables of all functions, one NAME=value a line, for functions that run elsewhere."""
    variables: dict[str, str] = {}
    for function in deployed():
        variables |= function.get("Environment", {}).get("Variables", {})
    variables |= {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    if public_base_url:
        variables["PUBLIC_BASE_URL"] = public_base_url
    print("\n".join(f"{name}={value}" for name, value in sorted(variables.items()) if value))


def function_of(group: str) -> str:
    """The function of a log group: clock of linklet-ClockLogs-1A2B3C4D5E6F."""
    name = group.removeprefix(f"{STACK}-").rsplit("-", 1)[0].removesuffix("Logs")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def print_logs(system: System, minutes: float, follow: bool) -> None:
    """The functions' log lines, and the emulator's warnings, as they come. Ends with Ctrl-C."""
    cloudwatch = boto3.client("logs")
    since = int((time.time() - minutes * 60) * 1000)
    printed: set[tuple[str, str, int, str]] = set()
    with open(system.log, errors="replace") as emulator_log, contextlib.suppress(KeyboardInterrupt):
        emulator_log.seek(0, os.SEEK_END)
        while True:
            events = []
            for page in cloudwatch.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=f"{STACK}-"):
                for group in (group["logGroupName"] for group in page["logGroups"]):
                    pages = cloudwatch.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since)
                    name = function_of(group)
                    events += [(event["timestamp"], name, event) for found in pages for event in found["events"]]
            for timestamp, name, event in sorted(events, key=lambda each: each[0]):
                line = event["message"].rstrip()
                key = (name, event["logStreamName"], timestamp, line)
                if key not in printed and not line.startswith(("START ", "END ", "REPORT ")):
                    print(f"{name:13} {line}", flush=True)
                printed.add(key)
            for line in emulator_log.readlines():
                if " WARNING " in line or " ERROR " in line:
                    print(f"{'emulator':13} {line.rstrip()}", flush=True)
            if not follow:
                return
            time.sleep(1)


def update_code() -> None:
    """Updates the functions whose package differs from the deployed one."""
    client = boto3.client("lambda")
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda function: update(client, function), deployed()))


def update(client: Any, function: dict[str, Any]) -> None:
    """Uploads the package if it differs from the deployed one, and points aliases to the new version."""
    name, short = function["FunctionName"], function_of(function["LoggingConfig"]["LogGroup"])
    package = (PACKAGES / f"{short}.zip").read_bytes()
    if base64.b64encode(hashlib.sha256(package).digest()).decode() == function["CodeSha256"]:
        return
    say(f"Updating {short} …")
    client.update_function_code(FunctionName=name, ZipFile=package)
    client.get_waiter("function_updated_v2").wait(FunctionName=name, WaiterConfig={"Delay": 0.2})
    for alias in client.list_aliases(FunctionName=name)["Aliases"]:
        version = client.publish_version(FunctionName=name)["Version"]
        client.update_alias(FunctionName=name, Name=alias["Name"], FunctionVersion=version)


def main() -> None:
    parser = argparse.ArgumentParser(description="Logs and variables of the deployed functions; see the Makefile")
    parser.add_argument("--system", choices=SYSTEMS, default=MEANT)
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")
    logs = commands.add_parser("logs", help="follow the logs")
    logs.add_argument("--minutes", type=float, default=2, help="how far to look back")
    logs.add_argument("--no-follow", dest="follow", action="store_false")
    env = commands.add_parser("env", help="print the functions' variables")
    env.add_argument("--public-base-url", default="")
    commands.add_parser("update", help="update the functions whose package differs from the deployed one")
    arguments = parser.parse_args()

    system = System(arguments.system)
    os.environ.update(aws_environment(system.require().endpoint))
    if arguments.command == "update":
        update_code()
    elif arguments.command == "logs":
        print_logs(system, arguments.minutes, arguments.follow)
    else:
        print_variables(arguments.public_base_url)


if __name__ == "__main__":
    end_with(main)
