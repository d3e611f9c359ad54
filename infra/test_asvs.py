"""`make document` runs these."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from .asvs import PAGE, complaints, is_there, requirements

RUST = """
#[tokio::test(flavor = "multi_thread")]
async fn of_two_one_wins() {}

    #[test]
    #[expect(dead_code)]
    fn a_unit_test() {}

async fn a_helper() {}
"""
REFERENCE = "\n[auth]: auth.rs\n"


def page(**rows: str) -> str:
    """One that has every requirement, and these rows instead of its own."""
    instead = {name.removeprefix("v").replace("_", "."): row for name, row in rows.items()}
    return "".join(instead.get(number, f"| {number} | any | open | none |") + "\n" for number in requirements())


class Page(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "auth.rs").write_text(RUST)

    def complaints(self, text: str) -> list[str]:
        return list(complaints(text, self.folder))

    def test_a_page_with_every_requirement_is_no_complaint(self) -> None:
        met = "| 2.1.1 | long | met | [`of_two_one_wins`](auth.rs), [`a_unit_test`][auth] |"

        self.assertEqual(self.complaints(page(v2_1_1=met) + REFERENCE), [])

    def test_what_is_missing_twice_or_unknown_is_named(self) -> None:
        self.assertEqual(self.complaints(page(v8_3_8="")), ["8.3.8 is missing"])
        self.assertEqual(self.complaints(page() + "| 2.2.1 | any | open | none |"), ["2.2.1 is there 2 times"])
        self.assertEqual(self.complaints(page() + "| 4.1.4 | any | open | none |"), ["4.1.4 is no requirement of level 1 or 2"])

    def test_a_test_that_is_gone_is_named(self) -> None:
        for name, target in [("gone", "(auth.rs)"), ("a_helper", "[auth]"), ("two_one_wins", "[auth]"), ("a_unit_test", "(gone.rs)")]:
            row = f"| 2.1.1 | long | open | [`{name}`]{target} |"

            found = self.complaints(page(v2_1_1=row) + REFERENCE)

            self.assertEqual(len(found), 1, found)
            self.assertIn(f"2.1.1: there is no test `{name}` in ", found[0])

    def test_a_row_has_a_status_and_what_shows_it(self) -> None:
        for cells, complaint in [
            ("perhaps | none", "perhaps is none of met, not applicable, open"),
            ("met | we believe so", "nothing shows that it is met"),
            ("open | ", "there is no reason"),
            ("open", "3 cells, and not 4"),
        ]:
            self.assertEqual(self.complaints(page(v2_1_1=f"| 2.1.1 | long | {cells} |")), [f"2.1.1: {complaint}"])

    def test_tests_of_each_kind_are_found(self) -> None:
        for suffix, text in [(".py", "def test_it(tabs: Tabs) -> None:"), (".mjs", "test('test_it', async () => {")]:
            file = self.folder / f"one{suffix}"
            file.write_text(text)

            self.assertTrue(is_there("test_it", file))
            self.assertFalse(is_there("test_i", file))

    def test_the_page_names_tests(self) -> None:
        self.assertGreater(PAGE.read_text().count("[`"), 50)
