"""What the same work costs on Fargate behind a load balancer, with PostgreSQL on RDS, as assumptions.toml describes it."""

from math import ceil
from types import SimpleNamespace

from .inputs import Load
from .linklet import HOURS, SECONDS, Month, months_kept, ticks
from .tables import DAYS, GB, Bill

ZONES = 2


def bill(load: Load, tables: SimpleNamespace) -> tuple[Bill | None, str]:
    """The bill with the size of what is paid for, or no bill with the reason why this design can't do it."""
    containers, database, month = tables.containers, tables.database, Bill(load, tables)
    checks = ticks(load, tables).all_checks / SECONDS
    days = load.counted_alone / tables.traffic["clicks_a_day_on_an_ordinary_link"]
    bytes_a_month = {
        "click": load.all_clicks * database["click_bytes"],
        "link": load.links * database["link_bytes"],
        "day": days * database["day_bytes"],
        "notification": load.links * database["notification_bytes"],
        "results_item": ticks(load, tables).all_checks * database["result_bytes"],
    }
    # Everything is kept as long as in Linklet.
    stored = sum(size * months_kept(load, tables, name) for name, size in bytes_a_month.items()) / GB
    storage = max(database["least_gb"], stored * database["free_space"])
    if storage > database["most_gb"]:
        return None, f"{storage:,.0f} GB are more than one database has room for ({database['most_gb']:,} GB)"

    # Seconds of a processor that the database is busy in each second.
    clicks = load.counted_alone * database["click_ms"] + load.burst * database["hot_click_ms"]
    clicks += load.uses * database["use_ms"] + load.unlocks * database["unlock_ms"]
    mean, peak = ((clicks / SECONDS * times + checks * database["check_ms"]) / 1000 for times in (1, load.peak))
    for server in database["classes"]:
        is_fast = mean <= server["sustained"] and peak <= server["vcpu"] * database["busy"]
        if is_fast and stored * database["memory_of_data"] <= server["memory_gb"]:
            break
    else:
        many = f"{load.all_clicks / SECONDS * load.peak:,.0f} clicks a second at the peak"
        return None, f"{many}, or {stored:,.0f} GB of data, are more than one database does"

    clicks = load.all_clicks * containers["click_ms"] + load.unlocks * containers["unlock_ms"]
    peak = (clicks / SECONDS * load.peak + checks * containers["check_ms"]) / 1000
    # One more than the peak needs, since one may fail.
    tasks = max(int(containers["least"]), ceil(peak / (containers["vcpu"] * containers["busy"])) + 1)
    if tasks > containers["max_tasks"]:
        return None, f"{tasks:,} containers are more than a service has ({containers['max_tasks']:,})"

    add_tasks(month, tasks)
    # The price is that of an instance of which this one is a multiple.
    month.add(server["price"], server["times"] * ZONES * HOURS, f"RDS {server['name']}")
    changes = load.all_clicks * database["log_bytes_of_click"] * database["backup_days"] / DAYS / GB
    for price, quantity in {
        "alb_hours": HOURS,
        # The form of a password is sent over the connection of its page.
        "alb_capacity": load.all_clicks / SECONDS / containers["connections_per_lcu"] * HOURS,
        "public_ipv4": containers["public_addresses"] * HOURS,
        "rds_storage": storage * ZONES,
        # As much as is provisioned is free.
        "rds_backup": max(0, stored + changes - storage),
        "sns_publishes": load.links,
        "secrets": containers["secrets"],
        "alarms": 0 if load.monitoring == "none" else containers["alarms"],
        "dashboards": containers["dashboards"] if load.monitoring == "full" else 0,
    }.items():
        month.add(price, quantity)
    answers = {"answer_bytes": load.all_clicks + load.links + load.views, "page_bytes": load.views, "form_bytes": load.unlocks}
    for size, count in answers.items():
        month.send(count, tables.traffic[size])
        month.log(count * containers["log_bytes"] if load.log_level == "info" else 0)
    return month, f"{tasks} containers, {server['name']} in two zones with {storage:,.0f} GB"


def add_tasks(month: Bill, tasks: int) -> None:
    containers = month.tables.containers
    month.add("fargate_cpu", tasks * HOURS * containers["vcpu"])
    month.add("fargate_memory", tasks * HOURS * containers["memory_gb"])
    month.add("public_ipv4", tasks * HOURS)


def monitor(load: Load, tables: SimpleNamespace) -> Bill:
    """As few containers as Linkwatch's checks need, which do nothing else, and store the same results in the same table."""
    containers, held, month = tables.containers, ticks(load, tables), Month(load, tables)
    month.store_results(held)
    busy = held.all_checks / SECONDS * containers["check_ms"] / 1000
    add_tasks(month, ceil(busy / (containers["vcpu"] * containers["busy"])))
    return month
