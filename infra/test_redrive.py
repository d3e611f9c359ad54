"""That a redrive says how many messages came back, and that one message can be deleted."""

import contextlib
import io
import unittest
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock, patch

from . import redrive
from .local.installer import Failure


def message(name: str) -> dict[str, Any]:
    return {"MessageId": name, "ReceiptHandle": f"receipt of {name}", "Body": name}


def done(received: list[list[str]], act: Callable[[], bool]) -> tuple[bool, str, list[str]]:
    """What an action returns and prints, and which messages it deletes, if these are received one time after another."""
    sqs, looks = MagicMock(), iter(received)
    with (
        patch.object(redrive, "messages", lambda _queue: map(message, next(looks))),
        patch.object(redrive.boto3, "client", lambda _name: sqs),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()) as printed,
    ):
        outcome = act()
    deleted = [call.kwargs["ReceiptHandle"].removeprefix("receipt of ") for call in sqs.delete_message.call_args_list]
    return outcome, printed.getvalue().splitlines()[-1], deleted


def fails_at_second(given: dict[str, Any]) -> str:
    if given["MessageId"] == "second":
        raise Failure("it fails")
    return "taken"


class Redrive(unittest.TestCase):
    def test_what_comes_back_is_left_as_what_was_kept_is(self) -> None:
        act = lambda: redrive.redrive("dead", fails_at_second, comes_back=True)  # noqa: E731
        self.assertEqual(
            done([["first", "second"], ["second", "first again"]], act),
            (False, "1 message(s) sent back, of which 1 came back or arrived, 2 left.", ["first"]),
        )
        self.assertEqual(done([["first"], []], act), (True, "1 message(s) sent back, 0 left.", ["first"]))

    def test_one_message_is_deleted_and_no_other(self) -> None:
        found = done([["first", "second"]], lambda: redrive.delete("dead", "second"))
        self.assertEqual(found, (True, "1 message(s) deleted.", ["second"]))
        missing = done([["first"]], lambda: redrive.delete("dead", "second"))
        self.assertEqual(missing, (False, "0 message(s) deleted.", []))


if __name__ == "__main__":
    unittest.main()
