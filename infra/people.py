"""Invites somebody, or lets them set a new password. `make invite` and `make reset` run it; read runbooks/people.md first.

It only finds the table and the API of the stack; what is stored is up to the repositories of the functions, in Rust.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

import boto3

from stack import outputs


def main() -> None:
    parser = argparse.ArgumentParser(description="Invites somebody, or lets them set a new password")
    parser.add_argument("what", choices=["invite", "reset"])
    parser.add_argument("email", help="the person's address")
    arguments = parser.parse_args()

    stack = outputs()
    # The profile may need a browser or another program; boto3 can do what the command need not know.
    session = boto3.Session()
    credentials = session.get_credentials()
    if credentials is None:
        sys.exit("There are no AWS credentials. Run `aws configure`, or set AWS_PROFILE.")
    frozen = credentials.get_frozen_credentials()
    environment = os.environ | {
        "AWS_ACCESS_KEY_ID": frozen.access_key,
        "AWS_SECRET_ACCESS_KEY": frozen.secret_key,
        "AWS_REGION": session.region_name or "",
        "USERS_TABLE": stack["UsersTableName"],
        # The local system's API has another address than the one that its stack says.
        "API_URL": os.environ.get("API_URL") or stack["ApiUrl"],
    }
    if frozen.token:
        environment["AWS_SESSION_TOKEN"] = frozen.token
    command = ["cargo", "run", "--quiet", "--package", "linklet-people", "--", arguments.what, arguments.email]
    sys.exit(subprocess.run(command, env=environment).returncode)


if __name__ == "__main__":
    main()
