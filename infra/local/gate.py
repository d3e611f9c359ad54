"""A gate in front of the tables that a test can close, to see what the system does while they can't be reached.

The functions of the end-to-end tests' system reach DynamoDB through it. Closed, it refuses connections and cuts those
that stand. `POST /close` and `POST /open` at `control` move it.
"""

import http.server

from .forwarder import Forwarder, in_background


class Gate(Forwarder):
    """Forwards TCP connections to a port of this machine while it is open."""

    def __init__(self, target: int) -> None:
        super().__init__(target)
        moves = {"/open": self.open, "/close": self.close}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                if move := moves.get(self.path):
                    move()
                self.send_response(204 if move else 404)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.controller = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def control(self) -> str:
        return f"http://127.0.0.1:{self.controller.server_port}"

    def __enter__(self) -> "Gate":
        in_background(self.controller.serve_forever)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.controller.shutdown()
        self.controller.server_close()
