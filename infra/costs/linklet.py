"""What Linklet costs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import inf

from .inputs import DAYS, HOURS, SECONDS, Load
from .tables import Bill, Data

GB = 1e9
MB_OF_GB = 1024
CORRELATION_ID_BYTES = 37  # in the line about a batch, which names the requests that it is about, with a space
MOST_NAMED = 10  # more requests are not named
CLICKS_OF_FULL_BATCH = 500  # of which count_full_batch is measured
PRICES = {"STANDARD": "dynamodb", "STANDARD_INFREQUENT_ACCESS": "dynamodb_ia"}  # of a table class


@dataclass
class Calls:
    """A function's invocations in a month."""

    count: float = 0.0
    milliseconds: float = 0.0
    traces: float = 0.0
    log_bytes: float = 0.0


@dataclass
class Tables:
    """What tables of one class are asked, and what they hold."""

    reads: float = 0.0
    writes: float = 0.0
    stored_bytes: float = 0.0
    recovered_bytes: float = 0.0


@dataclass
class Usage:
    """What a month uses."""

    load: Load
    data: Data
    requests: float = 0.0
    answer_bytes: float = 0.0
    functions: dict[str, Calls] = field(default_factory=lambda: defaultdict(Calls))
    tables: Tables = field(default_factory=Tables)
    click_table: Tables = field(default_factory=Tables)
    stream_records: float = 0.0
    sqs: float = 0.0
    sqs_fifo: float = 0.0
    publishes: float = 0.0
    schedules: float = 0.0

    def http(self, count: float, answer_bytes: float) -> None:
        self.requests += count
        self.answer_bytes += count * answer_bytes

    def call(
        self, function: str, count: float, milliseconds: float, a_second: float, info: float | None = None
    ) -> None:
        """Invocations that take so long each and come so often.

        `info` are the bytes that level info adds to an invocation's line, if they aren't those that were measured.
        """
        calls = self.functions[function]
        calls.count += count
        calls.milliseconds += count * milliseconds
        calls.traces += count * traced_share(a_second, self.data.assumed["aws"])
        calls.log_bytes += count * self.log_bytes(function, info)

    def log_bytes(self, function: str, info: float | None) -> float:
        """Of one invocation. Metrics are members of its line, which is then written at every level."""
        sizes = self.data.log_bytes[function]
        written = sizes["line"] + sizes["metrics"] if self.load.monitoring == "full" else 0
        if self.load.log_level == "info":
            written = written or sizes["line"]
            written += sizes["info"] if info is None else info
        return written

    def operation(self, name: str, times: float) -> None:
        self.tables.reads += times * self.data.operations[name]["reads"]
        self.tables.writes += times * self.data.operations[name]["writes"]

    def redirect(self, name: str, times: float) -> None:
        """An operation that writes nothing but a click."""
        self.tables.reads += times * self.data.operations[name]["reads"]
        self.click_table.writes += times * self.data.operations[name]["writes"]

    def store(self, name: str, a_month: float) -> None:
        """What so many of these a month have become by now."""
        rows = self.data.rows[name]
        overhead = rows["rows"] * self.data.assumed["aws"]["row_overhead_bytes"]
        months = months_kept(self.load, name, rows["days"])
        tables = self.click_table if name == "click" else self.tables
        stored = a_month * months * (rows["bytes"] + overhead)
        tables.stored_bytes += stored
        tables.recovered_bytes += stored if self.has_recovery(name) else 0

    def has_recovery(self, name: str) -> bool:
        """Whether the table of these rows has point-in-time recovery."""
        if name == "click":
            return self.load.click_recovery == "on"
        return name != "notification" or self.data.template["notification_recovery"]


def months_kept(load: Load, name: str, days: float | None) -> float:
    """How many months' rows there are by now, of those that are kept for so many days."""
    days = load.click_days if name == "click" else days
    return load.months if days is None else min(load.months, days / DAYS)


def traced_share(a_second: float, aws: dict[str, float]) -> float:
    """X-Ray traces the first invocations of each second and a share of the others."""
    if a_second <= aws["traces_a_second"]:
        return 1.0
    first = aws["traces_a_second"]
    return (first + aws["traces_of_the_others"] * (a_second - first)) / a_second


