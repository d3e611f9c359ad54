"""What the same work costs in the other design: containers on Fargate behind a load balancer, and PostgreSQL on RDS in
two zones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .inputs import DAYS, HOURS, SECONDS, Load
from .linklet import GB, Usage, checks_a_month, months_kept, price_tables, rounds, store_results
from .tables import Bill, Data


class TooMuch(Exception):
    """More than one database and its containers can do."""


@dataclass(frozen=True)
class Size:
    tasks: int
    database: dict[str, Any]
    storage_gb: float
    data_gb: float

    def __str__(self) -> str:
        return f"{self.tasks} containers, {self.database['name']} in two zones with {self.storage_gb:,.0f} GB"


@dataclass(frozen=True)
class Rates:
    """What there is to do in a second: clicks on average, so many times that at the peak, and checks all the time.

    Of the clicks, some take a use of a limit, and some come with a password.
    """

    lone: float
    burst: float
    uses: float
    unlocks: float
    peak: float
    checks: float

    @property
    def clicks(self) -> float:
        return self.lone + self.burst


def rates(load: Load, data: Data) -> Rates:
    return Rates(
        lone=load.counted_alone / SECONDS,
        burst=load.burst / SECONDS,
        uses=load.uses / SECONDS,
        unlocks=load.unlocks / SECONDS,
        peak=load.peak,
        checks=checks_a_month(load, data) / SECONDS,
    )


def size(load: Load, data: Data) -> Size:
    """The smallest that does it.

    Raises TooMuch if there is none.
    """
    wanted = rates(load, data)
    stored = data_gb(load, data)
    database = data.assumed["database"]
    storage = max(database["least_gb"], stored * database["free_space"])
    if storage > database["most_gb"]:
        raise TooMuch(f"{storage:,.0f} GB are more than one database has room for ({database['most_gb']:,} GB)")
    for candidate in database["classes"]:
        if fits(candidate, wanted, stored, database):
            return Size(tasks(wanted, data), candidate, storage, stored)
    peak = wanted.clicks * wanted.peak
    raise TooMuch(
        f"{peak:,.0f} clicks a second at the peak, or {stored:,.0f} GB of data, are more than one database does"
    )


def fits(candidate: dict[str, Any], wanted: Rates, stored: float, database: dict[str, Any]) -> bool:
    clicks = wanted.lone * database["click_ms"] + wanted.burst * database["hot_click_ms"]
    clicks += wanted.uses * database["use_ms"] + wanted.unlocks * database["unlock_ms"]
    checks = wanted.checks * database["check_ms"]
    return (
        (clicks * wanted.peak + checks) / 1000 <= candidate["vcpu"] * database["busy"]
        and (clicks + checks) / 1000 <= candidate["sustained"]
        and stored * database["memory_of_data"] <= candidate["memory_gb"]
    )


def tasks(wanted: Rates, data: Data) -> int:
    containers = data.assumed["containers"]
    visits = wanted.clicks * containers["click_ms"] + wanted.unlocks * containers["unlock_ms"]
    milliseconds = visits * wanted.peak + wanted.checks * containers["check_ms"]
    needed = milliseconds / 1000 / (containers["vcpu"] * containers["busy"])
    count = max(int(containers["least"]), math.ceil(needed) + 1)
    if count > containers["max_tasks"]:
        raise TooMuch(f"{count:,} containers are more than a service has ({containers['max_tasks']:,})")
    return count


def data_gb(load: Load, data: Data) -> float:
    """What is stored by now, kept as long as Linklet keeps it."""
    database, rows = data.assumed["database"], data.rows

    def months(name: str) -> float:
        return months_kept(load, name, rows[name]["days"])

    days_of_links = load.counted_alone / data.assumed["traffic"]["clicks_a_day_on_an_ordinary_link"]
    stored = load.all_clicks * months("click") * database["click_bytes"]
    stored += load.links * months("link") * database["link_bytes"]
    stored += days_of_links * months("day") * database["day_bytes"]
    stored += load.links * months("notification") * database["notification_bytes"]
    stored += checks_a_month(load, data) * months("results_item") * database["result_bytes"]
    return stored / GB


def bill(load: Load, data: Data) -> Bill:
    """Raises TooMuch."""
    wanted, needed, containers = rates(load, data), size(load, data), data.assumed["containers"]
    requests = load.clicks + 2 * load.unlocks + load.links + 2 * load.pages
    bill = Bill(data, load.is_free_tier)
    # The form of a password is sent over the connection of its page.
    capacity = wanted.clicks / containers["connections_per_lcu"] * HOURS
    bill.add("Load balancer", alb_hours=HOURS, alb_capacity=capacity)
    bill.add("Public addresses", public_ipv4=(containers["public_addresses"] + needed.tasks) * HOURS)
    task_hours = needed.tasks * HOURS
    bill.add(
        "Fargate",
        fargate_cpu=task_hours * containers["vcpu"],
        fargate_memory=task_hours * containers["memory_gb"],
    )
    add_database(bill, load, needed)
    bill.add("SNS", sns_publishes=load.links)
    add_watching(bill, load, requests)
    bill.add("Secrets Manager", secrets=containers["secrets"])
    add_transfer(bill, load, requests)
    return bill


def add_watching(bill: Bill, load: Load, requests: float) -> None:
    """By the same settings as Linklet: what that leaves out is left out here."""
    containers = bill.data.assumed["containers"]
    logs = requests * containers["log_bytes"] / GB if load.log_level == "info" else 0
    bill.add("CloudWatch logs", logs_written=logs, logs_kept=logs * load.log_days / DAYS)
    bill.add("CloudWatch alarms", alarms=0 if load.monitoring == "none" else containers["alarms"])
    bill.add("CloudWatch dashboard", dashboards=containers["dashboards"] if load.monitoring == "full" else 0)


def add_database(bill: Bill, load: Load, needed: Size) -> None:
    database, zones = bill.data.assumed["database"], 2
    instances = needed.database["times"] * zones
    # The price is that of an instance of which this one is a multiple.
    bill.add(f"RDS {needed.database['name']}", **{needed.database["price"]: instances * HOURS})
    bill.add("RDS storage", rds_storage=needed.storage_gb * zones)
    changes = load.all_clicks * database["log_bytes_of_click"] * database["backup_days"] / DAYS / GB
    # As much as is provisioned is free.
    bill.add("RDS backups", rds_backup=max(0, needed.data_gb + changes - needed.storage_gb))


def add_transfer(bill: Bill, load: Load, requests: float) -> None:
    traffic = bill.data.assumed["traffic"]
    pages, forms = load.pages, load.unlocks
    answers = (requests - pages - forms) * traffic["answer_bytes"]
    sent = (answers + pages * traffic["page_bytes"] + forms * traffic["form_bytes"]) / GB
    if load.edge == "cloudfront":
        bill.add("CloudFront", cloudfront_requests=requests, cloudfront_data_out=sent)
    else:
        bill.add("Data transfer", data_out=sent)


def monitor(load: Load, data: Data) -> Bill:
    """Containers that do nothing but hold Linkwatch's rounds, in the place of its functions and its queue.

    They store the same results in the same table, hold all targets in memory, and are no more than the checks need: while one
    is replaced, nothing is checked.
    """
    containers, held = data.assumed["containers"], rounds(load, data)
    busy = held.checks_a_month / SECONDS * containers["check_ms"] / 1000
    hours = math.ceil(busy / (containers["vcpu"] * containers["busy"])) * HOURS
    usage = Usage(load, data)
    store_results(usage, held)
    bill = Bill(data, load.is_free_tier)
    bill.add("Fargate", fargate_cpu=hours * containers["vcpu"], fargate_memory=hours * containers["memory_gb"])
    bill.add("Public addresses", public_ipv4=hours)
    price_tables(bill, usage)
    return bill
