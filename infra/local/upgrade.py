"""Deploys this version over an older one while work is under way, and checks that nothing is lost and nothing counted twice:
`make upgrade FROM=<commit>`.

The older version is checked out, built and deployed by its own code, as by its `make up`, and begins jobs, a purge and the closing of an
account. The consumers of the queues, and after its first job the one of jobs, rest until this version is deployed, so that it finds
messages and work of the older one. Meanwhile people click.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import boto3

from ..against import checked_out
from ..stack import outputs
from .client import Refused, call, send
from .installer import ROOT, Failure, end_with, say
from .seed import VISITORS, sign_up
from .system import MEANT, STACK, System, build, free_port, wait_until

# So few that a page has all, and how many of them are clicked.
LINKS, CLICKED = 80, 6
# Clicks of each before the consumers rest, and then: one of these is the tenth, a milestone.
COUNTED, WAITING = 8, 4
MILESTONES = (10, 100, 1000)
TAGS = ["first", "second", "third", "last"]
# The emulator may be a minute late to have what was closed looked at again.
PATIENCE_SECONDS = 300
QUEUES = ("AnalyticsQueueUrl", "NotifyQueueUrl")
# What has data, or an address that somebody knows.
KEPT = {"AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::SecretsManager::Secret", "AWS::SNS::Topic", "AWS::ApiGatewayV2::Api"}
# Where there is something of a link or a workspace, and what a purge leaves there: reserved codes, and what stops late messages.
TABLES = ("LinksTable", "ClicksTable", "StatsTable", "UsersTable", "WatchTable", "JobsTable")
LEFT = {("LinksTable", "LINK"), ("StatsTable", "TOTAL")}

# What holds, the answer that says so, and what asks.
Check = tuple[str, Any, Callable[[], Any]]


class Work:
    """What is done with the older version, and what has to hold afterwards."""

    def __init__(self, api: str) -> None:
        self.api, self.stack, self.clicks = api, outputs(), Counter[str]()
        self.ada, self.bob = sign_up(api, "ada"), sign_up(api, "bob")
        invited = self.call("POST", "/api/workspace/invitations", {"email": self.bob["email"], "role": "member"})
        joined = self.call("POST", "/api/invitations/accept", {"token": invited["token"]}, self.bob)
        self.key = self.call("POST", "/api/keys", {"name": "upgrade", "scopes": ["links:read"]})["key"]
        self.links, self.purged, self.ended = self.shorten(LINKS, self.ada), self.shorten(1, self.ada), self.shorten(3, self.bob)
        self.handed_over = self.shorten(3, self.log_in(self.bob, joined["slug"]))
        self.clicked = self.links[:CLICKED] + self.handed_over
        self.click(COUNTED)
        if not wait_until(lambda: self.counted() == self.followed(), PATIENCE_SECONDS):
            raise Failure(f"The older version has counted {self.counted()} of {self.followed()}.")
        self.entries, self.resources = self.listed("/api/workspace/audit", "id"), resources()

    def begin(self) -> None:
        """Begins what is under way while this version is deployed."""
        consume(self.stack, QUEUES, False)
        self.click(WAITING)
        self.links += self.shorten(CLICKED, self.ada)
        renames = ({"kind": "rename_tag", "from": old, "to": new} for old, new in pairwise(TAGS))
        self.jobs = [self.call("POST", "/api/jobs", rename)["id"] for rename in renames]
        self.call("DELETE", f"/api/links/{self.purged[0]}")
        self.call("DELETE", "/api/me", {"password": self.bob["password"]}, self.bob)
        # The other jobs, and what closes the account, go on after the deployment.
        if not wait_until(lambda: self.job(self.jobs[0])[0] == "done" and all(messages(self.stack[queue]) for queue in QUEUES), 60):
            raise Failure(f"The first job is {self.job(self.jobs[0])[0]}, or no messages wait in the queues.")
        consume(self.stack, ["JobsTableName"], False)
        say(f"Jobs: {[self.job(job)[0] for job in self.jobs]}. Messages: {[messages(self.stack[queue]) for queue in QUEUES]}")

    def checks(self) -> Iterator[Check]:
        clicks, kept, gone = self.followed(), len(self.links + self.handed_over), self.ended + self.purged
        yield f"{sum(total for total, _ in clicks.values())} clicks of {len(clicks)} links are counted once", clicks, self.counted
        reached = Counter(code for code in self.links[:CLICKED] for each in MILESTONES if self.clicks[code] >= each)
        told = f"{reached.total()} milestones of {len(reached)} links are told once"
        yield told, reached, lambda: Counter(code for code in self.told("milestone").elements() if code in reached)
        created = Counter(self.links + self.purged)
        yield f"{created.total()} new links are told once", created, lambda: self.told("creation")
        done = {job: ("done", kept, 0) for job in self.jobs}
        yield f"{len(done)} jobs have each changed {kept} links", done, lambda: {job: self.job(job) for job in done}
        yield "the ends of jobs are told once", Counter(self.jobs), lambda: self.told("job", "job_id")
        hers = f"/api/links?tag={TAGS[-1]}&created_by={self.ada['user_id']}"
        yield "links of a closed account have them, too, and are the admin's", kept, lambda: self.call("GET", hers)["total"]
        yield "purged links are gone", dict.fromkeys(gone, 410), lambda: {code: self.visit(code) for code in gone}
        yield "nothing else of what is purged is left", set(), lambda: traces(self.stack, [self.bob["workspace_id"], *self.purged])
        yield "password, token and API key are valid", [self.ada["user_id"]] * 2 + [kept], self.admitted
        audited = f"{len(self.entries)} entries of the audit log are shown"
        yield audited, Counter(), lambda: self.entries - self.listed("/api/workspace/audit", "id")
        same = f"{len(self.resources)} tables, queues, secrets, topics and APIs are the same"
        yield same, set(), lambda: self.resources.items() - resources().items()
        dead = {name: 0 for name in self.stack if name.endswith("DlqUrl")}
        yield "dead-letter queues are empty", dead, lambda: {name: messages(self.stack[name]) for name in dead}

    def call(self, method: str, path: str, body: Any = None, who: dict[str, Any] | None = None) -> Any:
        return call(method, self.api + path, body, (who or self.ada)["token"], edge())

    def log_in(self, who: dict[str, Any], slug: str = "") -> dict[str, Any]:
        login = {"email": who["email"], "password": who["password"], "workspace": slug}
        return who | call("POST", f"{self.api}/api/auth/login", login, headers=edge())

    def shorten(self, count: int, who: dict[str, Any]) -> list[str]:
        link = {"url": "https://example.com", "tags": TAGS[:1], "reuse": False}
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda _: self.call("POST", "/api/shorten", link, who)["short_code"], range(count)))

    def visit(self, code: str) -> int:
        answer = send("GET", f"{self.api}/r/{code}", headers=edge() | {"User-Agent": VISITORS[0][0]})
        self.clicks[code] += answer.status < 400
        return answer.status

    def click(self, times: int) -> None:
        for code in (self.clicked + self.ended + self.purged) * times:
            self.visit(code)

    def click_until(self, stopped: threading.Event) -> None:
        while not stopped.wait(0.2):
            self.click(1)

    def followed(self) -> dict[str, tuple[int, int]]:
        return {code: (self.clicks[code], self.clicks[code]) for code in self.clicked}

    def counted(self) -> dict[str, tuple[int, int]]:
        """The total of each link, and the sum of its days."""
        days = {code: self.call("GET", f"/api/stats/{code}/timeline")["points"] for code in self.clicked}
        return {code: (self.call("GET", f"/api/stats/{code}")["total_clicks"], sum(day["clicks"] for day in days[code])) for code in days}

    def job(self, id: str) -> tuple[str, int, int]:
        job = self.call("GET", f"/api/jobs/{id}")
        return job["state"], job["changed"], job["failed"]

    def told(self, kind: str, about: str = "short_code") -> Counter[str]:
        return self.listed(f"/api/notifications?kind={kind}", about)

    def listed(self, path: str, member: str) -> Counter[str]:
        page = self.call("GET", f"{path}{'&' if '?' in path else '?'}limit=100")
        return Counter(each[member] for each in page.get("entries") or page["notifications"])

    def admitted(self) -> list[Any]:
        people = [self.call("GET", "/api/me", who=who)["user_id"] for who in (self.ada, self.log_in(self.ada))]
        return [*people, call("GET", f"{self.api}/api/links", headers=edge() | {"X-API-Key": self.key})["total"]]


def edge() -> dict[str, str]:
    """Makes another client of each request, since clients have limits."""
    return {"CloudFront-Viewer-Address": f"240.{'.'.join(str(random.randrange(256)) for _ in range(3))}:443"}


def every(service: str, operation: str, member: str, **of: str) -> list[dict[str, Any]]:
    return boto3.client(service).get_paginator(operation).paginate(**of).build_full_result()[member]


def resources() -> dict[str, str]:
    """The physical ids of what is to be kept, by their logical ids."""
    found = every("cloudformation", "list_stack_resources", "StackResourceSummaries", StackName=STACK)
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found if each["ResourceType"] in KEPT}


def messages(queue: str) -> int:
    """How many there are, with those that somebody works on."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    numbers = boto3.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
    return sum(int(number) for number in numbers.values())


