"""Recounts a link from its raw clicks. `make reconcile` runs it; read runbooks/reconcile.md first.

It only finds the tables and the queue of the stack; the counting is that of the analytics function, in Rust.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

import boto3

from stack import outputs


def main() -> None:
    parser = argparse.ArgumentParser(description="Recounts a link from its raw clicks")
    parser.add_argument("code", help="the short code")
    parser.add_argument("--repair", action="store_true", help="put right what differs")
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
        "LINKS_TABLE": stack["LinksTableName"],
        "STATS_TABLE": stack["StatsTableName"],
        "CLICKS_TABLE": stack["ClicksTableName"],
        "ANALYTICS_QUEUE_URL": stack["AnalyticsQueueUrl"],
        "RAW_CLICK_DAYS": stack["RawClickDays"],
    }
    if frozen.token:
        environment["AWS_SESSION_TOKEN"] = frozen.token
    command = ["cargo", "run", "--quiet", "--package", "linklet-reconcile", "--", arguments.code]
    command += ["--repair"] if arguments.repair else []
    sys.exit(subprocess.run(command, env=environment).returncode)


if __name__ == "__main__":
    main()
