"""What may come back from a table as it was, and what stays away."""

import re
import unittest
from typing import Any
from unittest.mock import MagicMock, patch

from . import restore
from .local.installer import ROOT
from .restore import COPIED, Known, changed_by, objection, subjects_of

USER, WORKSPACE, OTHER = "0198c0de-user", "0198c0de-workspace", "0198c0de-other"


def item(pk: str, sk: str, **attributes: str | int) -> dict[str, Any]:
    values = {"pk": pk, "sk": sk} | attributes
    return {name: {"N": str(value)} if isinstance(value, int) else {"S": value} for name, value in values.items()}


def link(code: str = "launch", generation: str = "g1", **attributes: str | int) -> dict[str, Any]:
    return item(f"LINK#{code}", "LINK", short_code=code, generation=generation, workspace_id=WORKSPACE, **{"change_id": "c1"} | attributes)


def entry(owner: str, action: str, subject: str) -> dict[str, Any]:
    return item(owner, "2026-03-02T14:05:09.120Z#e1", action=action, subject=subject)


MEMBERSHIP = [
    item(f"ACCESS#{USER}", f"MEMBER#{WORKSPACE}", workspace_id=WORKSPACE), item(f"WS#{WORKSPACE}", f"MEMBER#{USER}", user_id=USER)
]
KEY = [
    item(pk, sk, workspace_id=WORKSPACE, prefix="lk_live_a1", created_by=USER)
    for pk, sk in [(f"WS#{WORKSPACE}", "KEY#lk_live_a1"), ("KEY#5f3a", "KEY")]
]
WORKSPACE_ITEMS = [item(f"WS#{WORKSPACE}", "WS", workspace_id=WORKSPACE), item("SLUG#ada", "SLUG", workspace_id=WORKSPACE)]
ACCOUNT = [item(f"USER#{USER}", "USER"), item("EMAIL#ada@example.com", "EMAIL", user_id=USER), item(f"ACCESS#{USER}", "ADDRESS")]
BESIDE = [
    item("LOCK#launch.g1", "LOCK"), item("HISTORY#launch.g1", "2026-03-02T14:05:09.120Z#c1"), item("FOLD#launch", "FOLD", short_code="launch"),
    item(f"URL#{WORKSPACE}#ab", "URL", short_code="launch"), item(f"EXTERNAL#{WORKSPACE}#7", "EXTERNAL", short_code="launch", generation="g1"),
]
STATISTICS = [
    item(f"WS#{WORKSPACE}", "TOTAL#launch.g1"), item("STATS#launch.g1", "PAST"), item("STATS#launch.g1#a", "DAY#2026-03-02"),
    item("SEEN#launch.g1", "2026-03-02#7", ttl=2_000),
]


class Links(unittest.TestCase):
    def test_a_link_that_is_gone_comes_back_with_what_belongs_to_it(self) -> None:
        for each in [link(), *BESIDE]:
            self.assertEqual(objection("links", each, Known(then={"launch": link()})), "", each)

    def test_what_belongs_to_a_link_comes_back_while_it_is_as_it_was(self) -> None:
        for now, expected in [
            (link(), ""),
            (link(change_id="c2"), "its link has changed"),
            (link(generation="g2", change_id="c2"), "its link has changed"),
            (link(tombstone="purged", change_id="c2"), "its link has changed"),
        ]:
            for each in BESIDE:
                self.assertEqual(objection("links", each, Known(then={"launch": link()}, now={"launch": now})), expected, each)

    def test_what_belonged_to_an_earlier_link_stays_away(self) -> None:
        for then in ({}, {"launch": link(generation="g2")}):
            self.assertEqual(objection("links", BESIDE[0], Known(then=then)), "its link is another")

    def test_a_link_with_a_limit_comes_back_only_if_uses_are_left(self) -> None:
        once = link(max_clicks=1)
        for uses, expected in [
            ({"launch.g1": item("USES#launch.g1", "USES", used=0)}, ""),
            ({"launch.g1": item("USES#launch.g1", "USES", used=1)}, "it is used up"),
            ({}, "nothing says how often it was used"),
        ]:
            for each in [once, *BESIDE]:
                self.assertEqual(objection("links", each, Known(then={"launch": once}, uses=uses)), expected, each)

    def test_a_link_of_which_the_audit_log_says_something_stays_away(self) -> None:
        for action, subject in [("link.purged", "link:launch"), ("link.changed", "link:launch"), ("workspace.closed", f"workspace:{WORKSPACE}")]:
            known = Known(then={"launch": link()}, changed=changed_by([entry(f"WS#{WORKSPACE}", action, subject)]))
            for each in [link(), *BESIDE]:
                self.assertEqual(objection("links", each, known), "the audit log has a change of it", (action, each))


    def test_a_link_to_what_is_blocked_stays_away(self) -> None:
        leading = link(original_url="https://www.spam.example/a")
        for blocked, expected in [("spam.example", "it names what operators have blocked"), (WORKSPACE, "it names what operators have blocked"), ("x.example", "")]:
            self.assertEqual(objection("links", leading, Known(then={"launch": leading}, blocked={blocked})), expected)


