"""What Schemathesis needs to know that the document can't say."""

from __future__ import annotations

import ipaddress
import json
import os
import random

import schemathesis

# What there is, by the names of path parameters.
EXISTING: dict[str, str] = json.loads(os.environ["CONTRACT_EXISTING"])


@schemathesis.hook
def before_call(context, case, kwargs) -> None:
    """Each request comes from another client, where an edge is trusted to name it, so that no rate limit ends the test. Half of
    the requests are about something that exists, but none that would delete it."""
    address = ipaddress.IPv6Address((0x20010DB8 << 96) | (random.getrandbits(64) << 32))
    case.headers["CloudFront-Viewer-Address"] = f"{address}:443"
    if case.method.upper() != "DELETE" and random.random() < 0.5:
        known = {name: EXISTING[name] for name in case.path_parameters if name in EXISTING}
        case.path_parameters.update(known)
