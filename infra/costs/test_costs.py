"""The arithmetic of the calculator, and that what the documentation prints is what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from dataclasses import fields, replace

from ..local.installer import ROOT
from . import containers, linklet, pages, report
from .inputs import CHOICES, MOST_CLICKS, SECONDS, Failure, Load, parse
from .tables import Bill, Data

README = ROOT / "README.md"
MILLION = 1_000_000
NOTHING = Load(clicks=0, links=0)
FULL = replace(NOTHING, monitoring="full")
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

    def test_what_is_free_has_a_date_and_is_taken_off_the_quantity(self) -> None:
        data = Data.load()
        free = {name: price for name, price in data.prices.items() if "free" in price}

        self.assertGreater(len(free), 10)
        for name, price in free.items():
            with self.subTest(name):
                self.assertGreater(price["free"], 0)
                self.assertRegex(price["free_as_of"], r"^20\d\d(-(0[1-9]|1[0-2]))?$")
                self.assertEqual(data.usd(name, price["free"], free=True), 0)
                self.assertEqual(data.usd(name, price["free"] / 2, free=True), 0)
                once = data.usd(name, price["per"])
                self.assertAlmostEqual(data.usd(name, price["free"] + price["per"], free=True), once)
        self.assertEqual(data.usd("http_api_requests", 5, free=True), data.usd("http_api_requests", 5))

    def test_lines_share_what_is_free_of_a_price(self) -> None:
        data, free = Data.load(), 1_000_000
        bill = Bill(data, free=True)
        bill.add("one", lambda_requests=3 * free)
        bill.add("other", lambda_requests=free)

        self.assertAlmostEqual(bill.total, 3 * 0.20)
        self.assertAlmostEqual(usd(bill, "one"), 3 / 4 * bill.total)
        self.assertAlmostEqual(usd(bill, "other"), 1 / 4 * bill.total)

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

    def test_what_is_free_can_be_replaced_and_added(self) -> None:
        with written("[sqs_requests]\nfree = 0\n[secrets]\nfree = 1") as path:
            data = Data.load(prices=path)

        self.assertEqual(data.usd("sqs_requests", MILLION, free=True), 0.40)
        self.assertEqual(data.usd("secrets", 2, free=True), 0.40)

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

    def test_a_lone_click_is_counted_and_stored(self) -> None:
        units = Data.load().operations
        redirect, count = units["redirect"], units["count_lone_click"]

        self.assertAlmostEqual(more(self.one_million, NOTHING, "Raw clicks writes"), redirect["writes"] * 0.78)
        self.assertAlmostEqual(more(self.one_million, NOTHING, "DynamoDB writes"), (count["writes"] + units["settle"]["writes"] / 100) * 0.625)
        reads = redirect["reads"] + count["reads"] + units["settle"]["reads"] / 100
        self.assertAlmostEqual(more(self.one_million, NOTHING, "DynamoDB reads"), reads * 0.125)

    def test_clicks_in_a_burst_share_writes_and_reads(self) -> None:
        hot, units = replace(self.one_million, hot=1.0), Data.load().operations
        batch, held = units["count_full_batch"], units["redirect_held"]

        self.assertAlmostEqual(more(hot, NOTHING, "Raw clicks writes"), held["writes"] * 0.78)
        self.assertAlmostEqual(more(hot, NOTHING, "DynamoDB writes"), batch["writes"] / 500 * 0.625)
        # The link is read once for a hundred clicks.
        reads = units["redirect"]["reads"] / 100 + batch["reads"] / 500
        self.assertAlmostEqual(more(hot, NOTHING, "DynamoDB reads"), reads * 0.125)

    def test_a_few_clicks_a_day_are_each_alone_on_their_way(self) -> None:
        few = replace(NOTHING, clicks=100)

        self.assertAlmostEqual(more(few, NOTHING, "SQS"), 300 * 0.40 / MILLION, places=7)
        traced, idle = replace(few, tracing="Active"), replace(NOTHING, tracing="Active")
        self.assertAlmostEqual(more(traced, idle, "X-Ray"), 300 * 5 / MILLION, places=6)

    def test_a_burst_fills_batches(self) -> None:
        usage = linklet.Usage(self.one_million, Data.load())

        batch, a_second = linklet.gather(usage, MILLION, 100)

        # A shard of four gathers 25 a second for two seconds, and the one that began it.
        self.assertEqual((batch, a_second), (501, 100 / 501))
        self.assertAlmostEqual(usage.functions["relay"].count, MILLION / 51)
        # They share a message, and ten messages are deleted together.
        self.assertAlmostEqual(usage.sqs, 2 * MILLION / 51 + MILLION / 501)

    def test_storage_is_that_of_all_months_until_rows_are_deleted(self) -> None:
        data = Data.load()
        click, day = (data.rows[name]["bytes"] + 100 for name in ("click", "day"))

        for months in (1, 13, 20):
            bill = linklet.bill(replace(self.one_million, months=months), data)
            clicks = min(months, 396 / 30) * click * MILLION / 1e9
            self.assertAlmostEqual(usd(bill, "Raw clicks storage"), clicks * 0.10, msg=f"{months} months")
            days = months * day * MILLION / 10 / 1e9
            self.assertAlmostEqual(usd(bill, "DynamoDB storage"), days * 0.25, msg=f"{months} months")

    def test_raw_clicks_are_recovered_if_wanted_and_other_rows_always(self) -> None:
        data = Data.load()
        off, on = (
            linklet.bill(replace(self.one_million, click_recovery=choice), data) for choice in ("off", "on")
        )

        for bill in (off, on):
            stored, recovered = usd(bill, "DynamoDB storage"), usd(bill, "DynamoDB point-in-time recovery")
            self.assertAlmostEqual(recovered, stored / 0.25 * 0.20)
        self.assertEqual(usd(off, "Raw clicks point-in-time recovery"), 0)
        stored, recovered = usd(on, "Raw clicks storage"), usd(on, "Raw clicks point-in-time recovery")
        self.assertAlmostEqual(recovered, stored / 0.10 * 0.20)

    def test_raw_clicks_are_kept_for_as_many_days_as_wanted_and_nothing_else(self) -> None:
        data = Data.load()
        year, quarter = (linklet.bill(replace(self.one_million, click_days=days), data) for days in (360, 90))

        self.assertAlmostEqual(usd(quarter, "Raw clicks storage"), usd(year, "Raw clicks storage") / 4)
        self.assertEqual(usd(quarter, "DynamoDB storage"), usd(year, "DynamoDB storage"))
        sizes = [containers.data_gb(replace(self.one_million, click_days=days), data) for days in (360, 90)]
        self.assertGreater(*sizes)

    def test_another_class_of_table_has_other_prices(self) -> None:
        data = Data.load()
        data.template["click_table_class"] = "STANDARD"
        bill = linklet.bill(self.one_million, data)

        self.assertAlmostEqual(usd(bill, "Raw clicks writes"), 0.625)
        gigabytes = 13 * (data.rows["click"]["bytes"] + 100) * MILLION / 1e9
        self.assertAlmostEqual(usd(bill, "Raw clicks storage"), gigabytes * 0.25)

    def test_x_ray_traces_the_first_of_each_second_and_five_percent_of_the_others(self) -> None:
        aws = Data.load().assumed["aws"]

        self.assertEqual(linklet.traced_share(0.1, aws), 1)
        self.assertEqual(linklet.traced_share(1, aws), 1)
        self.assertAlmostEqual(linklet.traced_share(100, aws), (1 + 0.05 * 99) / 100)

    def test_passing_through_traces_nothing(self) -> None:
        active = replace(self.one_million, tracing="Active")

        self.assertEqual(usd(linklet.bill(self.one_million, Data.load()), "X-Ray"), 0)
        self.assertGreater(usd(linklet.bill(active, Data.load()), "X-Ray"), 0)

    def test_the_access_log_has_a_line_for_each_request(self) -> None:
        logged = replace(self.one_million, access_log="on")

        self.assertAlmostEqual(more(logged, self.one_million), 230 * MILLION / 1e9 * (0.50 + 0.03))

    def test_cloudfront_comes_on_top_and_takes_over_the_transfer(self) -> None:
        bill = linklet.bill(replace(self.one_million, edge="cloudfront"), Data.load())

        self.assertAlmostEqual(usd(bill, "CloudFront"), 1.00 + 0.085)
        self.assertAlmostEqual(usd(bill, "API Gateway"), 1.00)
        self.assertEqual(usd(bill, "Data transfer"), 0)


class Watching(unittest.TestCase):
    """Monitoring, logs, and what nobody uses."""

    few = replace(NOTHING, clicks=1_000)

    def log_bytes(self, **choices: object) -> float:
        """Of a lone click, which is a call each of three functions."""
        load, idle = (replace(each, **choices) for each in (self.few, NOTHING))
        return more(load, idle, "CloudWatch logs") * 1e9 / 1_000 / (0.50 + 0.03)

    def test_lines_have_metrics_at_every_level_or_are_written_at_level_info(self) -> None:
        lines = [Data.load().log_bytes[name] for name in ("redirect", "relay", "analytics")]
        line, metrics, info = (sum(each[part] for each in lines) for part in ("line", "metrics", "info"))

        for monitoring in ("essential", "none"):
            self.assertAlmostEqual(self.log_bytes(monitoring=monitoring), line + info, delta=5)
            for level in ("warn", "error"):
                self.assertEqual(self.log_bytes(monitoring=monitoring, log_level=level), 0)
        self.assertAlmostEqual(self.log_bytes(monitoring="full"), line + metrics + info, delta=5)
        self.assertAlmostEqual(self.log_bytes(monitoring="full", log_level="warn"), line + metrics, delta=5)

    def test_the_line_of_a_batch_names_up_to_ten_requests(self) -> None:
        self.assertEqual([linklet.named_bytes(batch) for batch in (1, 2, 10, 11, 500)], [0, 37, 333, -37, -37])

    def test_logs_cost_as_long_as_they_are_kept(self) -> None:
        data = Data.load()
        bills = [linklet.bill(replace(NOTHING, log_days=days), data) for days in (30, 365)]
        month, year = (usd(bill, "CloudWatch logs") for bill in bills)

        self.assertAlmostEqual(year - month, month / 0.53 * 0.03 * (365 / 30 - 1))

    def test_a_metric_costs_in_the_hours_in_which_it_is_written(self) -> None:
        # A click in every tenth hour.
        tenth, metrics = replace(FULL, clicks=72), Data.load().assumed["metrics"]

        written = metrics["redirect"] + metrics["relay"] + metrics["analytics"]
        self.assertAlmostEqual(more(tenth, FULL, "CloudWatch metrics"), written * 0.30 / 10, places=4)

    def test_there_are_as_many_alarms_as_are_wanted_and_metrics_and_a_dashboard_only_with_all(self) -> None:
        data = Data.load()
        names = ("CloudWatch alarms", "CloudWatch metrics", "CloudWatch dashboard")
        for monitoring, alarms in data.template["alarm_metrics"].items():
            bill = linklet.bill(replace(self.few, monitoring=monitoring), data)
            is_full = monitoring == "full"
            self.assertAlmostEqual(usd(bill, names[0]), alarms * 0.10)
            self.assertEqual([usd(bill, name) > 0 for name in names[1:]], [is_full, is_full], monitoring)

    def test_an_idle_month_is_alarms_secrets_pollers_and_a_look_each_minute(self) -> None:
        data = Data.load()
        lines = {line.name: line.quantities for line in linklet.bill(NOTHING, data).lines}
        polls = SECONDS / 20 * 5

        self.assertEqual(lines["Lambda watch-tick"]["lambda_requests"], 43_200)
        look = data.operations["look_for_targets"]["reads"]
        self.assertEqual(lines["DynamoDB reads"], {"dynamodb_reads": 43_200 * look})
        self.assertEqual(lines["SQS"], {"sqs_requests": data.template["polled_queues"] * polls})
        self.assertEqual(lines["Secrets Manager"], {"secrets": data.template["secrets"]})
        others = {"Scheduler", "CloudWatch logs", "CloudWatch alarms"}
        self.assertEqual(set(lines), {"Lambda watch-tick", "DynamoDB reads", "SQS", "Secrets Manager", *others})

    def test_secrets_are_read_by_functions_that_are_called(self) -> None:
        def calls(load: Load) -> float:
            lines = {line.name: line.quantities for line in linklet.bill(load, Data.load()).lines}
            return lines["Secrets Manager"].get("secret_calls", 0)

        self.assertEqual(calls(NOTHING), 0)
        # Redirect verifies no tokens.
        self.assertEqual(calls(replace(NOTHING, clicks=MILLION)), 0)
        # Who comes once a week finds no copy of the secret; whoever comes all the time finds one for five minutes.
        self.assertAlmostEqual(calls(replace(NOTHING, links=4, views=0)), 2 * 4, places=1)
        self.assertAlmostEqual(calls(replace(NOTHING, links=100 * MILLION, views=0)), 2 * SECONDS / 300, delta=10)


class FreeTier(unittest.TestCase):
    loads = [
        NOTHING,
        Load(),
        Load(clicks=10 * MILLION, edge="cloudfront", tracing="Active", monitoring="full"),
        Load(targets=100),
    ]

    def test_no_line_is_dearer_or_below_nothing(self) -> None:
        data = Data.load()
        for load in self.loads:
            free = replace(load, free_tier="yes")
            for bill in (linklet.bill, containers.bill):
                before, after = bill(load, data).lines, bill(free, data).lines
                self.assertEqual([line.name for line in before], [line.name for line in after])
                for listed, paid in zip(before, after):
                    with self.subTest(paid.name):
                        self.assertEqual(listed.amount, paid.amount)
                        self.assertGreaterEqual(paid.usd, 0)
                        self.assertLessEqual(paid.usd, listed.usd + 1e-9)

    def test_an_idle_month_pays_for_secrets_and_pollers_only(self) -> None:
        bill = linklet.bill(replace(NOTHING, free_tier="yes"), Data.load())

        pays = {line.name for line in bill.lines if line.usd}
        self.assertEqual(pays, {"SQS", "Secrets Manager", "DynamoDB reads"})
        listed = linklet.bill(NOTHING, Data.load())
        self.assertAlmostEqual(usd(bill, "SQS"), usd(listed, "SQS") - 0.40)

    def test_a_large_dashboard_is_not_free_and_a_small_one_is(self) -> None:
        load = replace(FULL, free_tier="yes")

        self.assertEqual(usd(linklet.bill(load, Data.load()), "CloudWatch dashboard"), 3)
        self.assertEqual(usd(containers.bill(load, Data.load()), "CloudWatch dashboard"), 0)

    def test_standard_storage_is_free_and_that_of_raw_clicks_is_not(self) -> None:
        bill = linklet.bill(Load(free_tier="yes"), Data.load())

        self.assertEqual(usd(bill, "DynamoDB storage"), 0)
        self.assertGreater(usd(bill, "Raw clicks storage"), 0)

    def test_a_million_clicks_more_are_the_difference(self) -> None:
        data, load = Data.load(), Load(free_tier="yes", views=10_000)
        bills = [linklet.bill(replace(load, clicks=clicks), data).total for clicks in (MILLION, 2 * MILLION)]

        self.assertIn(f"{bills[1] - bills[0]:,.2f}", report.more(load, data, linklet.bill(load, data)))
        self.assertIn("after what is free each month", report.heading(load))


class Links(unittest.TestCase):
    one_million = replace(NOTHING, links=MILLION, views=0)

    def test_a_link_is_created_and_notified(self) -> None:
        units = Data.load().operations
        reads, writes = (units["shorten"][part] + units["notify"][part] for part in ("reads", "writes"))

        self.assertAlmostEqual(more(self.one_million, NOTHING, "DynamoDB writes"), writes * 0.625)
        self.assertAlmostEqual(more(self.one_million, NOTHING, "DynamoDB reads"), reads * 0.125)
        self.assertAlmostEqual(more(self.one_million, NOTHING, "SNS"), 0.50)
        self.assertAlmostEqual(more(self.one_million, NOTHING, "SQS"), 1.20)

    def test_a_page_view_is_a_list_a_month_of_a_link_and_now_and_then_a_refresh(self) -> None:
        views = replace(NOTHING, views=MILLION)

        data = Data.load()
        units, refreshes = data.operations, 1 / data.assumed["traffic"]["pages_a_refresh"]
        reads = units["list_page"]["reads"] + units["month"]["reads"] + units["refresh"]["reads"] * refreshes
        self.assertAlmostEqual(more(views, NOTHING, "DynamoDB reads"), reads * 0.125)
        self.assertAlmostEqual(more(views, NOTHING, "DynamoDB writes"), units["refresh"]["writes"] * refreshes * 0.625)
        self.assertAlmostEqual(more(views, NOTHING, "API Gateway"), 2 + refreshes)


class Terms(unittest.TestCase):
    """Links with a limit or a password."""

    data = Data.load()
    few, unlocks = replace(NOTHING, clicks=1_000), replace(NOTHING, unlocks=1_000)

    def added(self, after: Load, before: Load) -> dict[str, float]:
        """What a thousand of something make longer, per million, by the names of lines."""
        return {line.name: line.usd for line in pages.per_million(after, before, 1_000, self.data)}

    def test_a_click_on_a_link_with_a_limit_is_one_write_more_and_the_wait_for_it(self) -> None:
        seconds = self.data.assumed["milliseconds"]["redirect_use"] / 1_000
        for hot in (0.0, 1.0):
            before = replace(self.few, hot=hot)
            added = self.added(replace(before, limited=1_000), before)

            self.assertEqual(set(added), {"DynamoDB writes", "Lambda redirect"})
            self.assertAlmostEqual(added["DynamoDB writes"], 0.625)
            time = MILLION * seconds * self.data.template["memory_mb"]["redirect"] / 1024
            self.assertAlmostEqual(added["Lambda redirect"], self.data.usd("lambda_time", time))

    def test_a_password_is_a_page_an_answer_and_a_click_that_is_stored_and_counted(self) -> None:
        data, operations = self.data, self.data.operations
        click, password = self.added(self.few, NOTHING), self.added(self.unlocks, NOTHING)

        # A click has its request and its call of redirect, for which a password has those of the page.
        self.assertEqual(set(password), {*click, "Lambda unlock"})
        self.assertAlmostEqual(password["API Gateway"], 2)
        self.assertAlmostEqual(password["Data transfer"], 0.005 * 0.09 * 1_000)
        time = MILLION * data.assumed["milliseconds"]["unlock"] / 1_000 * data.template["memory_mb"]["unlock"] / 1024
        self.assertAlmostEqual(password["Lambda unlock"], 0.20 + data.usd("lambda_time", time))
        unlock, redirect = operations["unlock"], operations["redirect"]
        writes = (unlock["writes"] - redirect["writes"]) * 0.625
        self.assertAlmostEqual(password["DynamoDB writes"] - click["DynamoDB writes"], writes)
        self.assertAlmostEqual(password["DynamoDB reads"] - click["DynamoDB reads"], unlock["reads"] * 0.125)
        line = data.log_bytes["unlock"]["line"] + data.log_bytes["unlock"]["info"]
        self.assertAlmostEqual(password["CloudWatch logs"] - click["CloudWatch logs"], line * 0.53 / 1_000)
        others = set(click) - {"API Gateway", "Data transfer", "DynamoDB writes", "DynamoDB reads", "CloudWatch logs"}
        for name in others:
            self.assertAlmostEqual(password[name], click[name], msg=name)

    def test_fewer_clicks_than_are_asked_for_take_fewer_uses(self) -> None:
        self.assertEqual(replace(self.few, limited=500).uses, 500)
        self.assertEqual(replace(self.few, limited=500, clicks=100).uses, 100)

    def test_containers_do_the_same_work(self) -> None:
        peak = Load(clicks=50 * SECONDS, links=0, months=1)
        unlocks = replace(NOTHING, unlocks=5 * SECONDS, months=1)

        # 500 clicks a second take 1 of 2 processors, and 50 passwords 2.25 of those of which containers have a quarter.
        self.assertEqual(containers.size(peak, self.data).database["name"], "db.t4g.small")
        limited = containers.size(replace(peak, limited=peak.clicks), self.data)
        self.assertEqual(limited.database["name"], "db.m7g.xlarge")
        self.assertEqual(containers.size(unlocks, self.data).tasks, 20)
        stored = [containers.data_gb(load, self.data) for load in (self.few, self.unlocks)]
        self.assertEqual(*stored)

    def test_the_heading_says_what_there_is(self) -> None:
        heading = report.heading(Load(limited=2_000, unlocks=3_000))

        self.assertIn("\n2,000 of the clicks on links with a limit,\n3,000 more behind a password,\nafter 13", heading)
        self.assertIn("0 monitored URLs,\nafter 13 months", report.heading(Load()))


class Linkwatch(unittest.TestCase):
    def rounds(self, **load: object) -> linklet.Rounds:
        return linklet.rounds(replace(NOTHING, **load), Data.load())

    def test_a_job_costs_its_own_turns_and_the_writes_of_the_links_that_it_renames(self) -> None:
        data = Data.load()
        job, hundred = data.operations["job"], data.operations["rename_hundred"]
        asked = {links: linklet.Usage(replace(NOTHING, renamed=links), data) for links in (0, 5_000)}
        for usage in asked.values():
            linklet.rename(usage)

        self.assertEqual((asked[0].tables.writes, asked[0].tables.reads), (0, 0))
        self.assertEqual(asked[5_000].tables.writes, job["writes"] + 50 * hundred["writes"])
        self.assertEqual(asked[5_000].stream_records, 5_000)
        self.assertIn("5,000 links whose tag a job renames", report.heading(Load(renamed=5_000)))

    def test_a_login_costs_its_reads_and_writes_and_the_time_of_a_hash(self) -> None:
        data = Data.load()
        usage = linklet.Usage(replace(NOTHING, logins=1_000), data)
        linklet.log_in(usage)

        self.assertEqual(usage.tables.writes, 1_000 * data.operations["login"]["writes"])
        self.assertEqual(usage.functions["auth"].count, 1_000)
        self.assertGreater(usage.functions["auth"].milliseconds, 80 * 1_000)
        self.assertIn("1,000 logins", report.heading(Load(logins=1_000)))

    def test_there_are_as_few_lanes_as_have_room_for_all_places(self) -> None:
        lanes = {2: 1, 8: 1, 9: 2, 16: 2, 17: 4, 32: 4, 33: 8, 64: 8, 65: 16, 100: 16}

        self.assertEqual({places: linklet.lanes(places) for places in lanes}, lanes)

    def test_places_and_time_bound_the_checks(self) -> None:
        data = Data.load()
        few, many = (linklet.rounds(replace(NOTHING, targets=targets), data) for targets in (100, 1_000))

        self.assertEqual(few.checks_a_month, 100 * SECONDS / 15)
        self.assertEqual((many.due, many.read), (1_000, 1_000))
        # Eight places, each for 14.5 seconds without what reading takes.
        reading = data.assumed["milliseconds"]["watch-check"] + 1_000 * data.assumed["milliseconds"]["watch-check_per_target"]
        self.assertAlmostEqual(many.checks, 8 * (14_500 - reading) / 250)
        self.assertLessEqual(many.milliseconds, 15_000)

    def test_a_round_reads_no_more_than_its_places_check_and_two_thousand(self) -> None:
        self.assertEqual(self.rounds(targets=100_000).read, 8 * 15 * 4 + 2_000)

    def test_a_round_lasts_as_long_as_its_places_wait(self) -> None:
        assumed = Data.load().assumed["milliseconds"]

        for targets, waits in ((1, 1), (8, 1), (9, 2), (400, 50)):
            own = assumed["watch-check"] + targets * assumed["watch-check_per_target"]
            self.assertAlmostEqual(self.rounds(targets=targets).milliseconds, own + waits * 250, msg=f"{targets} URLs")
        # Of four lanes, one has the only URL.
        own = assumed["watch-check"] + assumed["watch-check_per_target"] / 4
        self.assertAlmostEqual(self.rounds(targets=1, max_concurrency=32).milliseconds, own + 250 / 4)

    def test_the_results_of_a_workspace_share_items(self) -> None:
        for load, items in (
            ({"targets": 100, "workspace_targets": 100}, 2),
            ({"targets": 128, "workspace_targets": 64}, 2),
            ({"targets": 100, "workspace_targets": 10}, 10),
            ({"targets": 100, "workspace_targets": 1}, 100),
            # A quarter of a URL in each lane, on average.
            ({"targets": 100, "workspace_targets": 1, "max_concurrency": 32}, 25),
            ({"targets": 3, "workspace_targets": 10}, 1),
        ):
            self.assertAlmostEqual(self.rounds(**load).items, items, msg=str(load))

    def test_what_is_stored_of_a_result_is_14_bytes_and_its_part_of_an_item(self) -> None:
        data = Data.load()
        item = data.rows["results_item"]["bytes"] - 64 * 14 + 100
        for each, items in ((50, 2), (1, 100)):
            bill = linklet.bill(replace(NOTHING, targets=100, workspace_targets=each), data)
            stored = SECONDS / 15 * (100 * 14 + items * item) / 1e9
            self.assertAlmostEqual(usd(bill, "DynamoDB storage"), stored * 0.25)

    def test_a_round_is_a_message_a_call_a_lease_and_its_reads(self) -> None:
        data, load = Data.load(), replace(NOTHING, targets=1)
        before, after = ({line.name: line.quantities for line in linklet.bill(each, data).lines} for each in (NOTHING, load))
        rounds = SECONDS / 15

        self.assertEqual(after["Lambda watch-check"]["lambda_requests"], rounds)
        # The four of a minute are sent together.
        self.assertAlmostEqual(after["SQS"]["sqs_requests"] - before["SQS"]["sqs_requests"], 2 * rounds + SECONDS / 60)
        units = data.operations
        writes = units["take_lane"]["writes"] + units["results_item"]["writes"]
        self.assertAlmostEqual(after["DynamoDB writes"]["dynamodb_writes"], rounds * writes)
        reads = units["lane_without_targets"]["reads"] + units["hundred_due_targets"]["reads"] / 100
        more = after["DynamoDB reads"]["dynamodb_reads"] - before["DynamoDB reads"]["dynamodb_reads"]
        self.assertAlmostEqual(more, rounds * reads)

    def test_all_lanes_look_into_each_track_once_and_each_into_its_notes(self) -> None:
        data = Data.load()
        reads = [
            more(replace(NOTHING, targets=1, max_concurrency=places), NOTHING, "DynamoDB reads") for places in (8, 32)
        ]

        look = data.operations["lane_without_targets"]["reads"] / 17
        self.assertAlmostEqual(reads[1] - reads[0], SECONDS / 15 * 3 * look * 0.125 / MILLION)

    def test_rounds_are_held_only_while_something_is_monitored(self) -> None:
        data = Data.load()
        none, one = (
            {line.name for line in linklet.bill(replace(NOTHING, targets=targets), data).lines} for targets in (0, 1)
        )

        self.assertIn("Lambda watch-check", one)
        self.assertNotIn("Lambda watch-check", none)
        self.assertLessEqual({"Lambda watch-tick"}, none & one)

    def test_there_are_as_many_places_as_the_urls_need(self) -> None:
        data = Data.load()
        for targets in (0, 1, 100, 1_000, 5_000, 100_000):
            load = linklet.with_places(replace(NOTHING, targets=targets), data)
            found = linklet.rounds(load, data)
            self.assertEqual(found.checks, found.due)
            if load.max_concurrency > 8:
                fewer = linklet.rounds(replace(load, max_concurrency=load.max_concurrency - 1), data)
                self.assertLess(fewer.checks * fewer.lanes, targets, f"{load.max_concurrency} places")


class WhatMonitoringMayCost(unittest.TestCase):
    """The amounts that the design of Linkwatch has to keep below."""

    data = Data.load()

    def a_million_checks(self, load: Load) -> float:
        """With results, rounds and logs: all that is more than in a month without a monitored URL."""
        return pages.cost_of_watching(load, self.data) / linklet.checks_a_month(load, self.data) * MILLION

    def test_a_million_checks_of_a_thousand_urls_at_a_thousand_hosts(self) -> None:
        self.assertEqual(self.data.assumed["milliseconds"]["check"], 250)
        for workspaces, most in ((10, 0.60), (1_000, 1.10)):
            as_deployed = replace(NOTHING, targets=1_000, workspace_targets=1_000 // workspaces)
            for load in (as_deployed, linklet.with_places(as_deployed, self.data)):
                cost = self.a_million_checks(load)
                self.assertLessEqual(cost, most, f"{workspaces} workspaces, {load.max_concurrency} places")
            self.assertLessEqual(report.million_checks(replace(as_deployed, targets=0), self.data), most)

    def test_the_first_url(self) -> None:
        self.assertLessEqual(pages.cost_of_watching(replace(NOTHING, targets=1), self.data), 1.20)

    def test_an_idle_month(self) -> None:
        self.assertLessEqual(linklet.bill(NOTHING, self.data).total, 2.65)
        self.assertLessEqual(linklet.bill(replace(NOTHING, free_tier="yes"), self.data).total, 1.20)


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

    def test_what_watches_over_them_follows_the_settings(self) -> None:
        data, names = Data.load(), ("CloudWatch alarms", "CloudWatch dashboard", "CloudWatch logs")

        for choices, expected in (
            ({}, (True, False, True)),
            ({"monitoring": "full"}, (True, True, True)),
            ({"monitoring": "none"}, (False, False, True)),
            ({"log_level": "warn"}, (True, False, False)),
        ):
            bill = containers.bill(Load(**choices), data)
            self.assertEqual(tuple(usd(bill, name) > 0 for name in names), expected, choices)

    def test_those_that_only_monitor_store_the_same_results(self) -> None:
        data, load = Data.load(), replace(NOTHING, targets=100)
        bill = containers.monitor(load, data)

        self.assertAlmostEqual(usd(bill, "Fargate"), 720 * (0.25 * 0.03238 + 0.5 * 0.00356))
        self.assertAlmostEqual(usd(bill, "Public addresses"), 720 * 0.005)
        ours = linklet.bill(load, data)
        self.assertAlmostEqual(usd(bill, "DynamoDB storage"), usd(ours, "DynamoDB storage"))
        # Linkwatch's lease of the lane is the rest.
        self.assertAlmostEqual(usd(ours, "DynamoDB writes") - usd(bill, "DynamoDB writes"), SECONDS / 15 * 0.625 / MILLION)
        # 67 checks a second take more than half of a quarter of a processor.
        double = containers.monitor(linklet.with_places(replace(NOTHING, targets=1_000), data), data)
        self.assertAlmostEqual(usd(double, "Fargate"), 2 * usd(bill, "Fargate"))

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
        data, load = Data.load(), Load(views=10_000)

        *found, (last, beyond) = report.ranges(load, data)

        self.assertEqual((last, beyond), (MOST_CLICKS, report.TOO_MUCH))
        self.assertEqual(found[0][1], report.LINKLET)
        with self.assertRaises(containers.TooMuch):
            containers.bill(replace(load, clicks=found[-1][0] + 1), data)
        for turn, who in found[:-1]:
            at = [replace(load, clicks=clicks) for clicks in (turn, turn + 1)]
            ours = [linklet.bill(each, data).total for each in at]
            theirs = [containers.bill(each, data).total for each in at]
            is_ours = [mine <= other for mine, other in zip(ours, theirs)]
            self.assertEqual(is_ours, [who == report.LINKLET, who != report.LINKLET], (turn, ours, theirs))

    def test_many_ranges_that_take_turns_are_one(self) -> None:
        ours, theirs = report.LINKLET, report.CONTAINERS
        few = [(1, ours), (2, theirs), (3, report.TOO_MUCH)]
        many = [(1, ours), (2, theirs), (3, ours), (4, theirs), (5, ours), (6, theirs), (7, report.TOO_MUCH)]

        self.assertEqual(report.in_short(few), few)
        self.assertEqual(
            report.in_short(many), [(1, ours), (5, report.EITHER), (6, theirs), (7, report.TOO_MUCH)]
        )

    def test_where_monitored_urls_make_the_bills_meet(self) -> None:
        data, load = Data.load(), Load()

        most, ends = report.most_targets(load, data, lambda each: report.cheaper(each, data) == report.CONTAINERS)

        self.assertTrue(ends)
        for targets, who in ((most, report.LINKLET), (most + report.STEP, report.CONTAINERS)):
            self.assertEqual(report.cheaper(linklet.with_places(replace(load, targets=targets), data), data), who)
        self.assertIn(f"{report.rounded(most)}  Linklet\n", report.turn_of_targets(load, data))

    def test_more_urls_than_there_are_places_for_are_not_compared(self) -> None:
        data = Data.load()
        most, ends = report.most_targets(NOTHING, data, lambda _: False)

        self.assertFalse(ends)
        beyond = linklet.with_places(replace(NOTHING, targets=most + report.STEP), data)
        self.assertGreater(beyond.max_concurrency, 100)

    def test_with_so_many_clicks_that_containers_are_cheaper_there_is_no_first_url(self) -> None:
        text = report.turn_of_targets(Load(clicks=3_500 * MILLION), Data.load())

        self.assertNotIn(report.LINKLET, text)
        self.assertIn(report.CONTAINERS, text)

    def test_numbers_are_rounded_to_two_digits(self) -> None:
        texts = [report.rounded(number) for number in (0, 7, 94, 1_250_001, 25_920_000_000)]

        self.assertEqual(texts, ["0", "7", "94", "1,300,000", "26,000,000,000"])


class Inputs(unittest.TestCase):
    def test_defaults_are_those_of_the_template(self) -> None:
        load, template = Load(), Data.load().template

        names = {"log_days": "log_retention_days", "click_days": "raw_click_days"}
        for name in ("log_level", "monitoring", "tracing", "access_log", "click_recovery", "max_concurrency", *names):
            self.assertEqual(getattr(load, name), template[names.get(name, name)], name)

    def test_each_input_changes_what_comes_out(self) -> None:
        changed = {
            "limited": 5_000, "unlocks": 5_000, "renamed": 50_000, "logins": 50_000,
            "clicks": 5, "links": 5, "targets": 5, "workspace_targets": 5, "views": 5, "hot": 0.5, "peak": 500.0, "months": 5,
            "max_concurrency": 2, "log_days": 5, "click_days": 5,
        }
        self.assertEqual({*changed, *CHOICES, "prices", "assumptions"}, {field.name for field in fields(Load)})

        data = Data.load()

        def both(load: Load) -> float:
            return round(linklet.bill(load, data).total + containers.bill(load, data).total, 6)

        base = Load(targets=1_000, clicks=10 * MILLION)
        for name, value in changed.items():
            self.assertNotEqual(both(replace(base, **{name: value})), both(base), name)

    def test_each_value_of_a_setting_costs_something_else(self) -> None:
        data = Data.load()
        for name, values in CHOICES.items():
            totals = {round(linklet.bill(replace(Load(), **{name: value}), data).total, 6) for value in values}
            # Warnings and errors are no part of a month in which all goes well.
            self.assertEqual(len(totals), 2 if name == "log_level" else len(values), name)

    def test_make_knows_each_input(self) -> None:
        text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
        names = re.search(r"^COST_INPUTS := (.*)$", text, re.MULTILINE)

        self.assertEqual(set(names[1].split()) if names else set(), {field.name.upper() for field in fields(Load)})

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
            "LIMITED=1000001",
            "UNLOCKS=-1",
            "HOT=nan",
            "HOT=1.1",
            "PEAK=inf",
            "MONTHS=0",
            "TRACING=on",
            "MONITORING=some",
            "FREE_TIER=on",
            "CLICK_DAYS=0",
            "CLICK=1",
            "clicks=1",
            "CLICKS",
            "PRICES=/nowhere.toml",
        ):
            with self.subTest(argument):
                result = run([sys.executable, "-m", "infra.costs", argument])
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn(argument.partition("=")[2] or argument, result.stderr)

    def test_a_zero_that_divides_is_one_line_and_exit_code_2(self) -> None:
        for name, text in {"PRICES": "[scheduler_calls]\nper = 0", "ASSUMPTIONS": "[aws]\npoll_seconds = 0"}.items():
            with written(text) as path:
                result = run([sys.executable, "-m", "infra.costs", f"{name}={path}"])
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

    def test_its_pages_say_what_comes_out(self) -> None:
        data, found = Data.load(), []
        for path in (pages.COSTS, pages.LINKWATCH, pages.SCALE):
            text = path.read_text()
            found += [name for name, _ in pages.BLOCK.findall(text)]
            with self.subTest(path.name):
                self.assertEqual(pages.with_numbers(text, data), text, IF_MEANT)
        self.assertEqual(sorted(found), sorted(pages.BLOCKS))

    def test_each_input_is_explained(self) -> None:
        rows = re.findall(r"^\| `([A-Z_]+)` \|", self.text, re.MULTILINE)

        self.assertEqual(sorted(rows), sorted(field.name.upper() for field in fields(Load)))

    def test_each_row_has_its_words(self) -> None:
        for name, block in pages.BLOCK.findall(self.text + pages.LINKWATCH.read_text() + pages.SCALE.read_text()):
            if name != "answer":
                for row in block.splitlines():
                    cells = pages.cells_of(row)
                    self.assertTrue(cells[-1] or cells[0] in ("**Sum**", "In short"), row)

    def test_only_numbers_between_markers_change(self) -> None:
        def page(numbers: str) -> str:
            return f"It is $2.\n<!-- numbers: {numbers}\n\n<!-- /numbers -->\nIt is $3.\n"

        before = page("months_of_checks -->\n\n| With | Checks | USD | A million | What |\n|-|-|-|-|-|\n| `TARGETS=1` | 7 | 8 | 9 | one, of 2 |")

        after = pages.with_numbers(before, Data.load())

        numbers = " | ".join(pages.months_of_checks(Load(targets=1), Data.load()))
        self.assertEqual(after, before.replace(" 7 | 8 | 9 ", f" {numbers} "))
        self.assertNotEqual(after, before)

    def test_the_parts_add_up_to_what_comes_out(self) -> None:
        data = Data.load()
        few, links = replace(NOTHING, clicks=1_000), replace(NOTHING, views=0, months=1)
        for load, before, count in (
            (few, NOTHING, 1_000),
            (replace(NOTHING, clicks=MILLION, hot=1.0), NOTHING, MILLION),
            (replace(links, links=MILLION), links, MILLION),
        ):
            parts = sum(line.usd for line in pages.per_million(load, before, count, data))
            self.assertAlmostEqual(parts, more(load, before) / count * MILLION, places=4)
        names = [name for names in pages.GROUPS.values() for name in names]
        for line in linklet.bill(Load(), data).lines:
            self.assertEqual(len([name for name in names if line.name.startswith(name)]), 1, line.name)

    def test_the_readme_names_one_amount(self) -> None:
        idle = f"${linklet.bill(NOTHING, Data.load()).total:.0f}"

        self.assertEqual(re.findall(r"\$\d+(?:[.,]\d+)*", README.read_text()), [idle], "an idle month, without cents")

    def test_its_table_of_settings_has_each_of_them(self) -> None:
        rows = pages.names_of(dict(pages.BLOCK.findall(self.text))["settings"])

        self.assertGreater(len(rows), 5)
        for name in {*CHOICES, "click_days", "log_days"}:
            self.assertTrue(any(f"{name.upper()}=" in row for row in rows), name)


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
