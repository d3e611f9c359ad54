"""Linklet's redirect, as one would write it for Python: read the link, store the click, answer."""

import hashlib
import json
import logging
import os
import uuid
from datetime import datetime, timedelta, timezone

import boto3

LINKS_TABLE = os.environ["LINKS_TABLE"]
CLICKS_TABLE = os.environ["CLICKS_TABLE"]
CLICK_SALT = os.environ["CLICK_SALT"]
CACHE_SECONDS = 90
# Any lifetime does: nothing that is measured depends on it.
CLICK_KEPT = timedelta(days=365)

logger = logging.getLogger()
dynamodb = boto3.client("dynamodb")


def handler(event, context):
    now = datetime.now(timezone.utc)
    code = (event.get("pathParameters") or {}).get("code") or event["rawPath"].rsplit("/", 1)[-1]

    link = find_link(code)
    if link is None:
        return problem(404, "this short link does not exist")
    expires_at = expiry(link)
    if is_gone(link) or (expires_at and expires_at <= now):
        return problem(410, "this short link is gone")

    try:
        record_click(link, event, now)
    except Exception:
        logger.exception("a click was lost")
    return {
        "statusCode": 301,
        "headers": {
            "Location": link["original_url"]["S"],
            "Cache-Control": f"private, max-age={max_age(expires_at, now)}",
        },
    }


def find_link(code):
    response = dynamodb.get_item(TableName=LINKS_TABLE, Key={"pk": {"S": f"LINK#{code}"}, "sk": {"S": "LINK"}})
    return response.get("Item")


def expiry(link):
    availability = link["availability"]["M"]
    return datetime.fromisoformat(availability["expires_at"]["S"]) if "expires_at" in availability else None


def is_gone(link):
    if "tombstone" in link:
        return True
    availability = link["availability"]["M"]
    return "deleted_at" in availability or availability.get("is_active") == {"BOOL": False}


def record_click(link, event, now):
    click_id = str(uuid.uuid4())
    headers = event["headers"]
    address = event["requestContext"]["http"]["sourceIp"]
    click = {
        "pk": {"S": f"CLICK#{link['short_code']['S']}#{int(click_id[-1], 16)}"},
        "sk": {"S": click_id},
        "short_code": link["short_code"],
        "workspace_id": link["workspace_id"],
        "user_id": link["user_id"],
        "clicked_at": {"S": now.isoformat(timespec="milliseconds").replace("+00:00", "Z")},
        "ip_hash": {"S": hashlib.sha256((address + CLICK_SALT).encode()).hexdigest()},
        "correlation_id": {"S": headers.get("x-correlation-id") or str(uuid.uuid4())},
        "ttl": {"N": str(int((now + CLICK_KEPT).timestamp()))},
    }
    for attribute, header in [("user_agent", "user-agent"), ("referer", "referer")]:
        if header in headers:
            click[attribute] = {"S": headers[header]}
    dynamodb.put_item(TableName=CLICKS_TABLE, Item=click)


def max_age(expires_at, now):
    if expires_at is None:
        return CACHE_SECONDS
    return min(CACHE_SECONDS, int((expires_at - now).total_seconds()))


def problem(status, title):
    return {
        "statusCode": status,
        "headers": {"Content-Type": "application/problem+json"},
        "body": json.dumps({"status": status, "title": title}),
    }
