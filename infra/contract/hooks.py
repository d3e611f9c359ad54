"""What Schemathesis needs to know that the document can't say."""

import ast
import ipaddress
import json
import os
import random
import threading

import schemathesis

# What there is, by the names of path parameters.
EXISTING: dict[str, str] = json.loads(os.environ["CONTRACT_EXISTING"])

# Hypothesis parses the source of lambdas in each of Schemathesis's threads. CPython before 3.11.8 and 3.12.2 counts the depth of all
# parsers in one place, and raises a `SystemError` when a second thread parses while the first one collects garbage
# (https://github.com/python/cpython/pull/113035).
ONE_PARSER = threading.RLock()
parse = ast.parse


def parse_alone(*arguments, **named):
    with ONE_PARSER:
        return parse(*arguments, **named)


ast.parse = parse_alone


@schemathesis.hook
def before_call(context, case, kwargs) -> None:
    """Each request comes from another client, where an edge is trusted to name it, so that no rate limit ends the test. Half of
    the requests are about something that exists, but none that would delete it."""
    address = ipaddress.IPv6Address((0x20010DB8 << 96) | (random.getrandbits(64) << 32))
    case.headers["CloudFront-Viewer-Address"] = f"{address}:443"
    if case.method.upper() != "DELETE" and random.random() < 0.5:
        known = {name: EXISTING[name] for name in case.path_parameters if name in EXISTING}
        case.path_parameters.update(known)
