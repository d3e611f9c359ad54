"""`make document` runs these."""

import unittest
from typing import Any

from .document import complaints


def document(schemas: dict[str, Any], url: str = "{url}", **components: Any) -> dict[str, Any]:
    """One whose only operation takes a Link."""
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Link"}}}}
    return {
        "servers": [{"url": url}],
        "paths": {"/links": {"post": {"requestBody": body}}},
        "components": {"schemas": {"Link": {"type": "object"}} | schemas, **components},
    }


def link(member: dict[str, Any], **rules: Any) -> dict[str, Any]:
    return {"Link": {"type": "object", "properties": {"title": member}} | rules}


class Document(unittest.TestCase):
    def test_what_no_generator_stumbles_over_is_no_complaint(self) -> None:
        nullable = {"oneOf": [{"$ref": "#/components/schemas/Tag"}, {"type": "null"}], "example": {"default": 1}}
        query = {"Page": {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1}}}
        rules = {"dependentSchemas": {"default": {"properties": {}}}, "propertyNames": {"not": {"enum": ["id"]}}}
        answer = {"type": "object", "additionalProperties": False, "properties": {"default": {"type": "boolean"}}} | rules
        found = complaints(document(link(nullable) | {"Tag": {"type": "string"}, "Answer": answer}, parameters=query))
        self.assertEqual(found, [])

    def test_each_thing_that_a_generator_stumbles_over_is_a_complaint(self) -> None:
        tag = {"Tag": {"type": "string"}}
        reference = {"$ref": "#/components/schemas/Tag"}
        for broken, complaint in [
            (document({"Tag": {}}, parameters={"Tag": {"name": "tag", "in": "query"}}), "Tag is a name in schemas and parameters"),
            (document({"NewLink": {}}), "NewLink is what Go"),
            (document(link({"anyOf": [reference, {"type": "null"}]}) | tag), "title: anyOf"),
            (document({"Tag": {"allOf": [{"$ref": "#/components/schemas/Link"}]}}), "Tag: allOf"),
            (document(link({"oneOf": [reference, {"type": "integer"}]}) | tag), "title: oneOf of more"),
            (document(link({"properties": {}})), "title: a type without a name"),
            (document(link({"type": "array", "items": {"type": "object"}})), "title/items: a type without a name"),
            (document({}, parameters={"Kind": {"schema": {"enum": ["bot"]}}}), "Kind/schema: a type without a name"),
            (document({"Kind": {"type": ["string", "null"], "enum": ["bot", None]}}), "Kind: a type of what may be null"),
            (document(link({"type": "boolean", "const": False})), "title: a boolean with const or enum"),
            (document(link({"type": "boolean", "default": False})), "title: a default in a request"),
            (document(link(reference) | {"Tag": {"type": "string", "default": "docs"}}), "schemas/Tag: a default in a request"),
            (document(link(reference, additionalProperties=True) | tag), "schemas/Link: with additionalProperties"),
            (document({}, url="../"), "../: a relative server"),
            (document({"Kind": {"enum": ["device-type"]}, "DeviceType": {"enum": ["bot"]}}), "Kind has the value DeviceType"),
        ]:
            with self.subTest(complaint):
                found = complaints(broken)
                self.assertEqual(len(found), 1, found)
                self.assertIn(complaint, found[0])
