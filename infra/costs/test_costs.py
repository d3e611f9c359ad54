"""What known months cost, computed from the tables by hand, and that the documents show what the calculator says."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager

from . import containers, linklet, pages, report
from .inputs import INPUTS, Load, parse
from .tables import DAYS, Bill, Failure, cost, load_tables

MILLION, SECONDS = 1_000_000, DAYS * 24 * 3600
IDLE = "CLICKS=0 LINKS=0 "
TABLES = load_tables()
UNITS, ROWS, MS, LOGS, TEMPLATE = TABLES.operations, TABLES.rows, TABLES.milliseconds, TABLES.log_bytes, TABLES.template
GB_SECOND = TABLES.prices["lambda_time"]["usd"]


def load(words: str) -> Load:
    return parse(words.split())


def bill(words: str) -> Bill:
    return linklet.bill(load(words), TABLES)


def added(words: str, base: str = "") -> dict[str, float]:
    """What each line costs more than in an idle month with other inputs."""
    after, before = (bill(IDLE + each).usd for each in (words, base))
    return {line: usd - before.get(line, 0) for line, usd in after.items() if abs(usd - before.get(line, 0)) > 1e-9}


def reads(**operations: float) -> float:
    return sum(UNITS[name]["reads"] * count for name, count in operations.items()) * 0.125


def writes(**operations: float) -> float:
    return sum(UNITS[name]["writes"] * count for name, count in operations.items()) * 0.625


class Prices(unittest.TestCase):
    def test_every_price_has_a_unit_a_page_of_aws_and_a_date(self) -> None:
        for name, price in TABLES.prices.items():
            self.assertTrue(price["line"] and price["unit"] and price["per"], name)
            where = f"{price['page']} {price['as_of']} {price['free_as_of'] if 'free' in price else '2025'}"
            self.assertRegex(where, r"^https://aws\.amazon\.com/\S+/ 20\d\d(-\d\d)? 20\d\d(-\d\d)?$", name)

    def test_a_price_falls_above_a_step_and_lines_share_what_is_free(self) -> None:
        self.assertAlmostEqual(cost(TABLES.prices["http_api_requests"], 400 * MILLION), 300 + 90)
        self.assertAlmostEqual(cost(TABLES.prices["logs_written"], 60_000), 12_500)
        self.assertEqual(cost(TABLES.prices["sqs_requests"], 5, free=True), 0)
        calls = Bill(load("FREE_TIER=yes"), TABLES)
        calls.add("lambda_requests", 3 * MILLION, "one")
        calls.add("lambda_requests", MILLION, "other")
        self.assertEqual({line: round(usd, 6) for line, usd in calls.usd.items()}, {"one": 0.45, "other": 0.15})

    def test_values_of_ones_own_replace_ours_one_by_one(self) -> None:
        with written("[http_api_requests]\nusd = 2\n[secrets]\nfree = 1\n[data_out]\nabove = [[1, 0.01]]") as path:
            prices = load_tables(prices=path).prices
        self.assertEqual(cost(prices["http_api_requests"], 400 * MILLION), 800)
        self.assertEqual(cost(prices["secrets"], 2, free=True), 0.40)
        self.assertAlmostEqual(cost(prices["data_out"], 2), 0.10)
        self.assertEqual(prices["sns_publishes"], TABLES.prices["sns_publishes"])
        with written("[milliseconds]\nredirect = 20") as path:
            self.assertEqual(load_tables(assumptions=path).milliseconds, MS | {"redirect": 20})

    def test_files_that_replace_nothing_are_refused(self) -> None:
        members = ("eur = 1", "usd = -1", "usd = nan", "usd = true", "usd = 'a'", "unit = 1", "above = [[1]]", "above = 1")
        for text in ("[dynamo]\nusd = 1", "secrets = 1", "secrets", *(f"[secrets]\n{member}" for member in members)):
            with self.subTest(text), written(text) as path, self.assertRaisesRegex(Failure, path):
                load_tables(prices=path)


# What lines cost more with these inputs than in an idle month with all of them but the first.
STEPS = ("redirect", "relay", "analytics")
LINE, METRICS, INFO = (sum(LOGS[name][part] for name in STEPS) for part in ("line", "metrics", "info"))
CLICK_GB = (ROWS["click"]["bytes"] + 100) / 1000  # a million
DAY_GB = (ROWS["day"]["bytes"] + 100) / 1000 / 10
KNOWN: list[tuple[str, dict[str, float]]] = [
    ("CLICKS=1000000", {
        "API Gateway": 1,
        "Data transfer": 0.09,
        "Lambda redirect": 0.20 + MS["redirect"] * 1000 / 4 * GB_SECOND,
        "Raw clicks writes": UNITS["redirect"]["writes"] * 0.78,
        "Raw clicks storage": CLICK_GB * 13 * 0.10,
        "DynamoDB writes": writes(count_lone_click=1, settle=0.01),
        "DynamoDB reads": reads(redirect=1, count_lone_click=1, settle=0.01),
        "DynamoDB storage": DAY_GB * 13 * 0.25,
        "DynamoDB point-in-time recovery": DAY_GB * 13 * 0.20,
        "Raw clicks point-in-time recovery": 0,
        # Redirect and analytics verify no tokens.
        "Secrets Manager": 0,
    }),
    # Each of a few clicks a day is sent, received and deleted alone, and three functions are called.
    ("CLICKS=1000 TRACING=Active", {"SQS": 3 * 0.0004, "X-Ray": 3 * 0.005, "CloudWatch logs": (LINE + INFO) * 0.53e-6}),
    ("CLICKS=1000 LOG_LEVEL=warn", {"CloudWatch logs": 0}),
    ("CLICKS=1000", {"Lambda relay": 0.0002 + (MS["relay"] + MS["relay_per_record"]) / 4 * GB_SECOND}),
    ("CLICKS=1000 MONITORING=full", {"CloudWatch logs": (LINE + METRICS + INFO) * 0.53e-6}),
    ("CLICKS=1000 MONITORING=full LOG_LEVEL=warn", {"CloudWatch logs": (LINE + METRICS) * 0.53e-6}),
    ("CLICKS=1000 LOG_DAYS=60", {"CloudWatch logs": (LINE + INFO) * 0.56e-6}),
    # A click in every tenth hour.
    ("CLICKS=72 MONITORING=full", {"CloudWatch metrics": sum(TABLES.metrics[name] for name in STEPS) * 0.03}),
    ("CLICKS=1000000 HOT=1", {
        "Raw clicks writes": UNITS["redirect_held"]["writes"] * 0.78,
        "DynamoDB writes": writes(count_full_batch=1 / 500),
        "DynamoDB reads": reads(redirect=1 / 100, count_full_batch=1 / 500),
        # A shard of four gathers 25 a second for two seconds. Analytics gathers for five seconds.
        "SQS": (2 / 51 + 1 / 501) * 0.40,
    }),
    # Of redirect's 100 calls a second and of relay's two, the first and 5 % of the others are traced.
    ("CLICKS=1000000 HOT=1 TRACING=Active", {"X-Ray": 5 * ((1 + 4.95) / 100 + (1 + 0.05 * (100 / 51 - 1)) / 100 + 1 / 501)}),
    ("CLICKS=1000000 EDGE=cloudfront", {"CloudFront": 1.085, "API Gateway": 1, "Data transfer": 0}),
    ("CLICKS=1000 ACCESS_LOG=on", {"CloudWatch logs": (LINE + INFO + 230) * 0.53e-6}),
    ("CLICKS=1000000 CLICK_DAYS=90 MONTHS=6", {"Raw clicks storage": CLICK_GB * 3 * 0.10, "DynamoDB storage": DAY_GB * 6 * 0.25}),
    ("CLICKS=1000000 CLICK_RECOVERY=on", {"Raw clicks point-in-time recovery": CLICK_GB * 13 * 0.20}),
    ("LIMITED=1000000 CLICKS=1000000", {
        "Lambda redirect": MS["redirect_use"] * 1000 / 4 * GB_SECOND,
        "DynamoDB writes": writes(redirect_limited=1, redirect=-1),
        "Raw clicks writes": 0,
    }),
    ("UNLOCKS=1000000", {
        "API Gateway": 2, "Data transfer": 0.09 * 5, "Raw clicks writes": 0.78,
        "Lambda unlock": 0.20 + MS["unlock"] * 1000 * TEMPLATE["memory_mb"]["unlock"] / 1024 * GB_SECOND,
        "DynamoDB writes": writes(unlock=1, redirect=-1, count_lone_click=1, settle=0.01),
        "DynamoDB reads": reads(unlock=1, redirect=1, count_lone_click=1, settle=0.01),
    }),
    ("LINKS=1000000 VIEWS=0", {
        "API Gateway": 1, "SNS": 0.50, "SQS": 1.20,
        "DynamoDB writes": writes(shorten=1, notify=1), "DynamoDB reads": reads(shorten=1, notify=1),
    }),
    # All the time, the secret is read again every five minutes.
    ("LINKS=100000000 VIEWS=0", {"Secrets Manager": 2 * SECONDS / 300 * 0.05 / 10_000}),
    ("VIEWS=1000000", {"API Gateway": 2.1, "DynamoDB reads": reads(list_page=1, month=1, refresh=0.1)}),
    ("LOGINS=1000000", {"API Gateway": 1, "DynamoDB writes": writes(login=1)}),
    ("REPORTS=1000000", {"SES": 100, "SQS": 1.20, "DynamoDB writes": writes(report=1), "DynamoDB reads": reads(report=1)}),
    ("RENAMED=1000000", {"DynamoDB writes": writes(rename_hundred=0.01)}),
]


class Months(unittest.TestCase):
    def test_what_is_known(self) -> None:
        for words, expected in KNOWN:
            found = added(words, words.partition(" ")[2])
            for line, usd in expected.items():
                self.assertLessEqual(abs(found.get(line, 0) - usd), 1e-6 + usd / 500, f"{words}: {line} {found.get(line)} {usd}")

    def test_an_idle_month_is_alarms_secrets_pollers_and_a_look_each_minute(self) -> None:
        polls, looks = SECONDS / 20 * 5 * TEMPLATE["polled_queues"], SECONDS / 60
        expected = {
            "Lambda clock": looks * (0.2 / MILLION + MS["clock"] / 1000 / 4 * GB_SECOND),
            "DynamoDB reads": looks * reads(look_each_minute=1) / MILLION,
            "SQS": polls * 0.40 / MILLION,
            "Scheduler": looks / MILLION,
            "CloudWatch logs": looks * LOGS["clock"]["line"] * 0.53 / 1e9,
            "CloudWatch alarms": 0.10 * TEMPLATE["alarm_metrics"]["essential"],
            "Secrets Manager": 0.40 * TEMPLATE["secrets"],
        }
        found = bill(IDLE).usd
        self.assertEqual(found.keys(), expected.keys())
        self.assertTrue(all(abs(found[line] - usd) < 1e-9 for line, usd in expected.items()), found)
        self.assertAlmostEqual(bill("MONITORING=full").usd["CloudWatch alarms"], TEMPLATE["alarm_metrics"]["full"] * 0.10)
        self.assertNotIn("CloudWatch alarms", bill("MONITORING=none").lines)
        paid = {line for line, usd in bill(IDLE + "FREE_TIER=yes").usd.items() if usd}
        self.assertEqual(paid, {"SQS", "Secrets Manager", "DynamoDB reads", "CloudWatch alarms"})

    def test_free_tiers_make_no_line_dearer(self) -> None:
        for words in ("", "CLICKS=10000000 EDGE=cloudfront TRACING=Active MONITORING=full", "TARGETS=100"):
            free, listed = (bill(f"{words} FREE_TIER={each}").usd for each in ("yes", "no"))
            self.assertTrue(all(0 <= free[line] <= usd + 1e-9 for line, usd in listed.items()), words)


class Linkwatch(unittest.TestCase):
    def test_a_tick_is_a_message_a_call_a_lease_and_its_reads(self) -> None:
        ticks, found = SECONDS / 15 / MILLION, added("TARGETS=1")
        # The four of a minute are sent together.
        self.assertAlmostEqual(found["SQS"], ticks * (2 + 1 / 4) * 0.40)
        self.assertAlmostEqual(found["DynamoDB writes"], ticks * writes(take_partition=1, results_item=1))
        self.assertAlmostEqual(found["DynamoDB reads"], ticks * reads(partition_without_targets=1, hundred_due_targets=0.01))
        seconds = (MS["watch-check"] + MS["watch-check_per_target"] + MS["check"]) / 1000
        self.assertAlmostEqual(found["Lambda watch-check"], ticks * (0.20 + seconds * MILLION / 4 * GB_SECOND))

    def test_places_and_time_bound_the_checks(self) -> None:
        for places, partitions in ((8, 1), (16, 2), (32, 4), (100, 16)):
            self.assertEqual(linklet.ticks(load(f"MAX_CONCURRENCY={places}"), TABLES).partitions, partitions)
        few, many, most = (linklet.ticks(load(f"TARGETS={targets}"), TABLES) for targets in (100, 1_000, 100_000))
        self.assertEqual(few.all_checks, 100 * SECONDS / 15)
        own = MS["watch-check"] + 1_000 * MS["watch-check_per_target"]
        self.assertAlmostEqual(many.checks, 8 * (14_500 - own) / MS["check"])
        self.assertEqual(most.read, 8 * 15 * 4 + 2_000)
        enough = linklet.with_places(load("TARGETS=1000"), TABLES)
        self.assertEqual(linklet.ticks(enough, TABLES).all_checks, 1_000 * SECONDS / 15)

    def test_the_results_of_a_workspace_share_items_of_64(self) -> None:
        for targets, each, items in ((100, 100, 2), (128, 64, 2), (100, 10, 10), (100, 1, 100), (3, 10, 1)):
            words = f"TARGETS={targets} WORKSPACE_TARGETS={each}"
            size = targets * 14 + items * (ROWS["results_item"]["bytes"] - 64 * 14 + 100)
            self.assertAlmostEqual(added(words)["DynamoDB storage"], SECONDS / 15 * size * 0.25 / 1e9, msg=words)

    def test_monitoring_stays_below_what_it_was_designed_to_cost(self) -> None:
        self.assertLessEqual(bill(IDLE).total, 3.00)
        self.assertLessEqual(linklet.watching(load("TARGETS=1"), TABLES), 1.20)
        self.assertLessEqual(report.million_checks(load("WORKSPACE_TARGETS=100"), TABLES), 0.60)
        self.assertLessEqual(report.million_checks(load("WORKSPACE_TARGETS=1"), TABLES), 1.10)


class Containers(unittest.TestCase):
    def test_without_use_they_cost_the_smallest_size_in_two_zones(self) -> None:
        tasks = 2 * (0.25 * 0.03238 + 0.5 * 0.00356 + 0.005)
        expected = 720 * (0.0225 + 2 * 0.005 + tasks + 2 * 0.032) + 40 * 0.115 + 1.00 + 0.40
        self.assertAlmostEqual(containers.bill(load(IDLE), TABLES)[0].total, expected)

    def test_they_grow_with_peak_average_and_data(self) -> None:
        for words, size in {
            "TARGETS=1000": "2 containers, db.t4g.small in",
            # 500 clicks a second at the peak take 1 of 2 processors.
            f"MONTHS=1 CLICKS={50 * SECONDS}": "3 containers, db.t4g.small in",
            f"MONTHS=1 CLICKS={50 * SECONDS} LIMITED={50 * SECONDS}": "3 containers, db.m7g.xlarge in",
            f"MONTHS=13 CLICKS={50 * SECONDS}": "3 containers, db.m7g.large in",
            # 250 a second at any time take half a processor, and the small one has 0.4 of one for good.
            f"MONTHS=1 PEAK=1 CLICKS={250 * SECONDS}": "2 containers, db.m7g.large in",
            f"MONTHS=1 UNLOCKS={5 * SECONDS}": "20 containers, db.t4g.small in",
            "CLICKS=31104000000": "GB are more than one database has room for",
            "CLICKS=15000000000 MONTHS=1": "are more than one database does",
        }.items():
            self.assertIn(size, containers.bill(load(IDLE + words), TABLES)[1], words)

    def test_where_clicks_make_the_bills_meet(self) -> None:
        *turns, last = report.ranges(load(""), TABLES)
        self.assertEqual((turns[0][1], last), (report.LINKLET, (INPUTS["CLICKS"]["most"], report.TOO_MUCH)))
        for clicks, who in turns:
            self.assertEqual(report.cheaper(load(f"CLICKS={clicks}"), TABLES), who)
            self.assertNotEqual(report.cheaper(load(f"CLICKS={clicks + 1}"), TABLES), who)

    def test_where_monitored_urls_make_the_bills_meet(self) -> None:
        most, ends = report.most_targets(load(""), TABLES, lambda more: report.cheaper(more, TABLES) == report.CONTAINERS)
        for targets, who in ((most, report.LINKLET), (most + report.STEP, report.CONTAINERS)):
            places = linklet.with_places(load(f"TARGETS={targets}"), TABLES)
            self.assertEqual((report.cheaper(places, TABLES), ends), (who, True))
        # One container checks 100 URLs, and two check 1,000. They store what Linkwatch stores.
        for words, tasks in (("TARGETS=100", 1), ("TARGETS=1000 MAX_CONCURRENCY=32", 2)):
            usd = containers.monitor(load(words), TABLES).usd
            self.assertAlmostEqual(usd["Public addresses"], tasks * 720 * 0.005)
            self.assertAlmostEqual(usd["DynamoDB storage"], added(words)["DynamoDB storage"])


class Inputs(unittest.TestCase):
    def test_more_work_costs_more_and_shared_work_costs_less(self) -> None:
        many, few = (100, 1_000, 5_000), (10, 30, 90)
        rising = dict.fromkeys(("CLICKS", "LINKS", "VIEWS", "UNLOCKS", "LIMITED", "RENAMED", "REPORTS", "LOGINS", "TARGETS"), many)
        rising |= dict.fromkeys(("MONTHS", "LOG_DAYS", "CLICK_DAYS"), few) | {"MAX_CONCURRENCY": (8, 32, 100)}
        falling = {"HOT": (0, 0.5, 1), "WORKSPACE_TARGETS": (10, 100, 1_000), "FREE_TIER": ("no", "yes")}
        for name, values in (rising | falling).items():
            totals = [bill(f"TARGETS=5000 MAX_CONCURRENCY=100 {name}={value}").total for value in values]
            self.assertEqual(totals, sorted(set(totals), reverse=name in falling), name)

    def test_wrong_inputs_are_refused_with_one_line_and_exit_code_2(self) -> None:
        for word in (
            "CLICKS=-1", "CLICKS=many", "CLICKS=", "CLICKS=1.5", "CLICKS=99999999999999999999", "LIMITED=1000001",
            "HOT=nan", "HOT=1.1", "PEAK=inf", "MONTHS=0", "MAX_CONCURRENCY=18", "TRACING=on", "CLICK=1", "clicks=1", "CLICKS",
        ):
            with self.subTest(word), self.assertRaisesRegex(Failure, f"^{re.escape(word)}: .*$"):
                parse([word])
        with written("[aws]\npoll_seconds = 0") as path:
            for word in ("CLICKS=-1", "PRICES=/nowhere.toml", f"ASSUMPTIONS={path}"):
                result = run([sys.executable, "-m", "infra.costs", word])
                self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (2, "", 1), word)

    def test_costs_explains_each_and_make_passes_it_on_but_not_the_environment(self) -> None:
        explained = re.findall(r"^\| `([A-Z_]+)` \|", pages.DOCUMENTS[0].read_text(), re.MULTILINE)
        self.assertEqual(sorted(explained), sorted(INPUTS))
        makefile = (pages.ROOT / "Makefile").read_text().replace("\\\n", " ")
        names = re.search(r"^COST_INPUTS := (.*)$", makefile, re.MULTILINE)
        self.assertEqual(set(names[1].split()) if names else set(), set(INPUTS))
        result = run(["make", "cost", "CLICKS=0", "LINKS=-5"], LOG_LEVEL="loud")
        self.assertEqual(result.returncode, 2)
        self.assertIn("LINKS=-5: must be a whole number", result.stderr)


class Documents(unittest.TestCase):
    def test_they_show_what_the_calculator_says(self) -> None:
        for path in pages.DOCUMENTS:
            text = path.read_text()
            self.assertTrue(pages.BLOCK.search(text), path.name)
            self.assertTrue(pages.with_numbers(text, TABLES) == text, f"{path.name}: make units writes what has changed")
        amounts = re.findall(r"\$\d[\d.,]*", (pages.ROOT / "README.md").read_text())
        self.assertEqual(amounts, [f"${bill(IDLE).total:.0f}"], "an idle month")

    def test_only_numbers_between_markers_change(self) -> None:
        page = "It is $2.\n<!-- numbers -->\n\n| With | Checks | It |\n|-|-|-|\n| `TARGETS=1` | {} | 2 |\n\n<!-- /numbers -->\n$3"
        self.assertEqual(pages.with_numbers(page.format(7), TABLES), page.format("172,800"))


def run(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """As from a terminal, not from the make that runs the tests."""
    environment = {"PATH": os.environ["PATH"], "PYTHON": sys.executable, **variables}
    return subprocess.run(command, cwd=pages.ROOT, env=environment, capture_output=True, text=True)


@contextmanager
def written(text: str) -> Iterator[str]:
    """A file with this text, by its path."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        yield file.name
