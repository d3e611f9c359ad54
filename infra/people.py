"""Invites somebody, or lets them set a new password. `make invite` and `make reset` run it; read runbooks/people.md first.

It only finds the table and the pages of the stack; what is stored is up to the repositories of the functions, in Rust.
"""

from __future__ import annotations

import argparse
import sys

from stack import outputs, run


def main() -> None:
    parser = argparse.ArgumentParser(description="Invites somebody, or lets them set a new password")
    parser.add_argument("what", choices=["invite", "reset"])
    parser.add_argument("email", help="the person's address")
    arguments = parser.parse_args()

    stack = outputs()
    variables = {"USERS_TABLE": stack["UsersTableName"], "PUBLIC_URL": stack["PublicUrl"]}
    sys.exit(run("linklet-people", [arguments.what, arguments.email], variables))


if __name__ == "__main__":
    main()
