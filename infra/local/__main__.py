"""The command line of the local system. The Makefile is the way in (`make up`, `make down`, `make url`, `make e2e` …)."""

import argparse
import subprocess
import time
from collections.abc import Callable

from . import suites
from .client import send
from .installer import REQUIREMENTS, end_with, install, install_modules
from .system import DEFAULT_PORT, MEANT, SYSTEMS, System

NODE = "node"


def up(arguments: argparse.Namespace) -> None:
    emulator = System(MEANT).up(arguments.port)
    print(f"\nOpen Linklet in a browser:\n\n    {emulator.api_url}/app\n\nThe API:\n\n    {emulator.api_url}\n")
    print(f"The web application as functions/web/app is now, after each edit:\n\n    {emulator.api_url}/app-source\n")
    print("Next: make demo, make logs, make down")


def down(arguments: argparse.Namespace) -> None:
    stopped = [System(name).down() for name in (SYSTEMS if arguments.all else [MEANT])]
    print("Stopped." if any(stopped) else "Nothing was running.")


def mails(_: argparse.Namespace) -> None:
    """Prints the mails that were sent, the oldest first. None has left the machine."""
    emulator = System(MEANT).require()
    answer = send("GET", f"{emulator.endpoint}/_ministack/ses/messages").json()
    sent = [mail for mails in answer["messages"].values() for mail in mails]
    for mail in sorted(sent, key=lambda each: each["Timestamp"]):
        at = time.strftime("%H:%M:%S", time.localtime(mail["Timestamp"]))
        print(f"{at}  To: {', '.join(mail['To'])}\nSubject: {mail['Subject']}\n\n{mail['BodyText'].rstrip()}\n")
    if not sent:
        print("No mail was sent.")


def install_all(arguments: argparse.Namespace) -> None:
    for tool in arguments.tools:
        install_modules() if tool == NODE else install(tool)


def run(arguments: argparse.Namespace) -> int:
    """Runs a program with API_URL and the AWS variables of the local system, whatever the caller has set."""
    system = System(MEANT)
    environment = system.environment(system.require())
    return subprocess.run(arguments.program, env=environment).returncode


def e2e(arguments: argparse.Namespace) -> int:
    return suites.run(suites.LONG if arguments.long else [arguments.test], arguments.arguments)


def main() -> int | None:
    parser = argparse.ArgumentParser(prog="infra.local", description="Linklet's local system; see the Makefile")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, function: Callable[[argparse.Namespace], int | None], text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text)
        added.set_defaults(function=function)
        return added

    added = command("up", up, "build, start and deploy; idempotent")
    added.add_argument("--port", type=int, default=None, help=f"of the emulator, default {DEFAULT_PORT}")
    added = command("down", down, "stop the emulator and its functions")
    added.add_argument("--all", action="store_true", help="also what interrupted end-to-end runs left")
    command("url", lambda _: print(System(MEANT).require().api_url), "print the API's base URL")
    command("mails", mails, "print the mails that were sent")
    added = command("e2e", e2e, "run the end-to-end tests, on a system of their own unless API_URL names one")
    chosen = added.add_mutually_exclusive_group()
    chosen.add_argument("--test", choices=suites.NAMES, default=suites.USUAL, help="this suite instead of e2e")
    chosen.add_argument("--long", action="store_true", help="the suites that disturb the system, one after another")
    added.add_argument("arguments", nargs=argparse.REMAINDER, help="passed to cargo test, or to pytest")
    tested = System("e2e")
    added = command("redeploy", lambda given: tested.redeploy(dict(given.parameters)), "deploy the tests' system again, for a test of it")
    added.add_argument("parameters", nargs="+", type=lambda text: text.split("=", 1), metavar="Name=Value", help="of the template")
    command("kill", lambda _: tested.kill_functions(), "kill the functions of the tests' system, for the same test")
    added = command("run", run, "run a program in the local system's environment")
    added.add_argument("program", nargs=argparse.REMAINDER)
    added = command("install", install_all, "install pinned tools")
    added.add_argument("tools", nargs="+", choices=[NODE, *sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))])

    arguments = parser.parse_args()
    return arguments.function(arguments)


if __name__ == "__main__":
    end_with(main)
