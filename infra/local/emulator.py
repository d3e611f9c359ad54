"""Starts the AWS emulator, closer to AWS wherever a difference would hide or invent an error of ours.

Written for the version pinned in infra/requirements/emulator.txt, whose parts it names; `system.py` runs it with the
emulator's own Python. If an update of the emulator renames one of them, this fails at once instead of doing nothing.
"""

from __future__ import annotations

import http.server
import json
import mimetypes
import re
import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.core.responses import request_scope
from ministack.services import apigateway, dynamodb, eventbridge, lambda_svc, ses_v2
from ministack.services.cloudformation import engine, provisioners

SOURCES = Path(__file__).resolve().parents[2] / "functions" / "web" / "app"


def send_bodies_at_once() -> None:
    """The Runtime API writes the headers of an invocation and its body separately. By Nagle's algorithm, the body would wait until the
    function has acknowledged the headers, which it delays by 40 ms from its second invocation on."""
    http.server.BaseHTTPRequestHandler.disable_nagle_algorithm = True


def retry_partly_failed_stream_batches() -> None:
    """A stream's consumer answers with the record from which it wants to go on. The emulator does not look at that and
    moves on, so the records would be lost. Here, such a batch fails as a whole and is delivered again as a whole: more
    than AWS repeats, which a consumer has to bear anyway."""
    execute = lambda_svc._execute_function

    def execute_and_look(function: dict[str, Any], event: Any) -> dict[str, Any]:
        result = execute(function, event)
        body = result.get("body")
        if is_from_stream(event) and isinstance(body, dict) and body.get("batchItemFailures"):
            error = {"errorType": "PartialFailure", "errorMessage": "the batch is delivered again"}
            return result | {"error": True, "body": error}
        return result

    lambda_svc._execute_function = execute_and_look


def is_from_stream(event: Any) -> bool:
    records = event.get("Records") if isinstance(event, dict) else None
    return isinstance(records, list) and records[0].get("eventSource") == "aws:dynamodb"


def name_actions_as_iam_does() -> None:
    """To send or delete messages in batches takes the same permission as to do it singly. And who may send mail as whom
    depends on identities that the emulator has no notion of, so here everyone may."""
    extract = iam_actions.extract_iam_action

    def extract_as_iam_does(*arguments: Any, **options: Any) -> str | None:
        action = extract(*arguments, **options)
        if action == "ses:SendEmail":
            return None
        if action and action.startswith("sqs:"):
            return action.removesuffix("Batch")
        return action

    iam_actions.extract_iam_action = extract_as_iam_does


def tell_policies_the_leading_keys() -> None:
    """Roles allow parts of a table by the partition keys that a call names (dynamodb:LeadingKeys). The emulator doesn't tell policies
    which these are, so they would allow all."""
    context_of, checks_of = iam_actions.dynamodb_service_context, iam_actions.dynamodb_transaction_checks
    enforce = iam_evaluator.enforce

    def context_with_keys(body: bytes) -> dict[str, Any]:
        return context_of(body) | with_leading_keys(keys_of_call(json.loads(body or b"{}")))

    def checks_with_keys(action: str, body: bytes, *place: str) -> list[tuple[str, str]]:
        checks = checks_of(action, body, *place)
        details = [detail for item in json.loads(body)["TransactItems"] for detail in item.values()] if checks else []
        named = zip(checks, details, strict=True)
        return [(ItemAction(name, keys_of_call(detail)), table) for (name, table), detail in named]

    def enforce_with_keys(caller: str, action: str, *rest: Any, **options: Any) -> Any:
        if isinstance(action, ItemAction):
            options["service_context"] = options["service_context"] | with_leading_keys(action.keys)
        return enforce(caller, action, *rest, **options)

    iam_actions.dynamodb_service_context = context_with_keys
    iam_actions.dynamodb_transaction_checks = checks_with_keys
    iam_evaluator.enforce = enforce_with_keys


class ItemAction(str):
    """An action of a transaction, with the keys that it names."""

    keys: list[str]

    def __new__(cls, name: str, keys: list[str]) -> ItemAction:
        action = super().__new__(cls, name)
        action.keys = keys
        return action


def with_leading_keys(keys: list[str]) -> dict[str, list[str]]:
    return {"dynamodb:LeadingKeys": keys} if keys else {}