class Statistics(unittest.TestCase):
    def test_they_come_back_for_a_link_that_was_not_purged(self) -> None:
        for now, expected in [
            ({"launch": link()}, ""),
            ({"launch": link(tombstone="expired")}, ""),
            ({"launch": link(tombstone="purged")}, "its link is gone or purged"),
            ({"launch": link(generation="g2")}, "its link is gone or purged"),
            ({}, "its link is gone or purged"),
        ]:
            for each in STATISTICS:
                self.assertEqual(objection("stats", each, Known(now=now)), expected, (now, each))

    def test_what_time_would_delete_stays_away(self) -> None:
        for at, expected in [(1_999.9, ""), (2_000.0, "its time is over")]:
            self.assertEqual(objection("stats", STATISTICS[-1], Known(at=at, now={"launch": link()})), expected)


class People(unittest.TestCase):
    def test_what_nobody_has_changed_comes_back(self) -> None:
        entries = [
            entry(f"WS#{WORKSPACE}", "member.removed", f"member:{OTHER}"), entry(f"WS#{WORKSPACE}", "key.revoked", "key:lk_live_b2"),
            entry(f"USER#{USER}", "session.all_ended", f"account:{USER}"), entry(f"USER#{USER}", "account.exported", f"account:{USER}"),
            entry(f"WS#{WORKSPACE}", "key.created", "key:lk_live_a1"),
        ]
        for each in [*MEMBERSHIP, *KEY, *ACCOUNT]:
            self.assertEqual(objection("users", each, Known(changed=changed_by(entries))), "", each)

    def test_what_was_changed_revoked_removed_or_erased_stays_away(self) -> None:
        of_workspace, of_person = f"WS#{WORKSPACE}", f"USER#{USER}"
        for logged, items in [
            (entry(of_workspace, "member.removed", f"member:{USER}"), [*MEMBERSHIP, *KEY, WORKSPACE_ITEMS[0]]),
            (entry(of_workspace, "member.paused", f"member:{USER}"), [*MEMBERSHIP, *KEY]),
            (entry(of_workspace, "member.joined", f"member:{OTHER}"), WORKSPACE_ITEMS),
            (entry(of_workspace, "key.revoked", "key:lk_live_a1"), KEY),
            (entry(of_workspace, "workspace.changed", f"workspace:{WORKSPACE}"), WORKSPACE_ITEMS),
            (entry(of_workspace, "workspace.closed", f"workspace:{WORKSPACE}"), [*MEMBERSHIP, *KEY, *WORKSPACE_ITEMS]),
            (entry(of_person, "account.closed", f"account:{USER}"), [*MEMBERSHIP, *KEY, *ACCOUNT]),
            (entry(of_person, "account.password_changed", f"account:{USER}"), ACCOUNT),
        ]:
            for each in items:
                self.assertEqual(objection("users", each, Known(changed=changed_by([logged]))), "the audit log has a change of it", (logged, each))

    def test_only_what_belongs_to_a_workspace_names_it(self) -> None:
        for each in [*MEMBERSHIP, *KEY, *WORKSPACE_ITEMS]:
            self.assertIn(f"{WORKSPACE}/closed", subjects_of(each))
        for each in ACCOUNT:
            self.assertEqual(subjects_of(each), {f"{USER}/account:{USER}"})


class DataModel(unittest.TestCase):
    def test_each_kind_that_may_come_back_is_documented(self) -> None:
        sections = (ROOT / "docs" / "data-model.md").read_text().split("\n### ")
        for table, kinds in COPIED.items():
            [section] = [each for each in sections if each.startswith(f"{table.title()}Table\n")]
            documented = re.findall(r"`([A-Z]+)[#<][^`]*` / `([A-Z]*)", section)
            self.assertEqual(kinds - {f"{pk} {sk}".strip() for pk, sk in documented}, set(), table)


class Copying(unittest.TestCase):
    def copying(self, *reasons: str) -> tuple[bool, int]:
        """Whether an item is copied if the first transactions are cancelled for these reasons, and how many there are."""

        class Cancelled(Exception):
            def __init__(self, reason: str) -> None:
                self.response = {"CancellationReasons": [{"Code": "None"}, {"Code": reason}]}

        copying = restore.Restore.__new__(restore.Restore)
        copying.client, copying.table, copying.live = MagicMock(), "users", "UsersTable"
        copying.client.exceptions.TransactionCanceledException = Cancelled
        copying.client.transact_write_items.side_effect = [*map(Cancelled, reasons), {}]
        with patch.object(restore.time, "sleep"):
            copied = copying.copy({"pk": {"S": "USER#1"}, "sk": {"S": "USER"}})
        return copied, copying.client.transact_write_items.call_count

    def test_a_conflict_is_tried_again_and_what_is_there_stays(self) -> None:
        self.assertEqual(self.copying("TransactionConflict", "ThrottlingError"), (True, 3))
        self.assertEqual(self.copying("ConditionalCheckFailed"), (False, 1))

    def test_a_block_comes_back_and_a_purged_workspace_does_not(self) -> None:
        block = {"pk": {"S": "BLOCK#ALL"}, "sk": {"S": "host:spam.example"}}
        self.assertEqual(restore.objection("links", block, restore.Known()), "")
        closed = {"pk": {"S": "WS#w"}, "sk": {"S": "WS"}, "closed_at": {"S": "2026-11-01T00:00:00Z"}}
        comparing = restore.Restore.__new__(restore.Restore)
        comparing.live, comparing.beside = "live", "beside"
        comparing.read = lambda table, keys: {("WS#w", "WS"): closed} if table == "beside" else {}
        self.assertEqual(comparing.purged(["w"]), {"w/closed"})
