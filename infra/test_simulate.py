"""What `make simulate` prints of what was played."""

import copy
import unittest
from typing import Any

from .costs.tables import load_tables
from .simulate import BESIDE, bill, figures, off, text

USED = {"invocations": 10, "environments": 2, "at_once": 2, "gigabyte_seconds": 4.0}
PLAYED: dict[str, Any] = {
    "name": "viral", "about": "one link", "parts": 1, "seconds": 10.0, "requests": 1_000, "refused": 0, "clicks": 1_000, "wrong": 0,
    "parked": 5, "late": [1.0, 2.0, 3.0], "after_the_end": 4.0, "counted_a_second": 100.0, "storing_writes": 1_000.0,
    "counting_writes": 50.0, "reads": 100.0, "largest_row": 12.0, "sqs_requests": 30,
    "functions": {"redirect": USED, "relay": USED, "analytics": USED}, "limits": [["analytics", 3.0, 7]], "played_in": 1.0,
}  # fmt: skip


class Text(unittest.TestCase):
    def test_one_part_of_several_stands_for_all(self) -> None:
        found = text(PLAYED | {"parts": 16}, load_tables())
        self.assertIn("16,000 in 10 s, 0 refused", found)
        self.assertIn("2 analytics", found)
        self.assertIn("32 redirect", found)
        self.assertIn("one of 16 parts", found)

    def test_wrong_counts_are_said(self) -> None:
        self.assertIn("3 links are counted wrongly", text(PLAYED | {"wrong": 3}, load_tables()))

    def test_batches_of_analytics_have_clicks_of_all_parts(self) -> None:
        whole, part = (bill(PLAYED | {"parts": parts}, load_tables()).lines["Lambda analytics"] for parts in (1, 2))
        self.assertEqual(whole["lambda_requests"] - part["lambda_requests"], USED["invocations"] / 2)


class Comparison(unittest.TestCase):
    def test_simulated_and_real_numbers_are_compared_by_click_and_second(self) -> None:
        real = copy.deepcopy(PLAYED) | {"counting_writes": 100.0}
        beside = [name for name, mine, theirs in figures(PLAYED, real) if abs(off(mine, theirs)) > BESIDE]
        self.assertEqual(beside, ["write units a click, counted"])