def bill(load: Load, data: Data) -> Bill:
    usage = Usage(load, data)
    follow(usage)
    count_lone(usage)
    count_bursts(usage)
    create(usage)
    look(usage)
    watch(usage)
    poll(usage)
    return priced(usage)


# --------------------------------------------------------------------------------------------------------- What is used


def follow(usage: Usage) -> None:
    load, traffic = usage.load, usage.data.assumed["traffic"]
    milliseconds = usage.data.assumed["milliseconds"]["redirect"]
    hot = traffic["clicks_a_second_on_a_hot_link"]
    usage.http(load.clicks, traffic["answer_bytes"])
    usage.call("redirect", load.lone, milliseconds, load.lone / SECONDS)
    usage.call("redirect", load.burst, milliseconds, hot)
    usage.redirect("redirect", load.lone)
    usage.redirect("redirect_held", load.burst)
    # While a link is held, each environment that serves it reads it once a second.
    environments = max(1, hot * milliseconds / 1000)
    usage.tables.reads += load.burst / hot * environments * usage.data.operations["redirect"]["reads"]
    usage.stream_records += load.clicks
    usage.store("click", load.clicks)


def gather(usage: Usage, clicks: float, a_second: float, most_in_a_message: float = inf) -> tuple[float, float]:
    """Takes clicks that come so often through stream and queue, and returns how many are in a batch of analytics."""
    template, aws, ms = usage.data.template, usage.data.assumed["aws"], usage.data.assumed["milliseconds"]
    click_bytes = usage.data.messages["click"]
    relayed = 1 + a_second / aws["stream_shards"] * template["relay_window_seconds"]
    relayed = min(relayed, template["relay_batch"])
    # Clicks that are relayed together share requests, which are billed by their bytes, however many messages these are.
    in_a_request = min(relayed, aws["billed_message_bytes"] / click_bytes)
    in_a_message = min(in_a_request, most_in_a_message)
    most = min(template["analytics_batch"] * in_a_message, aws["batch_bytes"] / click_bytes)
    counted = min(1 + a_second * template["analytics_window_seconds"], most)
    usage.call("relay", clicks / relayed, ms["relay"] + relayed * ms["relay_per_record"], a_second / relayed)
    # Sent and received as they were relayed, deleted as they were counted.
    usage.sqs += 2 * clicks / in_a_request
    usage.sqs += clicks / min(counted, in_a_message * aws["messages_in_a_call"])
    return counted, a_second / counted


def count_lone(usage: Usage) -> None:
    """Each click is counted by itself, whatever else is in its batch."""
    load, ms = usage.load, usage.data.assumed["milliseconds"]
    batch, a_second = gather(usage, load.lone, load.clicks / SECONDS, usage.data.messages["groups"])
    milliseconds = ms["analytics"] + batch * ms["analytics_per_click"]
    info = batch * usage.data.log_bytes["analytics"]["info"] + named_bytes(batch)
    usage.call("analytics", load.lone / batch, milliseconds, a_second, info)
    usage.operation("count_lone_click", load.lone)
    usage.operation("settle", load.lone / usage.data.assumed["traffic"]["lone_clicks_that_settle"])
    usage.store("day", load.lone / usage.data.assumed["traffic"]["clicks_a_day_on_an_ordinary_link"])


def count_bursts(usage: Usage) -> None:
    """A batch is full of clicks on one link, which are counted together."""
    load, ms = usage.load, usage.data.assumed["milliseconds"]
    hot = usage.data.assumed["traffic"]["clicks_a_second_on_a_hot_link"]
    batch, a_second = gather(usage, load.burst, max(hot, load.clicks / SECONDS))
    milliseconds = ms["analytics"] + batch * ms["analytics_per_hot_click"]
    info = usage.data.log_bytes["analytics"]["info"] + named_bytes(batch)
    usage.call("analytics", load.burst / batch, milliseconds, a_second, info)
    batches = load.burst / CLICKS_OF_FULL_BATCH
    usage.operation("count_full_batch", batches)
    usage.store("ids_of_full_batch", batches)


