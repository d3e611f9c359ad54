"""A gate in front of the tables that a test can close, to see what the system does while they can't be reached.

The functions of the end-to-end tests' system reach DynamoDB through it. Closed, it refuses connections and cuts those
that stand. `POST /close` and `POST /open` at `control` move it.
"""

from __future__ import annotations

import http.server
from types import TracebackType

from .forwarder import Forwarder, in_background


class Gate(Forwarder):
    """Forwards TCP connections to a port of this machine while it is open."""

    def __init__(self, target: int) -> None:
        super().__init__(target)
        self.controller = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def control(self) -> str:
        return f"http://127.0.0.1:{self.controller.server_port}"

    def __enter__(self) -> Gate:
        super().__enter__()
        in_background(self.controller.serve_forever)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        self.controller.shutdown()
        self.controller.server_close()

    def handler(gate) -> type[http.server.BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                action = {"/open": gate.open, "/close": gate.close}.get(self.path)
                if action:
                    action()
                self.send_response(204 if action else 404)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler
