"""Calls an API over HTTP, past any proxy, and follows no redirect."""

import http.client
import json
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any


class Refused(Exception):
    """An answer that was not expected."""


class Unavailable(Refused):
    """A 503: the same request may succeed later."""


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def send(method: str, url: str, body: bytes | None = None, headers: dict[str, str] | None = None, timeout: float = 60) -> Answer:
    target = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if target.scheme == "https" else http.client.HTTPConnection
    connection = kind(target.netloc, timeout=timeout)
    try:
        connection.putrequest(method, target._replace(scheme="", netloc="").geturl(), skip_accept_encoding=True)
        for name, value in (headers or {}).items():
            # Referrers and user agents may have any bytes.
            connection.putheader(name, value.encode())
        connection.putheader("Content-Length", str(len(body or b"")))
        connection.endheaders(body)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def call(method: str, url: str, body: Any = None, token: str = "", headers: dict[str, str] | None = None, waits: bool = True) -> Any:
    """The body of a success; any other answer raises `Refused`, a redirect as well. Where a limit says so, this waits and asks again."""
    sent = (headers or {}) | ({"Authorization": f"Bearer {token}"} if token else {})
    sent |= {} if body is None else {"Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    while (answer := send(method, url, data, sent)).status == 429 and waits:
        time.sleep(int(answer.headers.get("Retry-After") or 1))
    if not 200 <= answer.status < 300:
        raise (Unavailable if answer.status == 503 else Refused)(f"{method} {url} answered {answer.status}: {answer.body.decode(errors='replace')[:500]}")
    return answer.json() if answer.body else None
