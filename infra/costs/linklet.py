"""What Linklet costs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from .inputs import DAYS, HOURS, SECONDS, Load
from .tables import Bill, Data

GB = 1e9
MB_OF_GB = 1024
CORRELATION_ID_BYTES = 37  # in the line about a transaction, which has that of each of its clicks, with a space


@dataclass
class Calls:
    """A function's invocations in a month."""

    count: float = 0.0
    milliseconds: float = 0.0
    traces: float = 0.0
    log_bytes: float = 0.0


@dataclass
class Usage:
    """What a month uses."""

    load: Load
    data: Data
    requests: float = 0.0
    answer_bytes: float = 0.0
    functions: dict[str, Calls] = field(default_factory=lambda: defaultdict(Calls))
    reads: float = 0.0
    writes: float = 0.0
    stream_records: float = 0.0
    stored_bytes: float = 0.0
    sqs: float = 0.0
    sqs_fifo: float = 0.0
    publishes: float = 0.0
    schedules: float = 0.0

    def http(self, count: float, answer_bytes: float) -> None:
        self.requests += count
        self.answer_bytes += count * answer_bytes

    def call(self, function: str, count: float, milliseconds: float, a_second: float, lines: float = 1) -> None:
        """Invocations that take so long each and come so often, with so many lines in the log that have no metrics."""
        calls = self.functions[function]
        sizes, aws = self.data.log_bytes[function], self.data.assumed["aws"]
        info = sizes["info"] * lines if self.load.log_level == "info" else 0
        calls.count += count
        calls.milliseconds += count * milliseconds
        calls.traces += count * traced_share(a_second, aws)
        calls.log_bytes += count * (sizes["always"] + info + aws["platform_log_bytes"])

    def operation(self, name: str, times: float) -> None:
        self.reads += times * self.data.operations[name]["reads"]
        self.writes += times * self.data.operations[name]["writes"]

    def store(self, name: str, a_month: float) -> None:
        """What so many of these a month have become by now."""
        rows = self.data.rows[name]
        months = self.load.months if rows["days"] is None else min(self.load.months, rows["days"] / DAYS)
        overhead = rows["rows"] * self.data.assumed["aws"]["row_overhead_bytes"]
        self.stored_bytes += a_month * months * (rows["bytes"] + overhead)


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
    usage.operation("redirect", load.lone)
    usage.operation("redirect_held", load.burst)
    # While a link is held, each environment that serves it reads it once a second.
    environments = max(1, hot * milliseconds / 1000)
    usage.reads += load.burst / hot * environments * usage.data.operations["redirect"]["reads"]
    usage.stream_records += load.clicks
    usage.store("click", load.clicks)


def gather(usage: Usage, clicks: float, a_second: float) -> tuple[float, float]:
    """Takes clicks that come so often through stream and queue, and returns how many are in a batch of analytics."""
    template, aws, ms = usage.data.template, usage.data.assumed["aws"], usage.data.assumed["milliseconds"]
    relayed = 1 + a_second / aws["stream_shards"] * template["relay_window_seconds"]
    relayed = min(relayed, template["relay_batch"])
    counted = min(1 + a_second * template["analytics_window_seconds"], template["analytics_batch"])
    usage.call("relay", clicks / relayed, ms["relay"] + relayed * ms["relay_per_record"], a_second / relayed)
    # Sent and received as they were relayed, deleted as they were counted.
    usage.sqs += 2 * clicks / min(relayed, aws["messages_in_a_call"])
    usage.sqs += clicks / min(counted, aws["messages_in_a_call"])
    return counted, a_second / counted


def count_lone(usage: Usage) -> None:
    """Each click is in a transaction of its own, whatever else is in its batch."""
    load, ms = usage.load, usage.data.assumed["milliseconds"]
    batch, a_second = gather(usage, load.lone, load.clicks / SECONDS)
    milliseconds = ms["analytics"] + batch * ms["analytics_per_click"]
    usage.call("analytics", load.lone / batch, milliseconds, a_second, lines=batch)
    usage.operation("count_lone_click", load.lone)
    usage.store("ids_of_lone_click", load.lone)
    usage.store("day", load.lone / usage.data.assumed["traffic"]["clicks_a_day_on_an_ordinary_link"])


