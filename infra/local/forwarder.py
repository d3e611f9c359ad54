"""Forwards TCP connections to a port on loopback: for clients that can't get there by themselves, or so that a test can cut them."""

import contextlib
import http.server
import ipaddress
import socket
import socketserver
import threading
from typing import Any


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


class Forwarder:
    """Listens on one address of this machine, for clients of one network, as long as it is open. It lives in threads, so it
    never outlives its process."""

    def __init__(self, target: int, host: str = "127.0.0.1", clients: ipaddress.IPv4Network | None = None) -> None:
        self.target, self.clients = target, clients
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()
        self.address: Any = (host, 0)
        self.server: Server | None = None
        self.open()

    @property
    def port(self) -> int:
        return self.address[1]

    def __enter__(self) -> "Forwarder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        with self.lock:
            if self.server is None:
                self.server = Server(self.address, self.handle)  # type: ignore[arg-type]
                self.address = self.server.server_address
                in_background(self.server.serve_forever, 0.05)

    def close(self) -> None:
        with self.lock:
            server, self.server = self.server, None
            for connection in self.connections:
                cut(connection)
            self.connections.clear()
        if server:
            server.shutdown()
            server.server_close()

    def handle(self, client: socket.socket, address: tuple[str, int], _: object) -> None:
        # A machine answers for all its addresses on every network it is in, so the address that it listens on keeps nobody out.
        if self.clients and ipaddress.ip_address(address[0]) not in self.clients:
            return
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.target)) as server:
            with self.lock:
                if self.server is None:
                    return
                self.connections |= {client, server}
            in_background(self.forward, server, client)
            self.forward(client, server)

    def forward(self, source: socket.socket, destination: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                destination.sendall(data)
        with self.lock:
            cut(source)
            cut(destination)
            self.connections -= {source, destination}


class FaultProxy(Forwarder):
    """Through it, the functions of the end-to-end tests' system reach DynamoDB. Closed, it refuses connections and cuts those that
    stand, so that a test sees what the system does without its tables. `POST /close` and `POST /open` at `control` move it."""

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
        self.url, self.control = (f"http://127.0.0.1:{port}" for port in (self.port, self.controller.server_port))

    def __enter__(self) -> "FaultProxy":
        in_background(self.controller.serve_forever)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.controller.shutdown()
        self.controller.server_close()


def cut(connection: socket.socket) -> None:
    """Ends a connection for whoever waits on it, too."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def in_background(work: Any, *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()
