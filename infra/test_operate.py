"""That a command reaches the function once, and that its answer, a refusal and a failure are told apart."""

import contextlib
import copy
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
from botocore.config import Config
from botocore.stub import Stubber

from . import operate
from .limits import TEMPLATE

ARN = "arn:aws:sts::123456789012:assumed-role/operator/ada"
ACCESS = {"region_name": "eu-central-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}


def answered(answer: dict[str, Any], *arguments: str, error: str = "") -> tuple[dict[str, Any], str | int, str]:
    """The order that is sent, how the command exits and what it prints, if the function answers this."""
    [order], code, printed = conversation([answer], *arguments, error=error)
    return order, code, printed


def conversation(answers: list[dict[str, Any]], *arguments: str, error: str = "") -> tuple[list[dict[str, Any]], str | int, str]:
    """The same for a command that asks several times."""
    operate.connection.cache_clear()
    sts, function = (boto3.client(name, **ACCESS) for name in ("sts", "lambda"))
    orders: list[str] = []

    def client(name: str, config: Config | None = None) -> Any:
        assert name == "sts" or config is operate.PATIENT
        return {"sts": sts, "lambda": function}[name]

    def note(params: dict[str, Any], **_: Any) -> None:
        orders.append(params["Payload"])

    function.meta.events.register("provide-client-params.lambda.Invoke", note)
    with Stubber(sts) as of_sts, Stubber(function) as of_function, contextlib.ExitStack() as patches:
        of_sts.add_response("get_caller_identity", {"Arn": ARN})
        for answer in answers:
            response = {"Payload": io.BytesIO(json.dumps(answer).encode())} | ({"FunctionError": error} if error else {})
            of_function.add_response("invoke", response)
        for patched in (
            patch.object(operate, "AT_ONCE", 1),
            patch.object(operate.boto3, "client", client),
            patch.object(operate, "outputs", lambda: {name: f"linklet-{name[:-4]}-1A2B" for name in ("OperateFunctionName", "LeaveFunctionName")}),
            patch("sys.argv", ["operate", *arguments]),
        ):
            patches.enter_context(patched)
        printed = patches.enter_context(contextlib.redirect_stdout(io.StringIO()))
        try:
            operate.main()
        except SystemExit as end:
            return [json.loads(order) for order in orders], end.code or 0, printed.getvalue()
    raise AssertionError("it doesn't exit")


class Commands(unittest.TestCase):
    def test_an_order_names_the_command_and_who_gives_it(self) -> None:
        for arguments, command in [
            (("invite", "ada@example.com"), {"invite": {"email": "ada@example.com"}}),
            (("reset", "ada@example.com"), {"reset": {"email": "ada@example.com", "reclaim": False}}),
            (("reset", "ada@example.com", "--reclaim"), {"reset": {"email": "ada@example.com", "reclaim": True}}),
            (("close-account", "ada@example.com"), {"close-account": {"email": "ada@example.com"}}),
            (("reconcile", "launch"), {"reconcile": {"code": "launch", "repair": False}}),
            (("reconcile", "launch", "--repair"), {"reconcile": {"code": "launch", "repair": True}}),
            (("who", "launch"), {"who": {"code": "launch"}}),
            (("suspend", "--CODE", "launch", "--reason", "abuse"), {"suspend": {"reason": "abuse", "what": {"code": "launch"}}}),
            (("unsuspend", "--HOST", "spam.example"), {"unsuspend": {"what": {"host": "spam.example"}}}),
        ]:
            order, code, printed = answered({"text": "It is done."}, *arguments)
            self.assertEqual(order, {"operator": ARN, "command": command})
            self.assertEqual((code, printed), (0, "It is done.\n"))

    def test_a_host_is_looked_for_page_by_page_and_once_more(self) -> None:
        pages = [{"text": "one", "next": "after one"}, {"text": "", "next": None}, {"text": "late", "next": None}]
        with (
            patch.object(operate, "ask", side_effect=lambda command: asked.append(copy.deepcopy(command)) or pages.pop(0)),
            patch.object(operate.time, "sleep") as slept,
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            asked: list[dict[str, Any]] = []
            operate.perform_twice({"suspend": {"what": {"host": "spam.example"}, "reason": "abuse"}})
        self.assertEqual([command["suspend"].get("after") for command in asked], [None, "after one", None])
        self.assertTrue(slept.called and "one\n" in printed.getvalue() and printed.getvalue().endswith("late\n"))

    def test_a_difference_that_nobody_has_repaired_is_an_exit_code(self) -> None:
        for needs_repair in (True, False):
            _, code, printed = answered({"text": "Total: 7", "needs_repair": needs_repair}, "reconcile", "launch")
            self.assertEqual((code, printed), (int(needs_repair), "Total: 7\n"))

    def test_a_workspace_is_recounted_link_by_link_whatever_fails(self) -> None:
        clean = {"text": "Total: 7\nEverything is counted.", "needs_repair": False}
        different = {"text": "Total: 7 counted, 9 recounted.", "needs_repair": True}
        answers = [{"codes": ["a1", "b2"], "next": "MjA"}, clean, {"refusal": "busy"}, {"codes": ["c3"], "next": None}, different]

        orders, code, printed = conversation(answers, "reconcile-workspace", "0198c0de", "--after", "MTA")

        reconcile = [{"reconcile": {"code": code, "repair": False}} for code in ("a1", "b2", "c3")]
        pages = [{"links": {"workspace": "0198c0de", "after": after}} for after in ("MTA", "MjA")]
        self.assertEqual([order["command"] for order in orders], [pages[0], *reconcile[:2], pages[1], reconcile[2]])
        self.assertEqual(code, 1)
        goes_on = "2 links are recounted; 1 need care. AFTER=MjA goes on from here.\n"
        ends = "3 links are recounted; 2 need care.\n"
        self.assertEqual(printed, f"b2: busy\n\n{goes_on}c3: Total: 7 counted, 9 recounted.\n\n{ends}")

    def test_leave_forgets_only_whom_somebody_has_confirmed(self) -> None:
        agreed, declined = patch("builtins.input", return_value="y"), patch("builtins.input", side_effect=EOFError)
        ended, command = {"text": "The account is ended."}, {"forget": {"email": "ada@example.com"}}
        for environment, answering in [({"CONFIRM": "yes"}, declined), ({}, agreed)]:
            with patch.dict(os.environ, environment), answering:
                order, code, printed = answered(ended, "forget", "ada@example.com")
            self.assertEqual((order, code, printed), ({"operator": ARN, "command": command}, 0, "The account is ended.\n"))
        for answering in (declined, patch("builtins.input", return_value="")):
            with answering:
                orders, code, _ = conversation([], "forget", "ada@example.com")
            self.assertEqual(orders, [])
            self.assertIn("Nothing has changed.", str(code))

    def test_what_has_to_be_done_again_is_an_exit_code(self) -> None:
        _, code, _ = answered({"text": "FAILED launch", "is_incomplete": True}, "suspend", "--CODE", "launch", "--reason", "abuse")
        self.assertEqual(code, 1)

    def test_a_refusal_is_one_line_and_a_failure_names_the_function(self) -> None:
        """Python prints what is no number to standard error, and exits with 1."""
        _, refusal, printed = answered({"refusal": "no link has this code"}, "reconcile", "launch")
        self.assertEqual((refusal, printed), ("no link has this code", ""))
        timeout = {"errorMessage": "Task timed out after 900.00 seconds"}
        _, failure, printed = answered(timeout, "reconcile", "launch", error="Unhandled")
        expected = "The function linklet-OperateFunction-1A2B failed: Task timed out after 900.00 seconds"
        self.assertEqual((failure, printed), (expected, ""))

    def test_each_command_reaches_the_function_that_may_do_it(self) -> None:
        for command, function in [("forget", "linklet-LeaveFunction-1A2B"), ("invite", "linklet-OperateFunction-1A2B")]:
            with patch.dict(os.environ, {"CONFIRM": "yes"}):
                _, failure, _ = answered({"errorMessage": "no"}, command, "ada@example.com", error="Unhandled")
            self.assertEqual(failure, f"The function {function} failed: no")

    def test_a_call_waits_for_as_long_as_the_function_may_run(self) -> None:
        self.assertGreater(operate.PATIENT.read_timeout, TEMPLATE["Resources"]["OperateFunction"]["Properties"]["Timeout"])
        self.assertEqual(operate.PATIENT.retries, {"total_max_attempts": 1})


class Exports(unittest.TestCase):
    PAGES = [
        {"items": [{"kind": "account", "user_id": "01a1"}, {"kind": "session"}], "next_cursor": "after two"},
        {"items": [], "next_cursor": "after none"},
        {"items": [{"kind": "link", "title": "Åse"}], "next_cursor": None},
    ]

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_all_pages_become_one_file_that_nobody_else_may_read(self) -> None:
        for arguments, name in [((), "export-01a1.json"), (("--file", "ada.json"), "ada.json")]:
            before = os.umask(0)
            try:
                orders, code, printed = conversation(self.PAGES, "export", "ada@example.com", *arguments)
            finally:
                os.umask(before)
            asked = [order["command"]["export"] for order in orders]
            self.assertEqual(asked, [{"email": "ada@example.com", "after": after} for after in (None, "after two", "after none")])
            self.assertEqual(json.loads(Path(name).read_text()), [item for page in self.PAGES for item in page["items"]])
            self.assertEqual((code, Path(name).stat().st_mode & 0o777), (0, 0o600))
            self.assertTrue(name in printed and "Åse" not in printed and "01a1" not in printed.replace(name, ""), printed)
        self.assertEqual(sorted(os.listdir()), ["ada.json", "export-01a1.json"])

    def test_an_export_that_ends_early_leaves_nothing(self) -> None:
        _, code, _ = conversation([self.PAGES[0], {"refusal": "nobody"}], "export", "ada@example.com", "--file", "ada.json")
        self.assertEqual((code, os.listdir()), ("nobody", []))
        with patch.object(operate, "ask", side_effect=[self.PAGES[0], KeyboardInterrupt]), self.assertRaises(KeyboardInterrupt):
            operate.export("ada@example.com", None)
        self.assertEqual(os.listdir(), [])

    def test_a_file_that_is_there_stays_and_one_that_cannot_be_made_is_said_first(self) -> None:
        Path("ada.json").write_text("mine")
        orders, code, _ = conversation([], "export", "ada@example.com", "--file", "ada.json")
        self.assertEqual((orders, code, Path("ada.json").read_text()), ([], "ada.json is there already.", "mine"))
        orders, code, _ = conversation([], "export", "ada@example.com", "--file", "nowhere/ada.json")
        self.assertEqual((orders, str(code).split(":")[0]), ([], "The export can't be written"))
        Path("export-01a1.json").write_text("mine")
        _, code, _ = conversation(self.PAGES, "export", "ada@example.com")
        self.assertEqual((code, Path("export-01a1.json").read_text()), ("export-01a1.json is there already.", "mine"))