def named_bytes(batch: float) -> float:
    """What a batch's line has more than that of a batch with one click: it names all requests, or none of too many."""
    return ((batch if batch <= MOST_NAMED else 0) - 1) * CORRELATION_ID_BYTES


def create(usage: Usage) -> None:
    """Links that come one by one, without an idempotency key, each the first call of its minute."""
    load, ms = usage.load, usage.data.assumed["milliseconds"]
    a_second = load.links / SECONDS
    usage.http(load.links, usage.data.assumed["traffic"]["answer_bytes"])
    usage.call("shorten", load.links, ms["shorten"], a_second)
    usage.operation("shorten", load.links)
    usage.store("link", load.links)
    usage.store("total", load.links)
    usage.stream_records += load.links
    usage.call("relay", load.links, ms["relay"] + ms["relay_per_record"], a_second)
    usage.sqs += 3 * load.links
    usage.call("notify", load.links, ms["notify"], a_second)
    usage.operation("notify", load.links)
    usage.store("notification", load.links)
    usage.publishes += load.links


def look(usage: Usage) -> None:
    pages, ms, traffic = usage.load.pages, usage.data.assumed["milliseconds"], usage.data.assumed["traffic"]
    usage.http(pages, traffic["page_bytes"])
    usage.http(pages, traffic["answer_bytes"])
    usage.call("list", pages, ms["list"], pages / SECONDS)
    usage.call("stats", pages, ms["stats"], pages / SECONDS)
    usage.operation("list_page", pages)
    usage.operation("summary", pages)
    refreshes = pages / traffic["pages_a_refresh"]
    usage.http(refreshes, traffic["answer_bytes"])
    usage.call("auth", refreshes, ms["auth"], refreshes / SECONDS)
    usage.operation("refresh", refreshes)


def checks_a_month(load: Load, data: Data) -> float:
    """As many as are wanted, or as many as the workers do."""
    wanted = load.targets / data.template["check_interval_seconds"]
    possible = load.max_concurrency * data.assumed["aws"]["checks_a_second_per_worker"]
    return SECONDS * min(wanted, possible)


EXTRA_READS = 2_000  # of watch-dispatch: how many targets a round reads beyond those it has room for


def due_targets_a_month(load: Load, data: Data) -> float:
    """How many targets all rounds read: all that are due, or as many as a round may read."""
    interval = data.template["check_interval_seconds"]
    of_workers = load.max_concurrency * data.assumed["aws"]["checks_a_second_per_worker"] * interval
    return 3 * SECONDS / interval * min(load.targets / 3, of_workers / 3 + EXTRA_READS)


def watch(usage: Usage) -> None:
    """Linkwatch looks each minute whether anything is monitored, and holds rounds only then."""
    ms, calls = usage.data.assumed["milliseconds"], SECONDS / 60
    usage.schedules += calls
    usage.call("watch-tick", calls, ms["watch-tick"], calls / SECONDS)
    usage.operation("look_for_targets", calls)
    if usage.load.targets:
        usage.sqs += calls * 2  # the rounds of a minute are sent in two calls
        hold_rounds(usage)
        check(usage)


def hold_rounds(usage: Usage) -> None:
    rounds = 3 * SECONDS / usage.data.template["check_interval_seconds"]
    usage.call("watch-dispatch", rounds, usage.data.assumed["milliseconds"]["watch-dispatch"], rounds / SECONDS)
    usage.sqs += 2 * rounds
    usage.sqs_fifo += rounds  # how many checks wait
    usage.operation("round_without_targets", rounds)


def check(usage: Usage) -> None:
    checks = checks_a_month(usage.load, usage.data)
    usage.call("watch-check", checks, usage.data.assumed["milliseconds"]["watch-check"], checks / SECONDS)
    usage.sqs_fifo += checks * (1 / usage.data.assumed["aws"]["messages_in_a_call"] + 2)
    usage.operation("hundred_due_targets", due_targets_a_month(usage.load, usage.data) / 100)
    usage.operation("check", checks)
    usage.stream_records += checks
    usage.store("result", checks)


