"""Whether the local system's driver reads what CloudFormation has named."""

import unittest

from .functions import function_of


class LogGroups(unittest.TestCase):
    def test_a_log_group_tells_its_function(self) -> None:
        self.assertEqual(function_of("linklet-RedirectLogs-1A2B3C4D5E6F"), "redirect")
        self.assertEqual(function_of("linklet-WatchTickLogs-0b1c2d3e4f5a"), "watch-tick")
