"""Looks in docs/openapi.yaml for what generators of clients stumble over: `make document` runs it.

A valid document can still give a client that doesn't compile, or one in which a typing mistake passes. `make clients` generates
some; this finds the known causes in a second, and names them.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"
# Generators write a type for each of these, all into one package.
TYPES = ["schemas", "parameters", "headers", "responses", "requestBodies"]
# openapi-generator writes NewLink() and NullableLink for a schema Link in its client for Go.
PREFIXES = ["New", "Nullable"]
# What is in them says which values are right, and makes no type.
RULES = {"if", "then", "else", "not", "propertyNames", "dependentSchemas"}


def nodes(value: Any, place: str = "#") -> Iterator[tuple[str, Any]]:
    """A value and all that is in it, each with its place."""
    yield place, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        if name not in ("example", "examples", "x-linklet"):
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
    """A value of an enumeration is a constant of oapi-codegen's client. It begins with the name of the enumeration only if another one has
    one of its values, too."""
    schemas = document["components"]["schemas"].items()
    values = {name: {in_go(value) for value in schema["enum"]} for name, schema in schemas if "enum" in schema}
    for name, own in values.items():
        if all(own.isdisjoint(other) for kind, other in values.items() if kind != name):
            for value in sorted(own & values.keys()):
                yield f"{name} has the value {value}, which is also an enumeration of Go's client: give that another name"


def in_go(value: Any) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split("[^0-9A-Za-z]+", str(value)))


def types(document: dict[str, Any]) -> Iterator[str]:
    """A type for which a generator has to make up a name, such as LinkPreviewType0, InlineObject or ShowLink200Response, and one of which
    it leaves members out."""
    for place, node in nodes(document):
        if not isinstance(node, dict) or place.endswith("/properties") or not RULES.isdisjoint(place.split("/")):
            continue
        is_named = re.fullmatch("#/components/schemas/[^/]+", place)
        has_type = "properties" in node or "enum" in node or "object" in kinds_of(node)
        if has_type and not is_named:
            yield f"{place}: a type without a name; make it one of components/schemas"
        if has_type and "null" in kinds_of(node):
            yield f"{place}: a type of what may be null; say oneOf with null where it is used"
        for kind in ("allOf", "anyOf"):
            if kind in node:
                yield f"{place}: {kind}; write all members, or say type: [string, 'null'], or oneOf with null"
        if "oneOf" in node and not ("$ref" in node["oneOf"][0] and node["oneOf"][1:] == [{"type": "null"}]):
            yield f"{place}: oneOf of more than a named schema and null"


def kinds_of(schema: dict[str, Any]) -> list[str]:
    kind = schema.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def schemas(document: dict[str, Any]) -> Iterator[str]:
    for place, node in nodes(document):
        if not isinstance(node, dict):
            continue
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
    return [complaint for check in (names, constants, types, schemas, bodies, servers) for complaint in check(document)]


def main() -> int:
    found = complaints(yaml.safe_load(DOCUMENT.read_text()))
    for complaint in found:
        print(complaint, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
