"""That what an operator does for people is in the log, with who did it, and that they are told if it isn't."""

import contextlib
import io
import json
import unittest
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
from botocore.stub import ANY, Stubber

from . import people

GROUP = "/aws/lambda/linklet-auth"
TABLES = {"UsersTableName": "users", "AuditTableName": "audit", "JobsTableName": "jobs"}
STACK = {**TABLES, "PublicUrl": "https://go.example.com", "AuthLogGroup": GROUP}
ARN = "arn:aws:sts::123456789012:assumed-role/operator/ada"
RECORD = {"message": "a token for a new password was made", "user_id": "01a1fefb-b5b0-76af-b857-af9cec6f19c5"}


class Aws:
    """The two services that are asked, by stand-ins that know how requests to them must look."""

    def __init__(self) -> None:
        access = {"region_name": "eu-central-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}
        self.clients = {name: boto3.client(name, **access) for name in ("logs", "sts")}
        self.logs, self.sts = map(Stubber, self.clients.values())
        self.written: list[dict[str, Any]] = []
        self.clients["logs"].meta.events.register("provide-client-params.logs.PutLogEvents", self.note)
        self.sts.add_response("get_caller_identity", {"Arn": ARN})

    def note(self, params: dict[str, Any], **_: Any) -> None:
        self.written.append(params)

    def expect_line(self, answer: dict[str, Any] | None = None, *, error: str = "") -> None:
        if error:
            self.logs.add_client_error("put_log_events", error)
        else:
            self.logs.add_response("put_log_events", answer or {}, {"logGroupName": GROUP, "logStreamName": ANY, "logEvents": ANY})


def perform(aws: Aws, *, code: int = 0, record: dict[str, str] | None = RECORD) -> tuple[int, str]:
    """The exit code and what was said, if the command ends with a code and leaves a record."""

    def run(package: str, arguments: list[str], variables: dict[str, str]) -> int:
        assert (package, arguments) == ("linklet-people", ["reset", "ada@example.com"])
        assert (variables["USERS_TABLE"], variables["AUDIT_TABLE"], variables["JOBS_TABLE"]) == ("users", "audit", "jobs")
        assert variables["PUBLIC_URL"] == "https://go.example.com"
        if record is not None:
            Path(variables["RECORD_FILE"]).write_text(json.dumps(record))
        return code

    said = io.StringIO()
    clients = patch.object(people.boto3, "client", aws.clients.__getitem__)
    with patch.object(people, "run", run), clients, aws.logs, aws.sts, contextlib.redirect_stderr(said):
        return people.perform("reset", "ada@example.com", STACK), said.getvalue()


class WhatOperatorsDo(unittest.TestCase):
    def test_it_is_a_line_like_those_of_functions(self) -> None:
        aws = Aws()
        aws.logs.add_response("create_log_stream", {}, {"logGroupName": GROUP, "logStreamName": ANY})
        aws.expect_line()
        before = datetime.now(UTC)

        self.assertEqual(perform(aws), (0, ""))

        [sent] = aws.written
        [event] = sent["logEvents"]
        line = json.loads(event["message"])
        self.assertEqual(list(line), ["level", "time", "service", "message", "user_id", "operator"])
        self.assertEqual(line | RECORD | {"level": "INFO", "service": "operator", "operator": ARN}, line)
        self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        moment = datetime.fromisoformat(line["time"])
        self.assertLess(abs((moment - before).total_seconds()), 60)
        self.assertEqual(event["timestamp"], int(moment.timestamp() * 1000))
        self.assertEqual(sent["logStreamName"], f"operators/{line['time'][:10]}")
        self.assertNotIn("ada@example.com", event["message"])
        aws.logs.assert_no_pending_responses()

    def test_the_day_has_one_stream(self) -> None:
        aws = Aws()
        aws.logs.add_client_error("create_log_stream", "ResourceAlreadyExistsException")
        aws.expect_line()
        self.assertEqual(perform(aws), (0, ""))
        self.assertEqual(len(aws.written), 1)

    def test_a_failed_log_entry_tells_the_operator_that_it_was_done(self) -> None:
        def denied(aws: Aws) -> None:
            aws.logs.add_client_error("create_log_stream", "AccessDeniedException")

        def refused(aws: Aws) -> None:
            aws.logs.add_response("create_log_stream", {})
            aws.expect_line(error="ThrottlingException")

        def rejected(aws: Aws) -> None:
            aws.logs.add_response("create_log_stream", {})
            aws.expect_line({"rejectedLogEventsInfo": {"tooOldLogEventEndIndex": 0}})

        for fail in (denied, refused, rejected):
            with self.subTest(fail.__name__):
                aws = Aws()
                fail(aws)
                code, said = perform(aws)
                self.assertEqual(code, 1)
                self.assertTrue(said.startswith("It was done, but the log doesn't say so: "), said)

    def test_what_was_not_done_is_not_written(self) -> None:
        aws = Aws()
        self.assertEqual(perform(aws, code=101, record=None), (101, ""))
        self.assertEqual(aws.written, [])

    def test_what_was_done_is_written_also_if_it_could_not_be_shown(self) -> None:
        aws = Aws()
        aws.logs.add_response("create_log_stream", {})
        aws.expect_line()
        self.assertEqual(perform(aws, code=101), (101, ""))
        self.assertEqual(len(aws.written), 1)

    def test_a_command_that_leaves_no_record_is_noticed(self) -> None:
        code, said = perform(Aws(), record=None)
        self.assertEqual(code, 1)
        self.assertIn("the log doesn't say so", said)