def poll(usage: Usage) -> None:
    """What Lambda asks of queues that have nothing for it."""
    aws, template = usage.data.assumed["aws"], usage.data.template
    polls = SECONDS / aws["poll_seconds"] * aws["pollers_of_a_queue"]
    usage.sqs += polls * template["polled_standard_queues"]
    usage.sqs_fifo += polls * template["polled_fifo_queues"]


# -------------------------------------------------------------------------------------------------------- What it costs


def priced(usage: Usage) -> Bill:
    bill = Bill(usage.data, usage.load.is_free_tier)
    price_requests(bill, usage)
    price_functions(bill, usage)
    price_tables(bill, usage)
    bill.add("SQS", sqs_requests=usage.sqs, sqs_fifo_requests=usage.sqs_fifo)
    bill.add("SNS", sns_publishes=usage.publishes)
    bill.add("Scheduler", scheduler_calls=usage.schedules)
    price_watching(bill, usage)
    bill.add("Secrets Manager", secrets=usage.data.template["secrets"], secret_calls=secret_calls(usage))
    return bill


def secret_calls(usage: Usage) -> float:
    """A function reads the secret of tokens when it is called and has had its copy for too long."""
    aws, verify = usage.data.assumed["aws"], usage.data.template["verifies_tokens"]
    counts = [calls.count for name, calls in usage.functions.items() if name in verify]
    # From one reading to the next it takes that long, and then until the next call.
    return sum(aws["secret_calls"] * count / (1 + count * aws["secret_seconds"] / SECONDS) for count in counts)


def price_requests(bill: Bill, usage: Usage) -> None:
    sent = usage.answer_bytes / GB
    bill.add("API Gateway", http_api_requests=usage.requests)
    if usage.load.edge == "cloudfront":
        # What goes from AWS to CloudFront is free.
        bill.add("CloudFront", cloudfront_requests=usage.requests, cloudfront_data_out=sent)
    else:
        bill.add("Data transfer", data_out=sent)


def price_functions(bill: Bill, usage: Usage) -> None:
    for name, calls in usage.functions.items():
        gigabytes = usage.data.template["memory_mb"][name] / MB_OF_GB
        time = calls.milliseconds / 1000 * gigabytes
        bill.add(f"Lambda {name}", lambda_requests=calls.count, lambda_time=time)


def price_tables(bill: Bill, usage: Usage) -> None:
    clicks = PRICES[usage.data.template["click_table_class"]]
    price_class(bill, usage.tables, "dynamodb", "DynamoDB")
    price_class(bill, usage.click_table, clicks, "Raw clicks")
    bill.add("DynamoDB streams, read by Lambda", dynamodb_streams=usage.stream_records)


def price_class(bill: Bill, tables: Tables, prices: str, name: str) -> None:
    bill.add(f"{name} reads", **{f"{prices}_reads": tables.reads})
    bill.add(f"{name} writes", **{f"{prices}_writes": tables.writes})
    bill.add(f"{name} storage", **{f"{prices}_storage": tables.stored_bytes / GB})
    bill.add(f"{name} point-in-time recovery", dynamodb_recovery=tables.recovered_bytes / GB)


def price_watching(bill: Bill, usage: Usage) -> None:
    load, template, functions = usage.load, usage.data.template, usage.functions
    logs = sum(calls.log_bytes for calls in functions.values())
    if load.access_log == "on":
        logs += usage.requests * usage.data.assumed["aws"]["access_log_bytes"]
    bill.add("CloudWatch logs", logs_written=logs / GB, logs_kept=logs / GB * load.log_days / DAYS)
    bill.add("CloudWatch metrics", metrics=own_metrics(usage) if load.monitoring == "full" else 0)
    bill.add("CloudWatch alarms", alarms=template["alarm_metrics"][load.monitoring])
    bill.add("CloudWatch dashboard", large_dashboards=template["dashboards"][load.monitoring])
    traces = sum(calls.traces for calls in functions.values()) if load.tracing == "Active" else 0
    bill.add("X-Ray", traces=traces)


def own_metrics(usage: Usage) -> float:
    """A metric costs in the hours in which it is written."""
    metrics = usage.data.assumed["metrics"]
    return sum(metrics[name] * min(1, calls.count / HOURS) for name, calls in usage.functions.items())
