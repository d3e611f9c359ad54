"""Docker, as `sam local` needs it: what runs here, the image that functions run in, the way from a container to this
machine's loopback, and the containers that SAM leaves behind."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .forwarder import Forwarder
from .installer import Failure, say

# The name under which containers find this machine. Docker Desktop knows it anyway.
HOST = "host.docker.internal"
ARCHITECTURES = {"amd64": "x86_64", "arm64": "arm64"}
# Docker Desktop shows a folder of the Mac as one of its virtual machine.
DESKTOP_PREFIX = "/host_mnt"


class NoDocker(Failure):
    """Nothing that needs containers can run here."""


@dataclass(frozen=True)
class Engine:
    """A Docker engine that answers."""

    address: str
    architecture: str  # as Lambda calls it
    system: str

    @classmethod
    def find(cls) -> Engine:
        if shutil.which("docker") is None:
            raise NoDocker(
                "`sam local` runs functions in containers, and there is no docker command. Install Docker from "
                "https://docs.docker.com/get-docker (Debian, Ubuntu: `apt install docker.io`)."
            )
        answer = docker("version", "--format", "{{.Server.Arch}}")
        if answer.returncode != 0:
            raise NoDocker(
                f"Docker's engine does not answer ({last_line(answer.stderr)}). Start it (Docker Desktop, or `sudo "
                "systemctl start docker`); on Linux, your user must be in the group docker."
            )
        machine = answer.stdout.strip()
        if machine not in ARCHITECTURES:
            raise NoDocker(f"Docker's engine runs on {machine}. Lambda knows {' and '.join(ARCHITECTURES)} only.")
        # SAM looks at DOCKER_HOST, but not at the contexts that the docker command has, such as Docker Desktop's.
        address = read("context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
        return cls(address, ARCHITECTURES[machine], read("info", "--format", "{{.OperatingSystem}}"))

    # -- image

    @property
    def base_image(self) -> str:
        return f"public.ecr.aws/lambda/provided:al2023-{self.architecture}"

    def fetch_base_image(self) -> None:
        """Now, and once: SAM would do it during the first request, and look for a newer one before each."""
        if docker("image", "inspect", self.base_image).returncode == 0:
            return
        say(f"Pulling {self.base_image} (once) …")
        if subprocess.run(["docker", "pull", "--quiet", self.base_image], stdout=subprocess.DEVNULL).returncode != 0:
            raise Failure(
                "The image that functions run in could not be pulled, see above. Is https://public.ecr.aws reachable? Otherwise "
                f"get an image named {self.base_image} by `docker load`; one that is here is used as it is."
            )

    # -- network

    @contextlib.contextmanager
    def way_to(self, port: int) -> Iterator[tuple[str, int]]:
        """Lets containers reach a port of our loopback. Gives the address that HOST must have for them, and the port."""
        if self.has_own_machine():
            yield "host-gateway", port  # which Docker Desktop leads to our loopback
            return
        bridge = self.bridge()
        try:
            forwarder = Forwarder(port, str(bridge.ip), clients=bridge.network)
        except OSError as error:
            raise Failure(
                f"Containers reach this machine as {bridge.ip}, but nothing can listen there ({error.strerror}): the engine "
                "runs elsewhere, or rootless. The local system needs one that runs on this machine, or Docker Desktop."
            ) from None
        with forwarder:
            yield str(bridge.ip), forwarder.port

    def has_own_machine(self) -> bool:
        return sys.platform != "linux" or self.system == "Docker Desktop"

    def bridge(self) -> ipaddress.IPv4Interface:
        return bridge_address(json.loads(read("network", "inspect", "bridge"))[0]["IPAM"]["Config"])

    # -- containers

    def remove_containers_of(self, functions: Path) -> None:
        """Removes what SAM has started with functions of this folder. SAM itself forgets those that were being started when
        it was stopped, and all of them when it is killed."""
        listing = read(
            *("ps", "--all", "--no-trunc", "--filter", "label=sam.cli.container.type=lambda"),
            *("--format", "{{.ID}} {{.Mounts}}"),
        )
        if doomed := containers_of(functions, listing):
            read("rm", "--force", *doomed)


def bridge_address(configurations: list[dict[str, str]]) -> ipaddress.IPv4Interface:
    """This machine's address on Docker's bridge. It is the network's first, unless somebody has said otherwise."""
    for configuration in configurations:
        network = ipaddress.ip_network(configuration["Subnet"])
        if isinstance(network, ipaddress.IPv4Network):
            address = configuration.get("Gateway") or str(next(network.hosts()))
            return ipaddress.IPv4Interface(f"{address.partition('/')[0]}/{network.prefixlen}")
    raise Failure("Docker's network `bridge` has no IPv4 addresses, and `sam local` knows no other.")


def containers_of(functions: Path, listing: str) -> list[str]:
    """The containers of a listing of ids and mounted folders that have one of these functions."""
    lines = (line.partition(" ") for line in listing.splitlines())
    return [
        container
        for container, _, mounts in lines
        if any(mount.removeprefix(DESKTOP_PREFIX).startswith(f"{functions}/") for mount in mounts.split(","))
    ]


def docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def read(*arguments: str) -> str:
    answer = docker(*arguments)
    if answer.returncode != 0:
        raise Failure(f"`docker {arguments[0]}` failed: {last_line(answer.stderr)}.")
    return answer.stdout.strip()


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1].rstrip(".")
