"""The mails of the local system, none of which has left the machine."""

import os
import re
import time
import urllib.parse
from typing import Any

import pytest

from infra.local.client import send

from .api import Api, Refused

MAIL_WITHIN = 60


def linked_view(api: Api, email: str, view: str) -> str:
    """Waits for a mail with a link to such a view of the application, and gives what stands behind `#/`."""
    until = time.monotonic() + MAIL_WITHIN
    while time.monotonic() < until:
        for mail in mails(api):
            found = re.search(rf"/app#/({view}\S*)", mail["BodyText"])
            if email in mail["To"] and found:
                return found[1]
        time.sleep(0.2)
    raise Refused(f"No mail with a link to #/{view} has reached {email}.")


def mails(api: Api) -> list[dict[str, Any]]:
    url = urllib.parse.urlsplit(api.url)
    endpoint = os.environ.get("AWS_ENDPOINT_URL") or f"{url.scheme}://{url.netloc}"
    try:
        answer = send("GET", f"{endpoint}/_ministack/ses/messages").json()
        return [mail for sent in answer["messages"].values() for mail in sent]
    except (OSError, ValueError, KeyError, TypeError):
        pytest.skip("only the local system shows its mails")
