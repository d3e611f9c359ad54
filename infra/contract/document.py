"""Looks in docs/openapi.yaml for what generators of clients stumble over: `make document` runs it.

A valid document can still give a client that doesn't compile, or one in which a typing mistake passes. `make clients` generates
some; this finds the known causes in a second, and names them.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"
# Generators write a type for each of these, all into one package.
TYPES = ["schemas", "parameters", "headers", "responses", "requestBodies"]
# Go's generator writes NewLink() and NullableLink for a schema Link.
PREFIXES = ["New", "Nullable"]


def nodes(value: Any, place: str = "#") -> Iterator[tuple[str, Any]]:
    """A value and all that is in it, each with its place."""
    yield place, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        if name not in ("example", "examples"):
            yield from nodes(member, f"{place}/{name}")


def sent(document: dict[str, Any]) -> dict[str, Any]:
    """All that bodies of requests consist of, by its place."""
    found: dict[str, Any] = {}
    left = {place: node["requestBody"] for place, node in nodes(document["paths"]) if isinstance(node, dict) and "requestBody" in node}
    while left:
        place, value = left.popitem()
        within = dict(nodes(value, place))
        found |= within
        references = {node["$ref"] for node in within.values() if isinstance(node, dict) and "$ref" in node}
        left |= {reference: target(document, reference) for reference in references - found.keys()}
    return found


def target(document: dict[str, Any], reference: str) -> Any:
    value = document
    for name in reference.removeprefix("#/").split("/"):
        value = value[name]
    return value


def names(document: dict[str, Any]) -> Iterator[str]:
    kinds = defaultdict(list)
    for kind in TYPES:
        for name in document["components"].get(kind, {}):
            kinds[name].append(kind)
    for name, found in kinds.items():
        if len(found) > 1:
            yield f"{name} is a name in {' and '.join(found)}: types of these names collide"
    for prefix in PREFIXES:
        for name in document["components"]["schemas"]:
            if prefix + name in document["components"]["schemas"]:
                yield f"{prefix}{name} is what Go's client calls something of {name}: take another name"


def constants(document: dict[str, Any]) -> Iterator[str]:
    kinds = defaultdict(list)
    for name, schema in document["components"]["schemas"].items():
        for value in schema.get("enum", []):
            kinds[str(value).upper()].append(name)
    for value, found in kinds.items():
        if len(found) > 1:
            yield f"{' and '.join(found)} have the value {value}, which is a constant of Go's client: write one of them where it is used"


def absent(schema: Any) -> bool:
    """Whether nothing but `null` or an empty string is such a value."""
    return isinstance(schema, dict) and (schema.get("type") == "null" or schema.get("const") == "" or schema.get("maxLength") == 0)


def schemas(document: dict[str, Any]) -> Iterator[str]:
    for place, node in nodes(document):
        if not isinstance(node, dict):
            continue
        choices = [target(document, one["$ref"]) if "$ref" in one else one for one in node.get("anyOf", [])]
        if any(map(absent, choices)):
            yield f"{place}: anyOf with null or an empty string; say type: [string, 'null'], or oneOf with null, or leave it out"
        if node.get("type") == "boolean" and ("const" in node or "enum" in node):
            yield f"{place}: a boolean with const or enum; say not: {{ const: … }}"


def bodies(document: dict[str, Any]) -> Iterator[str]:
    for place, node in sent(document).items():
        if isinstance(node, dict) and not place.endswith("/properties"):
            if "default" in node:
                yield f"{place}: a default in a request makes the member a required one; say it in the description"
            if node.get("additionalProperties") is True:
                yield f"{place}: with additionalProperties: true, a typing mistake compiles; leave it out, unknown members are allowed"


def servers(document: dict[str, Any]) -> Iterator[str]:
    for server in document["servers"]:
        if not server["url"].startswith(("{", "https://", "http://")):
            yield f"{server['url']}: a relative server is one of the generator's machine; use a variable"


def complaints(document: dict[str, Any]) -> list[str]:
    return [complaint for check in (names, constants, schemas, bodies, servers) for complaint in check(document)]


def main() -> int:
    found = complaints(yaml.safe_load(DOCUMENT.read_text()))
    for complaint in found:
        print(complaint, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
