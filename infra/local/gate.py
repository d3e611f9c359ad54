"""A gate in front of the tables that a test can close, to see what the system does while they can't be reached.

The functions of the end-to-end tests' system reach DynamoDB through it. Closed, it refuses connections and cuts those
that stand. `POST /close` and `POST /open` at `control` move it.
"""

from __future__ import annotations

import http.server
import socket
import threading
from types import TracebackType


class Gate:
    """Forwards TCP connections to a port of this machine while it is open."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()
        self.listener = listen(0)
        self.port = self.listener.getsockname()[1]
        self.controller = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def control(self) -> str:
        return f"http://127.0.0.1:{self.controller.server_port}"

    def __enter__(self) -> Gate:
        in_background(self.accept, self.listener)
        in_background(self.controller.serve_forever)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        self.controller.shutdown()
        self.controller.server_close()

    def open(self) -> None:
        with self.lock:
            if self.listener.fileno() < 0:
                self.listener = listen(self.port)
                in_background(self.accept, self.listener)

    def close(self) -> None:
        with self.lock:
            cut(self.listener)
            for connection in self.connections:
                cut(connection)
            self.connections.clear()

    def accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:  # closed
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                cut(client)
                continue
            with self.lock:
                if listener.fileno() < 0:
                    cut(client)
                    cut(server)
                    return
                self.connections |= {client, server}
            in_background(self.forward, client, server)
            in_background(self.forward, server, client)

    def forward(self, source: socket.socket, destination: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                destination.sendall(data)
        except OSError:
            pass
        with self.lock:
            cut(source)
            cut(destination)
            self.connections -= {source, destination}

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


def listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


def cut(connection: socket.socket) -> None:
    """Ends a connection for whoever waits on it, too."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()


def in_background(work: object, *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()  # type: ignore[arg-type]