def keys_of_call(request: dict[str, Any]) -> list[str]:
    """The partition keys that a call names, or an action of a transaction: in its key or item, in those of its batch, or in the
    first comparison of its query."""
    items = [request.get("Key"), request.get("Item")]
    for batch in request.get("RequestItems", {}).values():
        if isinstance(batch, dict):
            items += batch["Keys"]
        else:
            items += [write.get("Key") or write.get("Item") for member in batch for write in member.values()]
    keys = [item["pk"]["S"] for item in items if item and "pk" in item]
    queried = re.match(r"\S+ = (:\w+)", request.get("KeyConditionExpression", ""))
    if queried:
        keys.append(request["ExpressionAttributeValues"][queried[1]]["S"])
    return keys


def keep_alarms_on_metric_math() -> None:
    """The emulator refuses an alarm that is computed from several metrics, and the whole stack with it. Here it exists,
    on a metric that nobody writes, so it never goes off."""
    record = provisioners._cw_metric_alarm_record

    def record_without_math(name: str, properties: dict[str, Any]) -> dict[str, Any]:
        if properties.get("Metrics"):
            properties = properties | {"Metrics": None, "Namespace": "metric math", "MetricName": "none"}
        return record(name, properties)

    provisioners._cw_metric_alarm_record = record_without_math


def count_consumers_in_numbers() -> None:
    """CloudFormation makes a number of a limit that a template chooses from a list of texts. The emulator compares the text."""
    concurrency = lambda_svc._sqs_esm_concurrency

    def concurrency_in_numbers(*arguments: Any, **options: Any) -> int:
        source, *others = arguments
        scaling = source.get("ScalingConfig") or {}
        if limit := scaling.get("MaximumConcurrency"):
            source = source | {"ScalingConfig": scaling | {"MaximumConcurrency": int(limit)}}
        return concurrency(source, *others, **options)

    lambda_svc._sqs_esm_concurrency = concurrency_in_numbers


