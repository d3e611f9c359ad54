"""What Linklet costs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import ceil, inf

from .inputs import DAYS, HOURS, SECONDS, Load
from .tables import Bill, Data

GB = 1e9
MB_OF_GB = 1024
CORRELATION_ID_BYTES = 37  # in the line about a batch, which names the requests that it is about, with a space
MOST_NAMED = 10  # more requests are not named
CLICKS_OF_FULL_BATCH = 500  # of which count_full_batch is measured
# Of Linkwatch: shared/domain/src/watch and shared/dynamodb/src/watch have these numbers.
TRACKS = 16
PLACES_OF_A_LANE = 8
STOPS_EARLY_MS = 500  # a round, before the next one
CHECKS_A_SECOND = 4  # of a place; only what a round reads at most depends on it
EXTRA_READS = 2_000  # how many targets a round reads beyond those
RESULT_BYTES = 14
RESULTS_OF_AN_ITEM = 64
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
        """An operation that writes a click, and perhaps something else into other tables."""
        operation, click = self.data.operations[name], self.data.operations["redirect"]["writes"]
        self.tables.reads += times * operation["reads"]
        self.tables.writes += times * (operation["writes"] - click)
        self.click_table.writes += times * click

    def store(self, name: str, a_month: float, without: float = 0.0) -> None:
        """What so many of these a month have become by now, each without so many bytes."""
        rows = self.data.rows[name]
        overhead = rows["rows"] * self.data.assumed["aws"]["row_overhead_bytes"]
        months = months_kept(self.load, name, rows["days"])
        tables = self.click_table if name == "click" else self.tables
        stored = a_month * months * (rows["bytes"] - without + overhead)
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
    take_uses(usage)
    unlock(usage)
    count_lone(usage)
    count_bursts(usage)
    create(usage)
    rename(usage)
    look(usage)
    log_in(usage)
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


def take_uses(usage: Usage) -> None:
    """What clicks on links with a limit cost more: a write before the answer, which the stream's filter keeps back."""
    uses, operations = usage.load.uses, usage.data.operations
    usage.tables.writes += uses * (operations["redirect_limited"]["writes"] - operations["redirect"]["writes"])
    usage.functions["redirect"].milliseconds += uses * usage.data.assumed["milliseconds"]["redirect_use"]
    usage.stream_records += uses


def unlock(usage: Usage) -> None:
    """Somebody opens the page that asks for a password, and sends the right one. Their click comes alone."""
    unlocks, ms, traffic = usage.load.unlocks, usage.data.assumed["milliseconds"], usage.data.assumed["traffic"]
    usage.http(unlocks, traffic["form_bytes"])
    usage.call("redirect", unlocks, ms["redirect"], unlocks / SECONDS)
    usage.tables.reads += unlocks * usage.data.operations["redirect"]["reads"]
    usage.http(unlocks, traffic["answer_bytes"])
    usage.call("unlock", unlocks, ms["unlock"], unlocks / SECONDS)
    usage.redirect("unlock", unlocks)
    usage.stream_records += unlocks
    usage.store("click", unlocks)


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
    clicks = load.counted_alone
    batch, a_second = gather(usage, clicks, load.all_clicks / SECONDS, usage.data.messages["groups"])
    milliseconds = ms["analytics"] + batch * ms["analytics_per_click"]
    info = batch * usage.data.log_bytes["analytics"]["info"] + named_bytes(batch)
    usage.call("analytics", clicks / batch, milliseconds, a_second, info)
    usage.operation("count_lone_click", clicks)
    usage.operation("settle", clicks / usage.data.assumed["traffic"]["lone_clicks_that_settle"])
    usage.store("day", clicks / usage.data.assumed["traffic"]["clicks_a_day_on_an_ordinary_link"])


def count_bursts(usage: Usage) -> None:
    """A batch is full of clicks on one link, which are counted together."""
    load, ms = usage.load, usage.data.assumed["milliseconds"]
    hot = usage.data.assumed["traffic"]["clicks_a_second_on_a_hot_link"]
    batch, a_second = gather(usage, load.burst, max(hot, load.all_clicks / SECONDS))
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


def rename(usage: Usage) -> None:
    """A job gives so many links another tag. Its turns, a few of 20 seconds, are less than a cent."""
    renamed = usage.load.renamed
    usage.operation("job", 1 if renamed else 0)
    usage.operation("rename_hundred", renamed / 100)
    usage.stream_records += renamed


def log_in(usage: Usage) -> None:
    """People sign in with the right password, from where they have done so before."""
    logins, ms = usage.load.logins, usage.data.assumed["milliseconds"]
    usage.http(logins, usage.data.assumed["traffic"]["answer_bytes"])
    usage.call("auth", logins, ms["login"], logins / SECONDS)
    usage.operation("login", logins)


def look(usage: Usage) -> None:
    pages, ms, traffic = usage.load.pages, usage.data.assumed["milliseconds"], usage.data.assumed["traffic"]
    usage.http(pages, traffic["page_bytes"])
    usage.http(pages, traffic["answer_bytes"])
    usage.call("list", pages, ms["list"], pages / SECONDS)
    usage.call("stats", pages, ms["stats"], pages / SECONDS)
    usage.operation("list_page", pages)
    usage.operation("month", pages)
    refreshes = pages / traffic["pages_a_refresh"]
    usage.http(refreshes, traffic["answer_bytes"])
    usage.call("auth", refreshes, ms["auth"], refreshes / SECONDS)
    usage.operation("refresh", refreshes)


