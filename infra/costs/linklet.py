"""What Linklet costs: what is done in a month, times what work.toml says of each."""

from math import ceil
from types import SimpleNamespace
from typing import Any

from .inputs import Load
from .tables import DAYS, GB, Bill

HOURS, MINUTES, SECONDS = DAYS * 24, DAYS * 24 * 60, DAYS * 24 * 3600
MB_OF_GB = 1024
PRICES = {"STANDARD": "dynamodb", "STANDARD_INFREQUENT_ACCESS": "dynamodb_ia"}  # of a table class


def bill(load: Load, tables: SimpleNamespace) -> Bill:
    month, traffic = Month(load, tables), tables.traffic
    for work in tables.work.values():
        if "times" in work:
            times = getattr(load, work["times"]) / (traffic[work["per"]] if "per" in work else 1)
            month.do(work, times, traffic[work["a_second"]] if "a_second" in work else times / SECONDS)
    hot = traffic["clicks_a_second_on_a_hot_link"]
    # Each environment that serves a hot link reads it once a second.
    environments = max(1, hot * tables.milliseconds["redirect"] / 1000)
    month.do(tables.work["held_link"], load.burst / hot * environments)
    month.count(load.counted_alone, load.all_clicks / SECONDS, is_hot=False)
    month.count(load.burst, max(hot, load.all_clicks / SECONDS), is_hot=True)
    if load.targets:
        month.hold(ticks(load, tables))
    month.run()
    return month


class Month(Bill):
    """A bill that grows with what is done."""

    def do(self, work: dict[str, Any], times: float, a_second: float = 0) -> None:
        """Adds so many times a row of work.toml."""
        tables = self.tables
        for size in work.get("answers", []):
            self.add("http_api_requests", times)
            self.send(times, tables.traffic[size])
            if self.load.access_log == "on":
                self.log(times * tables.aws["access_log_bytes"])
        for function, time in work.get("calls", {}).items():
            self.call(function, times, tables.milliseconds[time], a_second)
        for function, time in work.get("longer", {}).items():
            self.take(function, times * tables.milliseconds[time])
        operations = [(tables.operations[name], count) for name, count in work.get("operations", {}).items()]
        reads, writes = (sum(units[part] * count for units, count in operations) for part in ("reads", "writes"))
        raw = work.get("raw_clicks", 0) * tables.operations["redirect"]["writes"]
        self.add("dynamodb_reads", times * reads)
        self.add("dynamodb_writes", times * (writes - raw))
        self.add(f"{PRICES[tables.template['click_table_class']]}_writes", times * raw, "Raw clicks writes")
        for name, count in work.get("rows", {}).items():
            self.store(name, times * count, tables.rows[name]["bytes"])
        for price, quantity in work.get("uses", {}).items():
            self.add(price, times * quantity)

    def call(self, function: str, times: float, ms: float, a_second: float, info: float | None = None) -> None:
        """Calls of a function. `info` are the bytes that level info adds to a line, if not those that were measured."""
        self.add("lambda_requests", times, f"Lambda {function}")
        self.take(function, times * ms)
        if self.load.tracing == "Active":
            # X-Ray traces the first calls of each second and a share of the others.
            first, share = self.tables.aws["traces_a_second"], self.tables.aws["traces_of_the_others"]
            self.add("traces", times if a_second <= first else times * (first + share * (a_second - first)) / a_second)
        sizes = self.tables.log_bytes[function]
        # Metrics are members of the line, which is then written at every level.
        written = sizes["line"] + sizes["metrics"] if self.load.monitoring == "full" else 0
        if self.load.log_level == "info":
            written = (written or sizes["line"]) + (sizes["info"] if info is None else info)
        self.log(times * written)

    def take(self, function: str, ms: float) -> None:
        gigabytes = self.tables.template["memory_mb"][function] / MB_OF_GB
        self.add("lambda_time", ms / 1000 * gigabytes, f"Lambda {function}")

    def store(self, name: str, a_month: float, size: float) -> None:
        """Adds rows that are written each month, as many as there are by now."""
        size += self.tables.rows[name]["rows"] * self.tables.aws["row_overhead_bytes"]
        stored = a_month * months_kept(self.load, self.tables, name) * size / GB
        template = self.tables.template
        classes = {"click": ("Raw clicks", PRICES[template["click_table_class"]])}
        table, prices = classes.get(name, ("DynamoDB", "dynamodb"))
        recovery = {"click": self.load.click_recovery == "on", "notification": template["notification_recovery"]}
        self.add(f"{prices}_storage", stored, f"{table} storage")
        if recovery.get(name, True):
            self.add("dynamodb_recovery", stored, f"{table} point-in-time recovery")

    def count(self, clicks: float, a_second: float, is_hot: bool) -> None:
        """Takes clicks through stream and queue to analytics, which counts those of a hot link together."""
        template, aws, ms, code = self.tables.template, self.tables.aws, self.tables.milliseconds, self.tables.code
        size = self.tables.messages["click"]
        # Each shard of the stream is gathered for itself.
        relayed = 1 + a_second / aws["stream_shards"] * template["relay_window_seconds"]
        relayed = min(relayed, template["relay_batch"])
        # Clicks that are relayed together share requests, which are billed by their bytes.
        in_request = min(relayed, aws["billed_message_bytes"] / size)
        in_message = in_request if is_hot else min(in_request, self.tables.messages["groups"])
        batch = 1 + a_second * template["analytics_window_seconds"]
        batch = min(batch, template["analytics_batch"] * in_message, aws["batch_bytes"] / size)
        self.call("relay", clicks / relayed, ms["relay"] + relayed * ms["relay_per_record"], a_second / relayed)
        batch_ms = ms["analytics"] + batch * ms["analytics_per_hot_click" if is_hot else "analytics_per_click"]
        # The line names one request when it is measured. It names up to ten, and none of more.
        named = (batch if batch <= code["most_named"] else 0) - 1
        info = self.tables.log_bytes["analytics"]["info"] * (1 if is_hot else batch) + named * code["correlation_id_bytes"]
        self.call("analytics", clicks / batch, batch_ms, a_second / batch, info)
        # Sent and received as they were relayed, deleted as they were counted.
        self.add("sqs_requests", 2 * clicks / in_request)
        self.add("sqs_requests", clicks / min(batch, in_message * aws["messages_in_a_call"]))

    def hold(self, held: SimpleNamespace) -> None:
        """Adds the ticks of Linkwatch."""
        # A minute's ticks are sent together.
        self.add("sqs_requests", MINUTES * ceil(held.a_month / MINUTES / self.tables.aws["messages_in_a_call"]))
        self.do(self.tables.work["tick"], held.a_month)
        self.call("watch-check", held.a_month, held.ms, held.a_month / SECONDS)
        shards = self.tables.code["shards"]
        operations = {
            # What is measured looks into all shards and once into the notes.
            "partition_without_targets": (1 + shards / held.partitions) / (1 + shards),
            "hundred_due_targets": held.read / 100,
            "leave_notes": 1 if held.checks < held.due else 0,
            "success": held.checks,
        }
        self.do({"operations": operations}, held.a_month)
        self.store_results(held)

    def store_results(self, held: SimpleNamespace) -> None:
        items, code = held.a_month * held.items, self.tables.code
        self.do(self.tables.work["results_item"], items)
        empty = code["results_of_an_item"] - (held.checks / held.items if held.items else 0)
        self.store("results_item", items, self.tables.rows["results_item"]["bytes"] - empty * code["result_bytes"])

    def run(self) -> None:
        """Adds what depends on settings and on all calls together."""
        template, aws, load = self.tables.template, self.tables.aws, self.load
        # Lambda asks queues again and again, also those that have nothing for it.
        self.add("sqs_requests", SECONDS / aws["poll_seconds"] * aws["pollers_of_a_queue"] * template["polled_queues"])
        self.add("alarms", template["alarm_metrics"][load.monitoring])
        self.add("large_dashboards", template["dashboards"][load.monitoring])
        self.add("secrets", template["secrets"])
        for function in template["memory_mb"]:
            calls = self.lines.get(f"Lambda {function}", {}).get("lambda_requests", 0)
            if function in template["verifies_tokens"]:
                # The secret is read again by the first call after so many seconds.
                self.add("secret_calls", aws["secret_calls"] * calls / (1 + calls * aws["secret_seconds"] / SECONDS))
            if load.monitoring == "full":
                # A metric costs in the hours in which it is written.
                self.add("metrics", self.tables.metrics[function] * min(1, calls / HOURS))


