"""Shows what Linklet does under floods that no machine can make: `make simulate`, or `make simulate TRACES="viral outage"`.

`tests/simulate` plays them; this runs as many at a time as there are processors, and adds what each would cost. Two traces are
also played in real time, and compared. It ends with 1 if a count is wrong, or the two differ. docs/scale.md explains what comes
out.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .costs.linklet import PRICES
from .costs.tables import Bill, load_tables
from .local.installer import ROOT

# The longest first, so that no processor is left with it at the end.
TRACES = ["viral", "billion", "outage", "new-account", "ordinary-day"]
# Those that a machine can play in real time, and by how much the simulation may be beside that.
REAL = ["throttled-statistics", "throttled-clicks"]
BESIDE = 0.2
MILLION = 1_000_000


def main() -> None:
    traces = sys.argv[1:] or [*TRACES, *REAL]
    binary = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "measure" / "simulate"
    tables = load_tables()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda trace: shown(binary, trace, tables), (trace for trace in traces if trace not in REAL)))
    # With the processors to themselves, since time is real.
    outcomes += [compared(binary, trace) for trace in traces if trace in REAL]
    sys.exit(0 if all(outcomes) else 1)


def played(binary: Path, *arguments: str) -> dict[str, Any] | None:
    """What came of a trace; None if a count is wrong, which the program says itself."""
    answer = subprocess.run([binary, *arguments], stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout) if answer.returncode == 0 else None


def shown(binary: Path, trace: str, tables: SimpleNamespace) -> bool:
    """Plays a trace and prints what came of it."""
    found = played(binary, trace)
    if found:
        print(text(found, tables), flush=True)
    return found is not None


def compared(binary: Path, trace: str) -> bool:
    """Plays a trace in simulated and in real time, and prints both; whether they agree."""
    simulated, real = played(binary, trace), played(binary, "--real", trace)
    if not simulated or not real:
        return False
    lines = [f"  {name:<28} {mine:>10.3f} {theirs:>10.3f} {off(mine, theirs):>+8.0%}" for name, mine, theirs in figures(simulated, real)]
    print("\n".join(["", f"{trace}: {simulated['about']}", f"  {'':<28} {'simulated':>10} {'real':>10}", *lines]), flush=True)
    return all(abs(off(mine, theirs)) <= BESIDE for _, mine, theirs in figures(simulated, real))


def off(simulated: float, real: float) -> float:
    return simulated / real - 1


def figures(simulated: dict[str, Any], real: dict[str, Any]) -> list[tuple[str, float, float]]:
    """What the two have to agree in."""
    rows = {
        "write units a click, stored": lambda of: of["storing_writes"] / of["clicks"],
        "write units a click, counted": lambda of: of["counting_writes"] / of["clicks"],
        "clicks counted a second": lambda of: of["counted_a_second"],
    }
    return [(name, value(simulated), value(real)) for name, value in rows.items()]


def text(played: dict[str, Any], tables: SimpleNamespace) -> str:
    """A trace in some lines. If one part of several was played, the rest is as much again."""
    parts, late, limits = played["parts"], played["late"], played["limits"]
    clicks = played["clicks"]
    rows = [
        ("requests", f"{played['requests'] * parts:,} in {played['seconds']:,.0f} s, {played['refused'] * parts:,} refused"),
        ("clicks", f"{clicks * parts:,}, {played['parked'] * parts:,} of them parked; {wrong(played)}"),
        ("counted", f"{played['counted_a_second'] * parts:,.0f} a second; the last {played['after_the_end']:,.0f} s after the end"),
        ("statistics are late", f"{late[0]:,.1f} s (half), {late[1]:,.1f} s (99 of 100), {late[2]:,.1f} s (longest)"),
        ("reaches its limit", ", then ".join(f"{what} after {first:,.0f} s ({count:,} ×)" for what, first, count in limits) or "nothing"),
        ("a click", f"{played['storing_writes'] / clicks:.2f} write units to store, {played['counting_writes'] / clicks:.3f} to count, {played['reads'] / clicks:.3f} read units"),
        ("largest row", f"{played['largest_row']:,.0f} KB"),
        ("at once", ", ".join(f"{used['at_once'] * (1 if name == 'analytics' else parts):,} {name}" for name, used in played["functions"].items())),
        ("a million clicks", f"${bill(played, tables).total / clicks * MILLION:.2f}"),
        ("played in", f"{played['played_in']:,.0f} s" + (f", one of {parts} parts" if parts > 1 else "")),
    ]
    lines = [f"  {name:<20} {value}" for name, value in rows]
    return "\n".join(["", f"{played['name']}: {played['about']}", *lines])


def wrong(played: dict[str, Any]) -> str:
    return "each link's count is right" if played["wrong"] == 0 else f"{played['wrong']} links are counted wrongly"


def bill(played: dict[str, Any], tables: SimpleNamespace) -> Bill:
    """What was played, at list prices: requests, clicks and their counting, without storage."""
    functions = played["functions"]
    bill = Bill(SimpleNamespace(free_tier="no"), tables)
    bill.add("http_api_requests", played["requests"] - played["refused"])
    for name, used in functions.items():
        # Batches of analytics have clicks of all parts, whichever are played.
        share = 1 / played["parts"] if name == "analytics" else 1
        bill.add("lambda_requests", used["invocations"] * share, f"Lambda {name}")
        bill.add("lambda_time", used["gigabyte_seconds"] * share, f"Lambda {name}")
    bill.add(f"{PRICES[tables.template['click_table_class']]}_writes", played["storing_writes"], "Raw clicks")
    bill.add("dynamodb_writes", played["counting_writes"], "Statistics")
    bill.add("dynamodb_reads", played["reads"], "Statistics")
    bill.add("sqs_requests", played["sqs_requests"])
    return bill


if __name__ == "__main__":
    main()