def consume(stack: dict[str, str], sources: Sequence[str], is_enabled: bool) -> None:
    names = [stack[source].rsplit("/", 1)[-1] for source in sources]
    for source in every("lambda", "list_event_source_mappings", "EventSourceMappings"):
        if any(name in source["EventSourceArn"] for name in names):
            boto3.client("lambda").update_event_source_mapping(UUID=source["UUID"], Enabled=is_enabled)


def traces(stack: dict[str, str], texts: list[str]) -> set[tuple[str, str]]:
    """The tables and kinds of items that have one of these."""
    items = ((table, item) for table in TABLES for item in every("dynamodb", "scan", "Items", TableName=stack[f"{table}Name"]))
    return {(table, item["sk"]["S"].split("#")[0]) for table, item in items if any(text in str(item) for text in texts)} - LEFT


def answer(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (Refused, OSError, KeyError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def report(checks: list[Check], stack: dict[str, str]) -> bool:
    """Waits for each answer and for the queues, and then asks again: what is counted or told twice shows by then."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    for _, expected, ask in checks:
        wait_until(lambda: answer(ask) == expected, deadline - time.monotonic())
    wait_until(lambda: not any(messages(stack[queue]) for queue in QUEUES), 60)
    found = [answer(ask) for _, _, ask in checks]
    for (what, expected, _), answered in zip(checks, found):
        print(f"ok      {what}" if answered == expected else f"FAILED  {what}: {answered}, not {expected}", flush=True)
    return all(answered == expected for (_, expected, _), answered in zip(checks, found))


def main() -> int:
    folder = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "upgrade"
    commit, source, system = sys.argv[1], checked_out(sys.argv[1], folder), System("upgrade")
    theirs = os.environ | {"CARGO_TARGET_DIR": str(folder / "target")}

    def older(*arguments: str) -> None:
        command = [sys.executable, "-m", "infra.local", *arguments]
        if subprocess.run(command, cwd=source, env=theirs, stdout=subprocess.DEVNULL).returncode:
            raise Failure(f"`infra.local {arguments[0]}` of {commit} has failed, see above.")

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the finally below runs
    build(beside_tests=True)
    try:
        older("down")
        older("up", "--port", str(free_port()))
        # From here on it is ours, as if this version had been pulled into that working copy.
        system.folder.unlink(missing_ok=True)
        system.folder.symlink_to((source / ".linklet" / MEANT).resolve())
        os.environ.update(system.environment(system.require()))
        work, stopped = Work(os.environ["API_URL"]), threading.Event()
        work.begin()
        with ThreadPoolExecutor() as pool:
            people = pool.submit(work.click_until, stopped)
            try:
                system.redeploy({})
            finally:
                stopped.set()
            people.result()
        consume(work.stack, [*QUEUES, "JobsTableName"], True)
        if report(list(work.checks()), work.stack):
            return 0
        system.keep_function_logs()  # where the link leads, which stays for the next run
        say(f"It may be that {commit} stores or sends something in another form, which this version can't read.")
        return 1
    finally:
        older("down")


if __name__ == "__main__":
    end_with(main)
