"""Restores a table beside the live one, as it was at a time, and copies what the live one lacks: `make restore` runs it; read
runbooks/restore.md first.

Nothing is overwritten, and nothing comes back that was purged, used up, revoked, removed or erased since.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

from .local.installer import Failure, end_with
from .stack import outputs

Item = dict[str, Any]

# What may come back of a table, by the beginnings of its keys. The rest is made anew when it is needed, says how often something was
# used, or lets somebody in: sessions, tokens, invitations.
COPIED = {
    "links": {"BLOCK", "LINK LINK", "URL URL", "FOLD FOLD", "LOCK LOCK", "HISTORY", "EXTERNAL EXTERNAL"},
    "stats": {"WS TOTAL", "STATS DAY", "STATS PAST", "STATS MILESTONE", "SEEN"},
    "users": {"USER USER", "EMAIL EMAIL", "ACCESS ADDRESS", "ACCESS SESSIONS", "ACCESS MEMBER", "WS WS", "WS MEMBER", "WS KEY", "KEY KEY", "SLUG SLUG"},
}
# What began since wasn't there then, and an export changes nothing.
NO_CHANGES = {"workspace.created", "member.joined", "key.created", "account.registered", "account.exported"}
# How many items are copied at a time: as many connections as a client has.
AT_ONCE = 10
# An entry of the audit log has the time of its request, which may be a little earlier than that of the change.
MARGIN = timedelta(minutes=1)
# How often a transaction is tried, and why it may succeed the next time.
TRIES = 8
PASSING = {"ConditionalCheckFailed", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
FIRST = {"users": "Rotate the token secret twice before you go on, so that no session of then goes on: SECURITY.md says how."}
NEXT = {
    "links": "Restore the statistics of these links (TABLE=stats), then recount them: make reconcile WORKSPACE=… REPAIR=yes.",
    "stats": "These statistics lack later clicks. Recount each workspace: make reconcile WORKSPACE=… REPAIR=yes.",
    "users": "What stays away because of the audit log, admins invite or make again.",
}


def text(item: Item, name: str) -> str:
    return item.get(name, {}).get("S", "")


def key_of(item: Item) -> tuple[str, str]:
    return text(item, "pk"), text(item, "sk")


def kind_of(item: Item) -> str:
    """Such as `WS MEMBER`, and without the sort key if that is a time or an id."""
    first, second = (part.partition("#")[0] for part in key_of(item))
    return f"{first} {second}" if second.isalpha() and second.isupper() else first


def link_of(item: Item) -> tuple[str, str]:
    """The code of the link that an item of LinksTable or StatsTable belongs to, and its generation if the item has that."""
    if code := text(item, "short_code"):
        return code, text(item, "generation")
    pk, sk = key_of(item)
    code, _, generation = (sk if pk.startswith("WS#") else pk).split("#")[1].rpartition(".")
    return code, generation


def subjects_of(item: Item) -> set[str]:
    """What the audit logs name when an item of UsersTable changes: whose log it is, and the subject there."""
    kind, owner = kind_of(item), text(item, "pk").partition("#")[2]
    user = owner if kind.startswith(("USER", "ACCESS")) else text(item, "user_id") or text(item, "created_by")
    workspace = owner if kind.startswith("WS") else text(item, "workspace_id")
    subjects = {f"{user}/account:{user}"} if user else set()
    if workspace:
        own = f"workspace:{workspace}" if kind in ("WS WS", "SLUG SLUG") else f"key:{text(item, 'prefix')}"
        subjects |= {f"{workspace}/closed", f"{workspace}/{own}", f"{workspace}/member:{user}"}
    return subjects


def changed_by(entries: Iterable[Item]) -> set[str]:
    """What these entries of audit logs name, as `subjects_of` does. A workspace counts its admins, so it changes with its members."""
    changed = set()
    for entry in entries:
        owner, action = text(entry, "pk").partition("#")[2], text(entry, "action")
        changed |= {f"{owner}/workspace:{owner}"} if action.startswith("member.") else set()
        changed |= {f"{owner}/closed"} if action in ("workspace.closed", "workspace.restored") else set()
        if action not in NO_CHANGES and not action.startswith("session."):
            changed.add(f"{owner}/{text(entry, 'subject')}")
    return changed


@dataclass
class Known:
    """What decides about items that the live table lacks."""

    at: float = 0.0  # the time, in seconds
    then: dict[str, Item] = field(default_factory=dict)  # links as they were, by code
    now: dict[str, Item] = field(default_factory=dict)  # links and tombstones as they are
    uses: dict[str, Item] = field(default_factory=dict)  # how often links with a limit were used, by code and generation
    changed: set[str] = field(default_factory=set)  # what the audit logs name since
    blocked: set[str] = field(default_factory=set)  # hosts and workspaces that operators have blocked


def objection(table: str, item: Item, known: Known) -> str:
    """Why an item that the live table lacks must not come back; empty if it may."""
    if "ttl" in item and int(item["ttl"]["N"]) <= known.at:
        return "its time is over"
    if table == "users":
        return "the audit log has a change of it" if subjects_of(item) & known.changed else ""
    if kind_of(item) == "BLOCK":
        return ""  # a block too many does less harm than one too few
    code, generation = link_of(item)
    then, now = known.then.get(code, {}), known.now.get(code, {})
    if table == "stats":
        gone = text(now, "generation") != generation or text(now, "tombstone") == "purged"
        return "its link is gone or purged" if gone else ""
    if not then or generation not in ("", text(then, "generation")):
        return "its link is another"
    if now:
        return "" if text(now, "change_id") == text(then, "change_id") else "its link has changed"
    return objection_to_link(then, known)


def objection_to_link(link: Item, known: Known) -> str:
    """Why a link that is gone must not come back. One with a limit, and without its uses, would lead people any number of times."""
    workspace, (code, generation) = text(link, "workspace_id"), link_of(link)
    if {f"{workspace}/closed", f"{workspace}/link:{code}"} & known.changed:
        return "the audit log has a change of it"
    if any(blocked in str(link).lower() for blocked in known.blocked):
        return "it names what operators have blocked"
    if "max_clicks" in link:
        uses = known.uses.get(f"{code}.{generation}")
        if uses is None:
            return "nothing says how often it was used"
        if int(uses["used"]["N"]) >= int(link["max_clicks"]["N"]):
            return "it is used up"
    return ""


class Restore:
    """A table as it is, and beside it as it was."""

    def __init__(self, table: str, at: datetime, workspace: str | None) -> None:
        self.client, names = boto3.client("dynamodb"), outputs()
        self.table, self.at, self.known = table, at, Known(at=time.time())
        self.live, self.links, self.audit, users = (names[f"{name}TableName"] for name in (table.title(), "Links", "Audit", "Users"))
        self.beside = f"{self.live}-{at:%Y%m%dT%H%M%SZ}"
        found = self.read(users, [(f"SLUG#{workspace}", "SLUG")]).values() if workspace else ()
        # The id will do where the slug was lost.
        self.workspace = next((text(item, "workspace_id") for item in found), workspace)

    def make(self) -> None:
        """Makes the table as it was, without indexes, unless an interrupted run has made it."""
        try:
            self.client.restore_table_to_point_in_time(
                SourceTableName=self.live, TargetTableName=self.beside, RestoreDateTime=self.at, GlobalSecondaryIndexOverride=[]
            )
        except self.client.exceptions.TableAlreadyExistsException:
            pass
        print(f"{self.beside} is being made, which takes minutes, or hours if it is large. If this is interrupted, do it again, or\n"
              f"aws dynamodb delete-table --table-name {self.beside}", flush=True)
        self.client.get_waiter("table_exists").wait(TableName=self.beside, WaiterConfig={"Delay": 15, "MaxAttempts": 6_000})

    def read(self, table: str, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Item]:
        """The items with these keys, as far as there are any."""
        found, wanted = dict[tuple[str, str], Item](), sorted(set(keys))
        for start in range(0, len(wanted), 100):
            some = [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in wanted[start : start + 100]]
            left = {table: {"Keys": some, "ConsistentRead": True}}
            while left:
                answer = self.client.batch_get_item(RequestItems=left)
                found |= {key_of(item): item for item in answer["Responses"].get(table, [])}
                left = answer.get("UnprocessedKeys")
        return found

    def learn(self, missing: list[Item]) -> None:
        """Reads what live tables and audit logs say about items that are missing."""
        known = self.known
        if self.table == "users":
            subjects = {subject for item in missing for subject in subjects_of(item)}
        else:
            keys = {(f"LINK#{link_of(item)[0]}", "LINK") for item in missing}
            known.now = {text(link, "short_code"): link for link in self.read(self.links, keys).values()}
            known.then = {text(link, "short_code"): link for link in self.read(self.beside, keys).values()} if self.table == "links" else known.now
            limited = {(f"USES#{'.'.join(link_of(link))}", "USES") for link in known.then.values() if "max_clicks" in link}
            known.uses = {pk.partition("#")[2]: item for (pk, _), item in self.read(self.links, limited).items()}
            blocks = [*self.listed(self.links, "BLOCK#ALL"), *(item for item in missing if kind_of(item) == "BLOCK")]
            known.blocked = {text(item, "sk").partition(":")[2] for item in blocks}
            subjects = {f"{text(link, 'workspace_id')}/closed" for link in known.then.values()}
        owners = {("USER#" if "/account:" in subject else "WS#") + subject.partition("/")[0] for subject in subjects}
        since = f"{self.at - MARGIN:%Y-%m-%dT%H:%M:%S}"
        known.changed = changed_by(entry for owner in owners for entry in self.listed(self.audit, owner, since))
        if self.table == "users":
            known.changed |= self.purged(subject.partition("/")[0] for subject in subjects if subject.endswith("/closed"))

    def purged(self, workspaces: Iterable[str]) -> set[str]:
        """The closed workspaces that are gone: a week after they were closed, they are purged, of which no audit log says anything."""
        keys = {(f"WS#{workspace}", "WS") for workspace in workspaces}
        then, now = self.read(self.beside, keys), self.read(self.live, keys)
        return {f"{pk.partition('#')[2]}/closed" for (pk, sk), item in then.items() if "closed_at" in item and (pk, sk) not in now}

    def listed(self, table: str, partition: str, since: str = " ") -> Iterator[Item]:
        """The items of a partition from a sort key on."""
        values = {":pk": {"S": partition}, ":since": {"S": since}}
        query = {"TableName": table, "KeyConditionExpression": "pk = :pk AND sk >= :since", "ConsistentRead": True}
        for page in self.client.get_paginator("query").paginate(**query, ExpressionAttributeValues=values):
            yield from page["Items"]

    def is_meant(self, item: Item) -> bool:
        """Whether it belongs to the workspace, if only one is meant. What belongs to a person belongs to none."""
        if self.table == "users":
            return self.workspace is None or f"{self.workspace}/closed" in subjects_of(item)
        return self.workspace in (None, text(self.known.then.get(link_of(item)[0], item), "workspace_id"))

    def compare(self) -> list[Item]:
        """Prints what the live table lacks, and returns what may come back."""
        missing, different = list[Item](), list[Item]()
        for page in self.client.get_paginator("scan").paginate(TableName=self.beside):
            then = [item for item in page["Items"] if kind_of(item) in COPIED[self.table]]
            now = self.read(self.live, map(key_of, then))
            missing += [item for item in then if key_of(item) not in now]
            changed = (item for item in then if now.get(key_of(item), item) != item and self.is_meant(item))
            different += [{name: item[name] for name in ("pk", "sk", "short_code") if name in item} for item in changed]
        self.learn(missing)
        verdicts = [(item, objection(self.table, item, self.known)) for item in missing if self.is_meant(item)]
        by_reason = defaultdict(list)
        for item, reason in verdicts:
            by_reason[reason].append(item)
        returning = by_reason.pop("", [])
        show("would come back", returning)
        for reason, items in sorted(by_reason.items()):
            show(f"stays away, since {reason}", items)
        show("is different now, and stays so", different)
        return returning

    def still_allowed(self, items: list[Item]) -> list[Item]:
        self.known = Known(at=time.time())
        self.learn(items)
        return [item for item in items if not objection(self.table, item, self.known)]

    def copy(self, item: Item) -> bool:
        """Copies an item unless there is one with its key, or its link is gone or purged by now."""
        put, checks = {"TableName": self.live, "Item": item, "ConditionExpression": "attribute_not_exists(pk)"}, []
        if kind_of(item) == "LINK LINK":
            # Whoever hears of new links has to hear of this one, but no person is told again.
            put["Item"] = item | ({} if "tombstone" in item else {"is_news": {"BOOL": True}, "quiet": {"BOOL": True}})
        elif self.table != "users" and kind_of(item) != "BLOCK":
            code, _ = link_of(item)
            is_there = "generation = :generation AND (attribute_not_exists(tombstone) OR tombstone <> :purged)"
            values = {":generation": self.known.then[code]["generation"], ":purged": {"S": "purged"}}
            key = {"pk": {"S": f"LINK#{code}"}, "sk": {"S": "LINK"}}
            checks = [{"TableName": self.links, "Key": key, "ConditionExpression": is_there, "ExpressionAttributeValues": values}]
        for tried in range(TRIES):
            try:
                self.client.transact_write_items(TransactItems=[{"Put": put}, *({"ConditionCheck": check} for check in checks)])
                return True
            except self.client.exceptions.TransactionCanceledException as canceled:
                reasons = {reason["Code"] for reason in canceled.response["CancellationReasons"]} - {"None"}
                if reasons == {"ConditionalCheckFailed"}:
                    return False
                # Somebody else writes the item or its link, or the table is throttled.
                if tried == TRIES - 1 or not reasons <= PASSING:
                    raise
                time.sleep(0.05 * 2**tried)
        return False

    def copy_all(self, items: list[Item]) -> int:
        """Copies links, then the rest, and says how many items that were. What belongs to one link is copied one after another, since
        transactions about one item refuse each other."""
        groups = defaultdict(list)
        for item in sorted(items, key=lambda item: kind_of(item) != "LINK LINK"):
            groups[link_of(item)[0] if self.table != "users" else text(item, "pk")].append(item)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return sum(pool.map(lambda some: sum(map(self.copy, some)), groups.values()))

    def remove(self) -> None:
        """Deletes the table as it was, also if it is protected like the live one."""
        if self.client.describe_table(TableName=self.beside)["Table"].get("DeletionProtectionEnabled"):
            self.client.update_table(TableName=self.beside, DeletionProtectionEnabled=False)
            self.client.get_waiter("table_exists").wait(TableName=self.beside)
        self.client.delete_table(TableName=self.beside)


def show(what: str, items: list[Item]) -> None:
    """Prints how many there are of each kind, with a few of them: links by their codes, others by their keys."""
    by_kind = defaultdict(list)
    for item in items:
        kind = kind_of(item)
        by_kind[kind].append(text(item, "short_code") if kind == "LINK LINK" else " / ".join(key_of(item)))
    for kind, names in sorted(by_kind.items()):
        print(f"{len(names):>7} {kind} {what}: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}")


def moment(given: str) -> datetime:
    at = datetime.fromisoformat(given)
    if at.tzinfo is None:
        raise argparse.ArgumentTypeError("say the time with its zone, such as 2026-11-29T14:07:00Z")
    return at.astimezone(UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description="Brings back what a table lacks, as it was at a time")
    parser.add_argument("table", choices=COPIED)
    parser.add_argument("at", type=moment, help="such as 2026-11-29T14:07:00Z")
    parser.add_argument("--workspace", help="only what belongs to this one, by its slug, or by its id")
    given = parser.parse_args()
    try:
        restore = Restore(given.table, given.at, given.workspace)
        restore.make()
        items = restore.compare()
        print(FIRST.get(given.table, ""))
        agreed = bool(items) and (os.environ.get("CONFIRM") == "yes" or input(f"Copy {len(items)} items? [y/N] ") == "y")
        # Since the question was asked, somebody may have been removed.
        copied = restore.copy_all(restore.still_allowed(items)) if agreed else 0
        print(f"{copied} of {len(items)} items are copied to {restore.live}.")
        restore.remove()
        print(f"{restore.beside} is deleted. {NEXT[given.table] if copied else 'Nothing has changed.'}")
    except (BotoCoreError, ClientError, WaiterError, EOFError) as error:
        raise Failure(f"{error or 'Nobody has answered.'} The table beside the live one may be left: do it again, or delete it.") from None


if __name__ == "__main__":
    end_with(main)
