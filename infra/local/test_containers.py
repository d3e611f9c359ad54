"""What is made of Docker's answers. No test here needs an engine."""

from __future__ import annotations

import unittest
from pathlib import Path

from .containers import Engine, bridge_address, containers_of
from .installer import Failure

OURS = Path("/home/ada/linklet/target/sam")


class Bridge(unittest.TestCase):
    def test_the_gateway_is_this_machine(self) -> None:
        address = bridge_address([{"Subnet": "172.17.0.0/16", "Gateway": "172.17.0.9"}])
        self.assertEqual((str(address.ip), str(address.network)), ("172.17.0.9", "172.17.0.0/16"))

    def test_a_gateway_with_the_length_of_its_network_is_understood(self) -> None:
        address = bridge_address([{"Subnet": "10.1.2.0/24", "Gateway": "10.1.2.1/24"}])
        self.assertEqual(str(address), "10.1.2.1/24")

    def test_without_one_it_is_the_first_address(self) -> None:
        self.assertEqual(str(bridge_address([{"Subnet": "172.17.0.0/16"}])), "172.17.0.1/16")

    def test_networks_of_ipv6_are_passed_over(self) -> None:
        both = [{"Subnet": "fd00::/64", "Gateway": "fd00::1"}, {"Subnet": "172.17.0.0/16"}]
        self.assertEqual(str(bridge_address(both).ip), "172.17.0.1")
        with self.assertRaises(Failure):
            bridge_address(both[:1])


class Leftovers(unittest.TestCase):
    def test_only_containers_with_functions_of_this_folder_are_ours(self) -> None:
        listing = "\n".join(
            [
                f"a1 {OURS}/redirect",
                f"b2 {OURS}-old/redirect",
                "c3 /home/eve/linklet/target/sam/redirect",
                f"d4 /tmp/debugger,{OURS}/stats",
                "e5 ",
                f"f6 /backup{OURS}/redirect",
            ]
        )
        self.assertEqual(containers_of(OURS, listing), ["a1", "d4"])

    def test_docker_desktop_shows_folders_under_a_prefix(self) -> None:
        self.assertEqual(containers_of(OURS, f"a1 /host_mnt{OURS}/redirect"), ["a1"])

    def test_nothing_is_ours_where_there_is_nothing(self) -> None:
        self.assertEqual(containers_of(OURS, ""), [])


class WayIn(unittest.TestCase):
    def test_docker_desktop_finds_our_loopback_by_itself(self) -> None:
        desktop = Engine("unix:///var/run/docker.sock", "arm64", "Docker Desktop")
        with desktop.way_to(4566) as way:
            self.assertEqual(way, ("host-gateway", 4566))


if __name__ == "__main__":
    unittest.main()
