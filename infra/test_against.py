"""What `make bench AGAINST=<commit>` makes of two measurements."""

import unittest

from .against import table


class Table(unittest.TestCase):
    def test_the_medians_of_each_workload_are_compared(self) -> None:
        there = {"one viral link": [10.0, 30.0, 20.0], "of old": [1.0]}
        here = {"one viral link": [50.0, 10.0, 40.0]}
        self.assertRegex(table(there, here).splitlines()[1], r"^one viral link +20 +40 +2\.00$")

    def test_a_workload_is_compared_with_the_one_whose_name_it_begins_with(self) -> None:
        found = table({"one viral link": [100.0]}, {"one viral link, shuffled": [50.0]})
        self.assertRegex(found.splitlines()[1], r"^one viral link, shuffled +100 +50 +0\.50  there: one viral link$")

    def test_a_new_workload_has_no_ratio(self) -> None:
        self.assertRegex(table({}, {"new": [50.0]}).splitlines()[1], r"^new +50 *$")
