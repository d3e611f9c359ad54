"""Starts the AWS emulator, closer to AWS in four places where the difference would hide or invent an error of ours.

Written for the version pinned in infra/requirements/emulator.txt, whose parts it names; `linklet.py` runs it with the
emulator's own Python. If an update of the emulator renames one of them, this fails at once instead of doing nothing.
"""

from __future__ import annotations

from typing import Any

from ministack import app
from ministack.core import iam_actions
from ministack.services import lambda_svc
from ministack.services.cloudformation import provisioners


def retry_partly_failed_stream_batches() -> None:
    """A stream's consumer answers with the record from which it wants to go on. The emulator does not look at that and
    moves on, so the records would be lost. Here, such a batch fails as a whole and is delivered again as a whole: more
    than AWS repeats, which a consumer has to bear anyway."""
    execute = lambda_svc._execute_function

    def execute_and_look(function: dict[str, Any], event: Any) -> dict[str, Any]:
        result = execute(function, event)
        body = result.get("body")
        if is_from_stream(event) and isinstance(body, dict) and body.get("batchItemFailures"):
            error = {"errorType": "PartialFailure", "errorMessage": "the batch is delivered again"}
            return result | {"error": True, "body": error}
        return result

    lambda_svc._execute_function = execute_and_look


def is_from_stream(event: Any) -> bool:
    records = event.get("Records") if isinstance(event, dict) else None
    return isinstance(records, list) and records[0].get("eventSource") == "aws:dynamodb"


def name_actions_as_iam_does() -> None:
    """To send or delete messages in batches takes the same permission as to do it singly. And who may send mail as whom
    depends on identities that the emulator has no notion of, so here everyone may."""
    extract = iam_actions.extract_iam_action

    def extract_as_iam_does(*arguments: Any, **options: Any) -> str | None:
        action = extract(*arguments, **options)
        if action == "ses:SendEmail":
            return None
        if action and action.startswith("sqs:"):
            return action.removesuffix("Batch")
        return action

    iam_actions.extract_iam_action = extract_as_iam_does


def keep_alarms_on_metric_math() -> None:
    """The emulator refuses an alarm that is computed from several metrics, and the whole stack with it. Here it exists,
    on a metric that nobody writes, so it never goes off."""
    record = provisioners._cw_metric_alarm_record

    def record_without_math(name: str, properties: dict[str, Any]) -> dict[str, Any]:
        if properties.get("Metrics"):
            properties = properties | {"Metrics": None, "Namespace": "metric math", "MetricName": "none"}
        return record(name, properties)

    provisioners._cw_metric_alarm_record = record_without_math


if __name__ == "__main__":
    retry_partly_failed_stream_batches()
    name_actions_as_iam_does()
    keep_alarms_on_metric_math()
    app.main()