def tell_the_scheduled_time() -> None:
    """The Scheduler replaces a placeholder in a target's input by the time that a call is meant for. The emulator calls some
    seconds later than that and leaves the placeholder alone."""
    placeholder = "<aws.scheduler.scheduled-time>"
    invoke = eventbridge._invoke_target

    def invoke_with_time(target: dict[str, Any], event: dict[str, Any], *rest: Any) -> None:
        if event.get("Source") == "aws.scheduler" and placeholder in target.get("Input", ""):
            minute = datetime.fromtimestamp(event["Time"] // 60 * 60, UTC)
            target = target | {"Input": target["Input"].replace(placeholder, f"{minute:%Y-%m-%dT%H:%M:%SZ}")}
        invoke(target, event, *rest)

    eventbridge._invoke_target = invoke_with_time


def read_cors_as_templates_spell_it() -> None:
    """The emulator keeps a template's CorsConfiguration as it is, and looks in it for members that begin in lower case. A list
    that is a parameter arrives as text."""
    for name in ("_cors_response_headers", "_cors_preflight_response"):
        setattr(apigateway, name, with_lower_case(getattr(apigateway, name)))


def with_lower_case(answer: Callable[[dict[str, Any], str], Any]) -> Callable[[dict[str, Any], str], Any]:
    def answer_with(configuration: dict[str, Any], origin: str) -> Any:
        lower = {name[:1].lower() + name[1:]: value for name, value in configuration.items()}
        if isinstance(lower.get("allowOrigins"), str):
            lower["allowOrigins"] = lower["allowOrigins"].split(",")
        return answer(lower, origin)

    return answer_with


def let_items_expire() -> None:
    """The emulator ignores a template's TTL, and what it deletes by TTL leaves no stream record. Here, an item is deleted within
    a minute after its time, and the stream says so."""
    table_handlers = provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::Table"]
    create, remove = table_handlers["create"], dynamodb._remove_item

    def create_with_ttl(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
        created = create(logical_id, properties, stack)
        specification = properties.get("TimeToLiveSpecification")
        if specification:
            dynamodb._update_ttl({"TableName": created[0], "TimeToLiveSpecification": specification})
        return created

    def remove_and_record(table: dict[str, Any], partition: str, sort: str) -> None:
        item = table["items"].get(partition, {}).get(sort)
        remove(table, partition, sort)
        if item and threading.current_thread().name == "dynamodb-ttl-reaper":
            region, account = table["TableArn"].split(":")[3:5]
            with request_scope(account, region):
                dynamodb._emit_stream_event(table["TableName"], "REMOVE", item, None)

    table_handlers["create"] = create_with_ttl
    dynamodb._remove_item = remove_and_record


def name_log_groups_as_cloudformation_does() -> None:
    """A log group without a name gets one of its own with each deployment. The emulator's would be the same each time, and take over
    what an earlier stack has left."""
    group_handlers = provisioners._RESOURCE_HANDLERS["AWS::Logs::LogGroup"]
    create, update = group_handlers["create"], group_handlers["update"]

    def create_with_name(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
        name = properties.get("LogGroupName") or f"{stack}-{logical_id}-{secrets.token_hex(6)}"
        return create(logical_id, properties | {"LogGroupName": name}, stack)

    def update_with_name(group: str, old: dict[str, Any], new: dict[str, Any], *rest: Any) -> Any:
        return update(group, old, {"LogGroupName": group} | new, *rest)

    group_handlers |= {"create": create_with_name, "update": update_with_name}


def expand_the_loops_of_child_stacks() -> None:
    """The emulator applies the transforms of a template, but none of a child stack's, as CloudFormation does."""
    check = provisioners._check_nested_stack_capabilities

    def check_and_expand(parent: str, child: dict[str, Any]) -> None:
        check(parent, child)
        expanded = engine._apply_transforms(child)
        if isinstance(expanded, engine._TransformFailed):
            raise ValueError(expanded.error)
        child.clear()
        child.update(expanded)

    provisioners._check_nested_stack_capabilities = check_and_expand


def let_greedy_paths_be_anything() -> None:
    """The emulator matches `{path+}` with a dot, which stops at a line end, and takes nothing less than one character. A path
    with `%0A`, or one that ends where `{path+}` begins, would get the emulator's 404 and never reach the function whose route
    it is."""

    def fullmatch(pattern: str, path: str) -> re.Match[str] | None:
        return re.fullmatch(pattern.replace("(.+)", "(.*)"), path, re.DOTALL)

    apigateway.re = SimpleNamespace(**(vars(re) | {"fullmatch": fullmatch}))


def keep_the_slash_behind_a_single_name() -> None:
    """The emulator takes `<API>/app/` for the root of a stage named `app`, and, as there is none, for `/app`. To API Gateway,
    these are two paths."""
    parse = app._parse_execute_api_url

    def parse_with_slash(host: str, path: str) -> tuple[str, str, str] | None:
        parsed = parse(host, path)
        if parsed and parsed[1:] != ("$default", "/") and parsed[2] == "/" and path.endswith("/"):
            return parsed[0], "$default", f"/{parsed[1]}/"
        return parsed

    app._parse_execute_api_url = parse_with_slash


def take_mail_to_everybody() -> None:
    """SES takes mail from and to addresses that it has verified, as long as an account is in its sandbox. Here no mail leaves the
    machine, so it takes all: `make mails` prints them."""
    reject = ses_v2._message_rejection

    def reject_nobody(_sender: str | None, _recipients: object = ()) -> str | None:
        return reject(None)

    ses_v2._message_rejection = reject_nobody


def serve_the_sources_of_the_web_application() -> None:
    """At /app there is the application that is deployed, and at /app-source the one that is being edited. The latter's files have
    other addresses than the deployed ones, which are in a folder named by their hash."""
    execute = apigateway.handle_execute

    async def execute_or_read(api: str, stage: str, path: str, method: str, headers: dict[str, str], *rest: Any, **options: Any) -> Any:
        file = (SOURCES / path.removeprefix("/app/")).resolve()
        if path.startswith("/app/") and file.is_relative_to(SOURCES) and file.is_file():
            kind = mimetypes.guess_type(file)[0] or "application/octet-stream"
            return 200, {"Content-Type": kind, "Cache-Control": "no-cache"}, file.read_bytes()
        if path != "/app-source":
            return await execute(api, stage, path, method, headers, *rest, **options)
        # The headers are those of the deployed page, whole and not compressed.
        asked = {name: value for name, value in headers.items() if name not in ("accept-encoding", "if-none-match")}
        status, sent, _ = await execute(api, stage, "/app", method, asked, *rest, **options)
        return status, sent, (SOURCES / "index.html").read_bytes()

    apigateway.handle_execute = execute_or_read


if __name__ == "__main__":
    send_bodies_at_once()
    retry_partly_failed_stream_batches()
    name_actions_as_iam_does()
    tell_policies_the_leading_keys()
    keep_alarms_on_metric_math()
    count_consumers_in_numbers()
    tell_the_scheduled_time()
    read_cors_as_templates_spell_it()
    let_items_expire()
    name_log_groups_as_cloudformation_does()
    expand_the_loops_of_child_stacks()
    let_greedy_paths_be_anything()
    keep_the_slash_behind_a_single_name()
    take_mail_to_everybody()
    serve_the_sources_of_the_web_application()
    app.main()
