"""Recounts a link from its raw clicks. `make reconcile` runs it; read runbooks/reconcile.md first.

It only finds the tables and the queue of the stack; the counting is that of the analytics function, in Rust.
"""

import argparse
import sys

from .stack import outputs, run


def main() -> None:
    parser = argparse.ArgumentParser(description="Recounts a link from its raw clicks")
    parser.add_argument("code", help="the short code")
    parser.add_argument("--repair", action="store_true", help="put right what differs")
    arguments = parser.parse_args()

    stack = outputs()
    variables = {
        "LINKS_TABLE": stack["LinksTableName"],
        "STATS_TABLE": stack["StatsTableName"],
        "CLICKS_TABLE": stack["ClicksTableName"],
        "ANALYTICS_QUEUE_URL": stack["AnalyticsQueueUrl"],
        "RAW_CLICK_DAYS": stack["RawClickDays"],
    }
    sys.exit(run("linklet-reconcile", [arguments.code, *(["--repair"] if arguments.repair else [])], variables))


if __name__ == "__main__":
    main()