def months_kept(load: Load, tables: SimpleNamespace, name: str) -> float:
    """How many months' rows there are by now."""
    days = load.click_days if name == "click" else tables.rows[name]["days"]
    return load.months if days is None else min(load.months, days / DAYS)


def ticks(load: Load, tables: SimpleNamespace) -> SimpleNamespace:
    """All ticks of Linkwatch in a month, and what one does on average. Each target is at a host of its own."""
    ms, code, interval = tables.milliseconds, tables.code, tables.template["check_interval_seconds"]
    # The partitions are a power of two: as few as have room for all places.
    partitions = 1 << (ceil(load.max_concurrency / code["places_of_a_partition"]) - 1).bit_length()
    places, due = load.max_concurrency / partitions, load.targets / partitions
    read = min(due, places * interval * code["checks_a_second"] + code["extra_reads"])
    own = ms["watch-check"] + read * ms["watch-check_per_target"]
    checks = min(due, places * max(0, interval * 1000 - code["stops_early_ms"] - own) / ms["check"])
    # The results of a workspace share items. In a partition, some workspaces have no target.
    workspaces = max(1, load.targets / load.workspace_targets)
    of_each = checks / workspaces
    items = workspaces * (ceil(of_each / code["results_of_an_item"]) if of_each >= 1 else of_each)
    # A tick waits for its last check. In a partition without targets there is none.
    waiting = min(1, due) * ceil(checks / places) * ms["check"]
    a_month = partitions * SECONDS / interval if load.targets else 0
    return SimpleNamespace(
        partitions=partitions, a_month=a_month, due=due, read=read, checks=checks, items=items,
        ms=min(own + waiting, interval * 1000), all_checks=a_month * checks,
    )


def with_places(load: Load, tables: SimpleNamespace) -> Load:
    """The same with as many places as the targets need, even if the template doesn't allow so many."""
    while (found := ticks(load, tables)).checks < found.due:
        load = load.but(max_concurrency=load.max_concurrency + 1)
    return load


def watching(load: Load, tables: SimpleNamespace) -> float:
    """What monitoring adds to the month."""
    return bill(load, tables).total - bill(load.but(targets=0), tables).total