@dataclass(frozen=True)
class Rounds:
    """The rounds of all lanes, and what one of them does on average."""

    lanes: int
    a_month: float
    due: float
    """How many targets its lane has."""
    read: float
    checks: float
    items: float
    """In how many items its results are stored."""
    milliseconds: float

    @property
    def checks_a_month(self) -> float:
        return self.a_month * self.checks


def lanes(places: int) -> int:
    """A power of two: as few as give each of them at most eight places."""
    return 1 << (ceil(places / PLACES_OF_A_LANE) - 1).bit_length()


def rounds(load: Load, data: Data) -> Rounds:
    """All targets are at hosts of their own, so places are all that bounds the checks."""
    ms, interval = data.assumed["milliseconds"], data.template["check_interval_seconds"]
    count = lanes(load.max_concurrency)
    places, due = load.max_concurrency / count, load.targets / count
    read = min(due, places * interval * CHECKS_A_SECOND + EXTRA_READS)
    own = ms["watch-check"] + read * ms["watch-check_per_target"]
    checks = min(due, places * max(0, interval * 1000 - STOPS_EARLY_MS - own) / ms["check"])
    # Places wait for the last check, and a lane without targets for none.
    waiting = min(1, due) * ceil(checks / places) * ms["check"]
    return Rounds(
        lanes=count,
        a_month=count * SECONDS / interval if load.targets else 0,
        due=due,
        read=read,
        checks=checks,
        items=items_of_a_round(load, checks),
        milliseconds=min(own + waiting, interval * 1000),
    )


def items_of_a_round(load: Load, checks: float) -> float:
    """The results of a workspace share items; in a lane, some workspaces have no target."""
    workspaces = max(1, load.targets / load.workspace_targets)
    of_each = checks / workspaces
    return workspaces * (ceil(of_each / RESULTS_OF_AN_ITEM) if of_each >= 1 else of_each)


def checks_a_month(load: Load, data: Data) -> float:
    """As many as are wanted, or as many as there is time for."""
    return rounds(load, data).checks_a_month


def with_places(load: Load, data: Data) -> Load:
    """With as many places as the targets need, also if the template doesn't give so many, and not fewer than there are."""
    ms, interval = data.assumed["milliseconds"], data.template["check_interval_seconds"]
    least = ceil(load.targets * ms["check"] / max(1, interval * 1000 - STOPS_EARLY_MS - ms["watch-check"]))
    load = replace(load, max_concurrency=max(load.max_concurrency, least))
    while (found := rounds(load, data)).checks < found.due:
        load = replace(load, max_concurrency=load.max_concurrency + 1)
    return load


def watch(usage: Usage) -> None:
    """Linkwatch looks each minute whether anything is monitored, and holds rounds only then."""
    ms, calls = usage.data.assumed["milliseconds"], SECONDS / 60
    usage.schedules += calls
    usage.call("watch-tick", calls, ms["watch-tick"], calls / SECONDS)
    usage.operation("look_for_targets", calls)
    if usage.load.targets:
        held = rounds(usage.load, usage.data)
        plan_rounds(usage, held)
        hold_rounds(usage, held)
        store_results(usage, held)


def plan_rounds(usage: Usage, held: Rounds) -> None:
    """A minute's rounds are sent together, and each is received and deleted by itself."""
    minutes = SECONDS / 60
    usage.sqs += minutes * ceil(held.a_month / minutes / usage.data.assumed["aws"]["messages_in_a_call"])
    usage.sqs += 2 * held.a_month


def hold_rounds(usage: Usage, held: Rounds) -> None:
    usage.call("watch-check", held.a_month, held.milliseconds, held.a_month / SECONDS)
    usage.operation("take_lane", held.a_month)
    # What is measured looks once into all tracks and into the notes.
    looks = 1 + TRACKS / held.lanes
    usage.operation("lane_without_targets", held.a_month * looks / (1 + TRACKS))
    usage.operation("hundred_due_targets", held.a_month * held.read / 100)
    usage.operation("leave_notes", held.a_month if held.checks < held.due else 0)
    usage.operation("success", held.checks_a_month)
    usage.stream_records += held.a_month


def store_results(usage: Usage, held: Rounds) -> None:
    items = held.a_month * held.items
    usage.operation("results_item", items)
    usage.stream_records += items
    # Of a full item, each of these has the part that its results take.
    empty = RESULTS_OF_AN_ITEM - (held.checks / held.items if held.items else 0)
    usage.store("results_item", items, without=empty * RESULT_BYTES)


def poll(usage: Usage) -> None:
    """What Lambda asks of queues that have nothing for it."""
    aws, template = usage.data.assumed["aws"], usage.data.template
    polls = SECONDS / aws["poll_seconds"] * aws["pollers_of_a_queue"]
    usage.sqs += polls * template["polled_queues"]


# -------------------------------------------------------------------------------------------------------- What it costs


def priced(usage: Usage) -> Bill:
    bill = Bill(usage.data, usage.load.is_free_tier)
    price_requests(bill, usage)
    price_functions(bill, usage)
    price_tables(bill, usage)
    bill.add("SQS", sqs_requests=usage.sqs)
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
