"""Recounts a link from its raw clicks. `make reconcile` runs it; read runbooks/reconcile.md first.

It only finds the tables and the queue of the stack; the counting is that of the analytics function, in Rust.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from stack import outputs


def main() -> None:
    parser = argparse.ArgumentParser(description="Recounts a link from its raw clicks")
    parser.add_argument("code", help="the short code")
    parser.add_argument("--repair", action="store_true", help="put right what differs")
    arguments = parser.parse_args()

    stack = outputs()
    environment = os.environ | {
        "STATS_TABLE": stack["StatsTableName"],
        "CLICKS_TABLE": stack["ClicksTableName"],
        "ANALYTICS_QUEUE_URL": stack["AnalyticsQueueUrl"],
    }
    command = ["cargo", "run", "--quiet", "--package", "linklet-reconcile", "--", arguments.code]
    command += ["--repair"] if arguments.repair else []
    sys.exit(subprocess.run(command, env=environment).returncode)


if __name__ == "__main__":
    main()
