"""Compares how fast two versions count clicks, in one run: `make bench AGAINST=<commit>`.

The other version is checked out and built under target/against, with its own benchmark; both measure counting by turns, so that
whatever disturbs the machine disturbs them alike. A workload that the other version doesn't know under this name is compared
with the one whose name ours begins with.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from .local.installer import ROOT, Failure, end_with, say

TURNS = 3
ONLY_COUNTING = ["--profile", "release", "--subjects", "analytics", "--variants", "", "--invocations", "", "--starts", ""]

# Clicks a second by workload, one number for each turn.
Speeds = dict[str, list[float]]


def main() -> None:
    ours = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    theirs = built(sys.argv[1], ours / "against")
    speeds: list[Speeds] = [{}, {}]
    for turn in range(TURNS):
        say(f"turn {turn + 1} of {TURNS}")
        for target, found in zip((theirs, ours), speeds):
            measure(target, found)
    print(table(*speeds))


def built(commit: str, folder: Path) -> Path:
    """Builds the benchmark of a commit, and returns its target folder."""
    source, target = checked_out(commit, folder), folder / "target"
    manifest = ["--manifest-path", str(source / "Cargo.toml"), "--target-dir", str(target)]
    run("cargo", "build", "--quiet", "--profile", "measure", "--package", "linklet-bench", *manifest)
    return target


def checked_out(commit: str, folder: Path) -> Path:
    """A working copy of this commit, in a folder that may have one of another commit."""
    if not said("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"):
        raise Failure(f"There is no commit {commit} here. `git log` lists those that there are, `git fetch` gets others.")
    source = folder / "source"
    if not source.exists():
        # A folder that was deleted is a working copy to Git still, which it replaces with --force only.
        run("git", "worktree", "add", "--quiet", "--force", "--detach", str(source), commit)
    elif said("-C", str(source), "status", "--porcelain"):
        raise Failure(f"{source} was edited. Remove it: git worktree remove --force {source}")
    else:
        run("git", "-C", str(source), "checkout", "--quiet", "--detach", commit)
    return source


def said(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout


def run(*command: str) -> None:
    if subprocess.run(command, cwd=ROOT).returncode:
        raise Failure(f"{' '.join(command[:3])} has failed")


def measure(target: Path, speeds: Speeds) -> None:
    subprocess.run([target / "measure" / "bench", *ONLY_COUNTING], check=True, stdout=subprocess.DEVNULL)
    for row in json.loads((target / "bench" / "report.json").read_text())["analytics"]:
        speeds.setdefault(row["clicks_on"], []).append(row["clicks_per_s"])


def table(theirs: Speeds, ours: Speeds) -> str:
    rows = [f"{'clicks on':<34} {'there':>9} {'here':>9} {'ratio':>7}"]
    for name, speeds in ours.items():
        there = next((known for known in theirs if name.startswith(known)), None)
        if there is None:
            rows.append(f"{name:<34} {'':>9} {median(speeds):>9,.0f} {'':>7}")
            continue
        before, now = median(theirs[there]), median(speeds)
        note = "" if there == name else f"  there: {there}"
        rows.append(f"{name:<34} {before:>9,.0f} {now:>9,.0f} {now / before:>7.2f}{note}")
    return "\n".join(rows)


if __name__ == "__main__":
    end_with(main)
