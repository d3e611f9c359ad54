"""Starts LocalStack for infra/conformance.py: on loopback, in front of a DynamoDB Local that runs already. It ends with its input.

Written for the version pinned in infra/requirements/localstack.txt, whose parts it names; LocalStack's own Python runs it.
"""

import os
import sys
import threading
import warnings
from functools import partial

import typing_extensions
from twisted.internet import endpoints


def run_before_python_3_13() -> None:
    """LocalStack promises 3.10, but writes a type with `threading.Lock`, a class from 3.13 on, and marks what is deprecated as
    one does from then on."""
    allocate = threading.Lock

    class Lock:
        def __new__(cls) -> threading.Lock:  # type: ignore[misc]
            return allocate()

    threading.Lock = Lock  # type: ignore[misc, assignment]
    warnings.deprecated = typing_extensions.deprecated  # type: ignore[attr-defined]


def listen_on_loopback() -> None:
    """Whatever GATEWAY_LISTEN says, LocalStack listens everywhere: it takes the port of it, and not the address."""
    endpoints.TCP4ServerEndpoint = partial(endpoints.TCP4ServerEndpoint, interface="127.0.0.1")


def use_the_dynamodb_local_that_runs() -> None:
    """LocalStack would download one, and start it so that it listens everywhere."""
    from localstack.services.dynamodb.server import DynamodbServer

    DynamodbServer.start_dynamodb = lambda _: True
    DynamodbServer.stop_dynamodb = lambda _: None


def end_with_the_input() -> None:
    def wait() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    if sys.version_info < (3, 13):
        run_before_python_3_13()
    listen_on_loopback()
    use_the_dynamodb_local_that_runs()
    end_with_the_input()

    from localstack.runtime.main import main

    main()
