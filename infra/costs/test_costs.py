"""The arithmetic of the calculator, and that what the documentation prints is what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from costs import containers, linklet, pages, report
from costs.inputs import MOST_CLICKS, SECONDS, Failure, Load, parse
from costs.tables import Bill, Data

ROOT = Path(__file__).resolve().parents[2]
MILLION = 1_000_000
NOTHING = Load(clicks=0, links=0)
UNTRACED = replace(NOTHING, tracing="PassThrough")
IF_MEANT = "if the change is meant, make units writes it down"


def usd(bill: Bill, *names: str) -> float:
    """What the lines of these names cost together."""
    return sum(line.usd for line in bill.lines if line.name in names)


def more(after: Load, before: Load, *names: str) -> float:
    """How much more the lines of these names cost, or the whole bill."""
    data = Data.load()
    bills = [linklet.bill(load, data) for load in (after, before)]
    sums = [usd(bill, *names) if names else bill.total for bill in bills]
    return sums[0] - sums[1]


class Prices(unittest.TestCase):
    def test_every_price_has_a_unit_a_page_of_aws_and_a_date(self) -> None:
        for name, price in Data.load().prices.items():
            with self.subTest(name):
                self.assertGreater(price["per"], 0)
                self.assertTrue(price["unit"])
                self.assertRegex(price["page"], r"^https://aws\.amazon\.com/.+/$")
                self.assertRegex(price["as_of"], r"^20\d\d(-(0[1-9]|1[0-2]))?$")

    def test_a_price_that_falls_falls_for_what_is_above(self) -> None:
        data = Data.load()

        self.assertAlmostEqual(data.usd("http_api_requests", 300 * MILLION), 300)
        self.assertAlmostEqual(data.usd("http_api_requests", 400 * MILLION), 300 + 90)
        # 10 TB, 20 TB, 20 TB and the rest.
        self.assertAlmostEqual(data.usd("logs_written", 60_000), 12_500)

    def test_ones_own_prices_replace_ours_and_leave_the_others(self) -> None:
        with written("[dynamodb_writes]\nusd = 1.25\n") as path:
            data = Data.load(prices=path)

        self.assertEqual(data.usd("dynamodb_writes", MILLION), 1.25)
        self.assertEqual(data.usd("dynamodb_reads", MILLION), 0.125)

    def test_another_price_has_its_own_steps_or_none(self) -> None:
        with written("[http_api_requests]\nusd = 2") as path:
            self.assertEqual(Data.load(prices=path).usd("http_api_requests", 400 * MILLION), 800)
        with written("[http_api_requests]\nusd = 2\nabove = [[1_000_000, 1]]") as path:
            self.assertEqual(Data.load(prices=path).usd("http_api_requests", 4 * MILLION), 2 + 3)

    def test_assumptions_are_replaced_one_by_one(self) -> None:
        with written("[milliseconds]\nredirect = 20") as path:
            assumed = Data.load(assumptions=path).assumed
        self.assertEqual((assumed["milliseconds"]["redirect"], assumed["milliseconds"]["relay"]), (20, 10))

        with written("[database]\nclasses = []") as path, self.assertRaises(Failure):
            Data.load(assumptions=path)

    def test_what_is_no_price_is_refused_with_its_name(self) -> None:
        for text, reason in {
            "[dynamo]\nusd = 1": "no such table: dynamo",
            "dynamodb_writes = 1": "no such table: dynamodb_writes",
            "[dynamodb_writes]\neur = 1": "dynamodb_writes.eur: there is nothing of this name",
            "[dynamodb_writes]\nusd = -1": "dynamodb_writes.usd = -1: must be a number, not below 0",
            "[dynamodb_writes]\nusd = nan": "dynamodb_writes.usd = nan: must be a number, not below 0",
            "[dynamodb_writes]\nusd = true": "dynamodb_writes.usd = True: must be a number, not below 0",
            "[dynamodb_writes]\nunit = 1": "dynamodb_writes.unit = 1: must be text",
            "[dynamodb_writes]\nabove = [[1]]": "dynamodb_writes.above: must be pairs of numbers",
            "dynamodb_writes": "not TOML",
        }.items():
            with self.subTest(text), written(text) as path, self.assertRaises(Failure) as failed:
                Data.load(prices=path)
            self.assertIn(f"{path}: {reason}", str(failed.exception))


class Clicks(unittest.TestCase):
    one_million = replace(NOTHING, clicks=MILLION)

    def test_a_lone_click_costs_eight_write_units_and_three_and_a_half_read_units(self) -> None:
        self.assertAlmostEqual(more(self.one_million, NOTHING, "DynamoDB writes"), 8 * 0.625)
        self.assertAlmostEqual(more(self.one_million, NOTHING, "DynamoDB reads"), 3.5 * 0.125)

    def test_clicks_in_a_burst_share_transactions_and_reads(self) -> None:
        hot = replace(self.one_million, hot=1.0)

        self.assertAlmostEqual(more(hot, NOTHING, "DynamoDB writes"), (1 + 49 / 500) * 0.625)
        # A read for a hundred clicks, and 22 units for 500.
        self.assertAlmostEqual(more(hot, NOTHING, "DynamoDB reads"), (0.5 / 100 + 22 / 500) * 0.125)

    def test_a_few_clicks_a_day_are_each_alone_on_their_way(self) -> None:
        few = replace(NOTHING, clicks=100)

        self.assertAlmostEqual(more(few, NOTHING, "SQS"), 300 * 0.40 / MILLION, places=7)
        self.assertAlmostEqual(more(few, NOTHING, "X-Ray"), 300 * 5 / MILLION, places=6)

    def test_a_burst_fills_batches(self) -> None:
        usage = linklet.Usage(self.one_million, Data.load())

        batch, a_second = linklet.gather(usage, MILLION, 100)

        # A shard of four gathers 25 a second, and the one that began it.
        self.assertEqual((batch, a_second), (500, 0.2))
        self.assertAlmostEqual(usage.functions["relay"].count, MILLION / 26)
        self.assertAlmostEqual(usage.sqs, 3 * MILLION / 10)

    def test_storage_is_that_of_all_months_until_rows_are_deleted(self) -> None:
        data, names = Data.load(), ("DynamoDB storage", "DynamoDB point-in-time recovery")
        bytes_of = {name: row["bytes"] + 100 for name, row in data.rows.items()}
        months_of = {name: (row["days"] or float("inf")) / 30 for name, row in data.rows.items()}

        for months in (1, 13, 20):
            kept = {name: min(months, longest) for name, longest in months_of.items()}
            click, ids = (kept[name] * bytes_of[name] for name in ("click", "ids_of_lone_click"))
            gigabytes = click + ids + kept["day"] * bytes_of["day"] / 10
            bill = linklet.bill(replace(self.one_million, months=months), data)
            self.assertAlmostEqual(usd(bill, *names), gigabytes * MILLION / 1e9 * 0.45, msg=f"{months} months")

    def test_x_ray_traces_the_first_of_each_second_and_five_percent_of_the_others(self) -> None:
        aws = Data.load().assumed["aws"]

        self.assertEqual(linklet.traced_share(0.1, aws), 1)
        self.assertEqual(linklet.traced_share(1, aws), 1)
        self.assertAlmostEqual(linklet.traced_share(100, aws), (1 + 0.05 * 99) / 100)

    def test_passing_through_traces_nothing(self) -> None:
        self.assertEqual(usd(linklet.bill(replace(self.one_million, tracing="PassThrough"), Data.load()), "X-Ray"), 0)

    def test_a_log_level_spares_the_lines_without_metrics_only(self) -> None:
        silent = replace(self.one_million, log_level="error")

        # Those of each click that is counted, and of each of Linkwatch's rounds.
        lines = Data.load().log_bytes
        saved = (MILLION * lines["analytics"]["info"] + 518_400 * lines["watch-dispatch"]["info"]) / 1e9
        self.assertAlmostEqual(more(self.one_million, silent, "CloudWatch logs"), saved * (0.50 + 0.03))

    def test_logs_cost_as_long_as_they_are_kept(self) -> None:
        data = Data.load()
        bills = [linklet.bill(replace(NOTHING, log_days=days), data) for days in (30, 365)]
        month, year = (usd(bill, "CloudWatch logs") for bill in bills)

        self.assertAlmostEqual(year - month, month / 0.53 * 0.03 * (365 / 30 - 1))

    def test_a_metric_costs_in_the_hours_in_which_it_is_written(self) -> None:
        # A click in every tenth hour: four metrics of redirect, two of relay, three of analytics.
        tenth = replace(NOTHING, clicks=72)

        self.assertAlmostEqual(more(tenth, NOTHING, "CloudWatch metrics"), (4 + 2 + 3) * 0.30 / 10, places=4)

    def test_cloudfront_comes_on_top_and_takes_over_the_transfer(self) -> None:
        bill = linklet.bill(replace(self.one_million, edge="cloudfront"), Data.load())

        self.assertAlmostEqual(usd(bill, "CloudFront"), 1.00 + 0.085)
        self.assertAlmostEqual(usd(bill, "API Gateway"), 1.00)
        self.assertEqual(usd(bill, "Data transfer"), 0)


class Links(unittest.TestCase):
    one_million = replace(NOTHING, links=MILLION, views=0)

    def test_a_link_costs_eleven_write_units_with_its_notification(self) -> None:
        self.assertAlmostEqual(more(self.one_million, NOTHING, "DynamoDB writes"), 11 * 0.625)
        self.assertAlmostEqual(more(self.one_million, NOTHING, "DynamoDB reads"), 0.125)
        self.assertAlmostEqual(more(self.one_million, NOTHING, "SNS"), 0.50)
        self.assertAlmostEqual(more(self.one_million, NOTHING, "SQS"), 1.20)

    def test_a_page_view_is_a_list_and_a_summary(self) -> None:
        views = replace(NOTHING, views=MILLION)

        self.assertAlmostEqual(more(views, NOTHING, "DynamoDB reads"), (11.5 + 1.5) * 0.125)
        self.assertAlmostEqual(more(views, NOTHING, "API Gateway"), 2)


class Linkwatch(unittest.TestCase):
    def test_workers_bound_the_checks(self) -> None:
        data = Data.load()

        self.assertEqual(linklet.checks_a_month(replace(NOTHING, targets=100), data), 100 * SECONDS / 15)
        self.assertEqual(linklet.checks_a_month(replace(NOTHING, targets=1_000), data), 8 * 4 * SECONDS)

    def test_its_page_says_the_same(self) -> None:
        text = pages.LINKWATCH.read_text()

        self.assertEqual(len(pages.CHECKS.findall(text)), 4)
        self.assertEqual(pages.linkwatch(text, Data.load()), text, IF_MEANT)


class Containers(unittest.TestCase):
    def size(self, **load: object) -> containers.Size:
        return containers.size(replace(NOTHING, **load), Data.load())

    def test_two_containers_and_the_smallest_database_do_little(self) -> None:
        for load in ({}, {"clicks": MILLION}, {"targets": 1_000}):
            size = self.size(**load)
            self.assertEqual((size.tasks, size.database["name"], size.storage_gb), (2, "db.t4g.small", 20), load)

    def test_there_is_one_container_more_than_the_peak_needs(self) -> None:
        # 1,000 clicks a second take half a processor, and a container has a quarter, half of which is used.
        clicks = 100 * SECONDS

        self.assertEqual(self.size(clicks=clicks, hot=1.0).tasks, 4 + 1)

    def test_the_database_is_as_large_as_its_peak_or_its_data_need(self) -> None:
        # 500 clicks a second take 1 of 2 processors.
        peak = 50 * SECONDS
        self.assertEqual(self.size(clicks=peak, months=1).database["name"], "db.t4g.small")
        self.assertEqual(self.size(clicks=peak + 100_000, months=1).database["name"], "db.m7g.xlarge")
        # A hundredth of 674 GB are 7 GB.
        self.assertEqual(self.size(clicks=peak, months=13).database["name"], "db.m7g.large")

    def test_a_small_database_is_not_busy_all_the_time(self) -> None:
        # 250 clicks a second at any time take half a processor, and the small one has 0.4 of one for good.
        self.assertEqual(self.size(clicks=250 * SECONDS, months=1, peak=1.0).database["name"], "db.m7g.large")

    def test_what_no_database_does_is_said(self) -> None:
        with self.assertRaisesRegex(containers.TooMuch, "more than one database has room for"):
            self.size(clicks=MOST_CLICKS)
        with self.assertRaisesRegex(containers.TooMuch, "more than one database does"):
            self.size(clicks=MOST_CLICKS // 2, months=1)

    def test_backups_cost_what_is_more_than_the_database(self) -> None:
        data = Data.load()
        small, large = (
            containers.bill(replace(NOTHING, clicks=clicks), data) for clicks in (MILLION, 100 * MILLION)
        )
        stored = containers.size(replace(NOTHING, clicks=100 * MILLION), data)

        self.assertEqual(usd(small, "RDS backups"), 0)
        changes = 100 * MILLION * 2_000 * 35 / 30 / 1e9
        self.assertAlmostEqual(usd(large, "RDS backups"), (stored.data_gb + changes - stored.storage_gb) * 0.095)

    def test_two_zones_cost_twice(self) -> None:
        bill = containers.bill(NOTHING, Data.load())

        self.assertAlmostEqual(usd(bill, "RDS db.t4g.small"), 2 * 720 * 0.032)
        self.assertAlmostEqual(usd(bill, "RDS storage"), 2 * 20 * 0.115)

    def test_a_larger_database_costs_in_proportion(self) -> None:
        bill = containers.bill(replace(NOTHING, clicks=60 * SECONDS, months=1), Data.load())

        self.assertAlmostEqual(usd(bill, "RDS db.m7g.xlarge"), 2 * 720 * 2 * 0.168)

    def test_classes_come_from_the_smallest_to_the_largest(self) -> None:
        data = Data.load()
        prices = [data.prices[each["price"]]["usd"] * each["times"] for each in data.assumed["database"]["classes"]]

        self.assertEqual(prices, sorted(prices))


class Ranges(unittest.TestCase):
    def test_who_is_cheaper_changes_where_the_bills_meet(self) -> None:
        data, load = Data.load(), Load()

        (turn, first), (end, second), (last, third) = report.ranges(load, data)

        self.assertEqual((first, second, third), (report.LINKLET, report.CONTAINERS, report.TOO_MUCH))
        self.assertEqual(last, MOST_CLICKS)
        at = [replace(load, clicks=clicks) for clicks in (turn, turn + 1)]
        ours = [linklet.bill(each, data).total for each in at]
        theirs = [containers.bill(each, data).total for each in at]
        self.assertTrue(ours[0] <= theirs[0] and ours[1] > theirs[1], (turn, ours, theirs))
        with self.assertRaises(containers.TooMuch):
            containers.bill(replace(load, clicks=end + 1), data)

    def test_numbers_are_rounded_to_two_digits(self) -> None:
        texts = [report.rounded(number) for number in (0, 7, 94, 1_250_001, 25_920_000_000)]

        self.assertEqual(texts, ["0", "7", "94", "1,300,000", "26,000,000,000"])


class Inputs(unittest.TestCase):
    def test_defaults_are_those_of_the_template(self) -> None:
        load, template = Load(), Data.load().template

        self.assertEqual(
            (load.log_days, load.log_level, load.tracing, load.max_concurrency),
            tuple(template[name] for name in ("log_retention_days", "log_level", "tracing", "max_concurrency")),
        )

    def test_inputs_are_read(self) -> None:
        load = parse(["CLICKS=5", "HOT=0.5", "TRACING=PassThrough", "VIEWS=0", "PRICES=mine.toml"], Load())

        self.assertEqual(load, Load(clicks=5, hot=0.5, tracing="PassThrough", views=0, prices="mine.toml"))

    def test_a_wrong_input_is_one_line_and_exit_code_2(self) -> None:
        for argument in (
            "CLICKS=-1",
            "CLICKS=many",
            "CLICKS=",
            "CLICKS=1.5",
            "CLICKS=99999999999999999999",
            "HOT=nan",
            "HOT=1.1",
            "PEAK=inf",
            "MONTHS=0",
            "TRACING=on",
            "CLICK=1",
            "clicks=1",
            "CLICKS",
            "PRICES=/nowhere.toml",
        ):
            with self.subTest(argument):
                result = run([sys.executable, "infra/cost.py", argument])
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn(argument.partition("=")[2] or argument, result.stderr)

    def test_a_zero_that_divides_is_one_line_and_exit_code_2(self) -> None:
        for name, text in {"PRICES": "[traces]\nper = 0", "ASSUMPTIONS": "[aws]\npoll_seconds = 0"}.items():
            with written(text) as path:
                result = run([sys.executable, "infra/cost.py", f"{name}={path}"])
            self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (2, "", 1), result.stderr)

    def test_make_passes_inputs_on_but_not_the_environment(self) -> None:
        result = run(["make", "cost", "CLICKS=0", "LINKS=-5"], LOG_LEVEL="loud")

        self.assertEqual(result.returncode, 2)
        self.assertIn("LINKS=-5: must be a whole number", result.stderr)


class Documentation(unittest.TestCase):
    text = pages.COSTS.read_text()

    def test_what_is_printed_there_is_printed(self) -> None:
        blocks = re.findall(r"```console\n\$ (make cost.*)\n([^`]*)```", self.text)

        self.assertTrue(blocks)
        for command, output in blocks:
            with self.subTest(command):
                self.assertEqual(run(command.split()).stdout, output, IF_MEANT)

    def test_the_parts_of_a_click_add_up_to_what_comes_out(self) -> None:
        table = self.text.partition("## What a click consists of")[2].partition("\n## ")[0]
        cells = re.findall(r"^\|[^|]*\|[^|]*\| \**([\d.]+)\** \|[^|]*\| \**([\d.]+)\** \|$", table, re.MULTILINE)
        lone, burst = ([float(row[column]) for row in cells] for column in (0, 1))
        self.assertEqual(len(lone), 16)

        few, many = replace(UNTRACED, clicks=1_000), replace(UNTRACED, clicks=MILLION, hot=1.0)
        for column, load in ((lone, few), (burst, many)):
            added = more(load, UNTRACED) - more(load, UNTRACED, "CloudWatch metrics")
            parts, total, traces = column[:-2], column[-2], column[-1]
            self.assertAlmostEqual(total, added / load.clicks * MILLION, places=2)
            self.assertAlmostEqual(total, sum(parts), delta=0.02)  # each is rounded
            traced = more(replace(load, tracing="Active"), NOTHING, "X-Ray") / load.clicks * MILLION
            self.assertAlmostEqual(traces, traced, delta=0.011)  # a second's share of a month's rounds

    def test_what_is_said_in_short_is_what_comes_out(self) -> None:
        said = pages.said(Data.load())
        text = " ".join(self.text.split())
        for words in said:
            with self.subTest(words):
                self.assertIn(words, text, IF_MEANT)

        # The README may name some of these amounts, and no others.
        amounts = re.compile(r"\$\d+(?:[.,]\d+)*")
        known = set(amounts.findall(" ".join(said)))
        self.assertLessEqual(set(amounts.findall((ROOT / "README.md").read_text())), known)

    def test_each_row_of_its_table_of_settings_is_what_comes_out(self) -> None:
        data, rows = Data.load(), list(pages.SETTING.finditer(self.text))

        self.assertGreater(len(rows), 5)
        for row in rows:
            with self.subTest(row[2]):
                self.assertEqual(pages.setting(row, data), row[0], IF_MEANT)

    def test_other_numbers_take_the_place_of_those_in_the_same_words(self) -> None:
        text = "It is $15 a\n  month, or $1,500.25 a year. It is $2 a day."

        self.assertEqual(
            pages.with_numbers(text, "is $20 a month, or $2,000 a year"),
            "It is $20 a\n  month, or $2,000 a year. It is $2 a day.",
        )
        self.assertEqual(pages.with_numbers(text, "is $20 a week"), text)


def run(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """As from a terminal, not from the make that runs the tests."""
    ours = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= {"PYTHON": sys.executable, **variables}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


class written:
    """A file with this text, by its path."""

    def __init__(self, text: str) -> None:
        self.file = tempfile.NamedTemporaryFile("w", suffix=".toml")
        self.file.write(text)
        self.file.flush()

    def __enter__(self) -> str:
        return self.file.name

    def __exit__(self, *_: object) -> None:
        self.file.close()


if __name__ == "__main__":
    unittest.main()
