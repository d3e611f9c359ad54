"""Invites somebody, lets them set a new password, or closes their account. `make invite`, `make reset` and `make close-account` run
it; read runbooks/people.md first.

It finds the table and the pages of the stack; what is stored is up to the repositories of the functions, in Rust. What was done
is written into the stack's logs, since nobody else sees the terminal of whoever did it.
"""

import argparse
import contextlib
import json
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from .stack import outputs, run


class Unwritten(Exception):
    """A line that is not in the log."""


def write(record: dict[str, Any], group: str) -> None:
    """Writes what was done into a log group, in a line like those of the functions, and who has done it."""
    now = datetime.now(UTC)
    line = {
        "level": "INFO",
        "time": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "service": "operator",
        **record,
        "operator": boto3.client("sts").get_caller_identity()["Arn"],
    }
    logs = boto3.client("logs")
    place = {"logGroupName": group, "logStreamName": f"operators/{now:%Y-%m-%d}"}
    with contextlib.suppress(logs.exceptions.ResourceAlreadyExistsException):
        logs.create_log_stream(**place)
    event = {"timestamp": int(now.timestamp() * 1000), "message": json.dumps(line, separators=(",", ":"))}
    if rejected := logs.put_log_events(**place, logEvents=[event]).get("rejectedLogEventsInfo"):
        raise Unwritten(f"CloudWatch Logs refuses the line: {rejected}")


def perform(what: str, email: str, stack: dict[str, str]) -> int:
    """Does it and writes down that it was done. Returns an exit code."""
    group = stack["AuthLogGroup"]  # now, and not when it is done
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "record.json"
        variables = {
            "USERS_TABLE": stack["UsersTableName"],
            "AUDIT_TABLE": stack["AuditTableName"],
            "JOBS_TABLE": stack["JobsTableName"],
            "PUBLIC_URL": stack["PublicUrl"],
            "RECORD_FILE": str(file),  # the command leaves there what it has done
        }
        code = run("linklet-people", [what, email], variables)
        if code != 0 and not file.exists():
            return code
        try:
            write(json.loads(file.read_text()), group)
        except (BotoCoreError, ClientError, OSError, ValueError, Unwritten) as error:
            print(f"It was done, but the log doesn't say so: {error}", file=sys.stderr)
            return code or 1
        return code


def main() -> None:
    parser = argparse.ArgumentParser(description="Invites somebody, lets them set a new password, or closes their account")
    parser.add_argument("what", choices=["invite", "reset", "reclaim", "close"])
    parser.add_argument("email", help="the person's address")
    arguments = parser.parse_args()
    sys.exit(perform(arguments.what, arguments.email, outputs()))


if __name__ == "__main__":
    main()
