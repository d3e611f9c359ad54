"""That a forwarder lets the right clients through, and nobody once it is closed."""

import contextlib
import ipaddress
import socket
import unittest
from collections.abc import Iterator

from .forwarder import Forwarder, Server, in_background

LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
ELSEWHERE = ipaddress.ip_network("192.0.2.0/24")


@contextlib.contextmanager
def echo() -> Iterator[int]:
    """A server that says once what it hears. Gives its port."""
    with Server(("127.0.0.1", 0), lambda connection, *_: connection.sendall(connection.recv(100))) as server:
        in_background(server.serve_forever, 0.05)
        yield server.server_address[1]
        server.shutdown()


def ask(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        try:
            connection.sendall(b"hello")
            return connection.recv(100)
        except ConnectionError:
            return b""


class Forwarding(unittest.TestCase):
    def test_it_carries_both_directions(self) -> None:
        with echo() as port, Forwarder(port, clients=LOOPBACK) as forwarder:
            self.assertEqual(ask(forwarder.port), b"hello")
            self.assertEqual(ask(forwarder.port), b"hello")

    def test_a_client_of_another_network_gets_nothing(self) -> None:
        with echo() as port, Forwarder(port, clients=ELSEWHERE) as forwarder:
            self.assertEqual(ask(forwarder.port), b"")

    def test_it_listens_where_it_is_told_to_only(self) -> None:
        with echo() as port, Forwarder(port) as forwarder:
            self.assertEqual(forwarder.server.socket.getsockname()[0], "127.0.0.1")

    def test_it_ends_with_its_block(self) -> None:
        with echo() as port:
            with Forwarder(port) as forwarder:
                standing = socket.create_connection(("127.0.0.1", forwarder.port), timeout=5)
            with self.assertRaises(ConnectionRefusedError):
                ask(forwarder.port)
            with standing, contextlib.suppress(ConnectionError):
                self.assertEqual(standing.recv(100), b"")

    def test_closed_it_can_be_opened_again(self) -> None:
        with echo() as port, Forwarder(port) as forwarder:
            forwarder.close()
            forwarder.open()
            self.assertEqual(ask(forwarder.port), b"hello")

    def test_without_a_server_behind_it_the_client_is_cut_off(self) -> None:
        with echo() as port:
            pass
        with Forwarder(port) as forwarder:
            self.assertEqual(ask(forwarder.port), b"")