def count_bursts(usage: Usage) -> None:
    """A batch is full of clicks on one link, and is one transaction."""
    load, ms, template = usage.load, usage.data.assumed["milliseconds"], usage.data.template
    hot = usage.data.assumed["traffic"]["clicks_a_second_on_a_hot_link"]
    batch, a_second = gather(usage, load.burst, max(hot, load.clicks / SECONDS))
    milliseconds = ms["analytics"] + batch * ms["analytics_per_hot_click"]
    lines = batch * CORRELATION_ID_BYTES / usage.data.log_bytes["analytics"]["info"]
    usage.call("analytics", load.burst / batch, milliseconds, a_second, lines=lines)
    transactions = load.burst / template["analytics_batch"]
    usage.operation("count_full_batch", transactions)
    usage.store("ids_of_full_batch", transactions)


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


def checks_a_month(load: Load, data: Data) -> float:
    """As many as are wanted, or as many as the workers do."""
    wanted = load.targets / data.template["check_interval_seconds"]
    possible = load.max_concurrency * data.assumed["aws"]["checks_a_second_per_worker"]
    return SECONDS * min(wanted, possible)


def watch(usage: Usage) -> None:
    """Linkwatch. Its rounds are held whether anything is monitored or not."""
    data, ms = usage.data, usage.data.assumed["milliseconds"]
    calls, rounds = SECONDS / 60, 3 * SECONDS / data.template["check_interval_seconds"]
    checks = checks_a_month(usage.load, data)
    usage.schedules += calls
    usage.call("watch-tick", calls, ms["watch-tick"], calls / SECONDS)
    usage.call("watch-dispatch", rounds, ms["watch-dispatch"], rounds / SECONDS)
    usage.sqs += calls * 2 + 2 * rounds  # the rounds of a minute are sent in two calls
    usage.sqs_fifo += rounds  # how many checks wait
    usage.operation("round_without_targets", rounds)
    usage.call("watch-check", checks, ms["watch-check"], checks / SECONDS)
    usage.sqs_fifo += checks * (1 / data.assumed["aws"]["messages_in_a_call"] + 2)
    usage.operation("hundred_due_targets", checks / 100)
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
    bill = Bill(usage.data)
    price_requests(bill, usage)
    price_functions(bill, usage)
    price_tables(bill, usage)
    bill.add("SQS", sqs_requests=usage.sqs, sqs_fifo_requests=usage.sqs_fifo)
    bill.add("SNS", sns_publishes=usage.publishes)
    bill.add("Scheduler", scheduler_calls=usage.schedules)
    price_watching(bill, usage)
    aws, template = usage.data.assumed["aws"], usage.data.template
    bill.add("Secrets Manager", secrets=template["secrets"], secret_calls=aws["secret_calls_a_month"])
    return bill


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
    stored = usage.stored_bytes / GB
    bill.add("DynamoDB reads", dynamodb_reads=usage.reads)
    bill.add("DynamoDB writes", dynamodb_writes=usage.writes)
    bill.add("DynamoDB streams, read by Lambda", dynamodb_streams=usage.stream_records)
    bill.add("DynamoDB storage", dynamodb_storage=stored)
    bill.add("DynamoDB point-in-time recovery", dynamodb_recovery=stored)


def price_watching(bill: Bill, usage: Usage) -> None:
    load, data, functions = usage.load, usage.data, usage.functions
    logs = sum(calls.log_bytes for calls in functions.values())
    logs += usage.requests * data.assumed["aws"]["access_log_bytes"]
    # A metric costs in the hours in which it is written.
    metrics = sum(
        data.assumed["metrics"][name] * min(1, calls.count / HOURS) for name, calls in functions.items()
    )
    bill.add("CloudWatch logs", logs_written=logs / GB, logs_kept=logs / GB * load.log_days / DAYS)
    bill.add("CloudWatch metrics", metrics=metrics)
    bill.add("CloudWatch alarms", alarms=data.template["alarm_metrics"])
    bill.add("CloudWatch dashboard", dashboards=data.template["dashboards"])
    traces = sum(calls.traces for calls in functions.values()) if load.tracing == "Active" else 0
    bill.add("X-Ray", traces=traces)
