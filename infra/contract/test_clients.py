"""`make document` runs these."""

import ast
import unittest

from .clients import Python


class Tour(unittest.TestCase):
    def test_the_page_of_the_api_begins_with_a_short_program(self) -> None:
        tour = Python().text()
        self.assertTrue(ast.parse(tour).body)
        self.assertLessEqual(len(tour.splitlines()), 60)
