"""Forwards TCP connections to a port on loopback, for clients that can't get there by themselves."""

from __future__ import annotations

import ipaddress
import socket
import threading
from types import TracebackType


class Forwarder:
    """Listens on one address of this machine, for clients of one network, as long as it is open. It lives in threads, so it
    never outlives its process."""

    def __init__(self, target: int, host: str = "127.0.0.1", clients: ipaddress.IPv4Network | None = None) -> None:
        self.target = target
        self.host = host
        self.clients = clients
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()
        self.listener = listen(host, 0)
        self.port = self.listener.getsockname()[1]

    def __enter__(self) -> Forwarder:
        in_background(self.accept, self.listener)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def open(self) -> None:
        with self.lock:
            if self.listener.fileno() < 0:
                self.listener = listen(self.host, self.port)
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
                client, (address, *_) = listener.accept()
            except OSError:  # closed
                return
            if not self.admits(address):
                cut(client)
                continue
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

    def admits(self, address: str) -> bool:
        """A machine answers for all its addresses on every network it is in, so the address alone keeps nobody out."""
        return self.clients is None or ipaddress.ip_address(address) in self.clients

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


def listen(host: str, port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
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
