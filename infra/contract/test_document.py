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
        answer = {"type": "object", "additionalProperties": False, "properties": {"default": {"type": "boolean"}}}
        found = complaints(document(link(nullable) | {"Tag": {"type": "string"}, "Answer": answer}, parameters=query))
        self.assertEqual(found, [])

    def test_each_thing_that_a_generator_stumbles_over_is_a_complaint(self) -> None:
        empty = {"Tag": {"type": "string"}, "Absent": {"type": ["string", "null"], "maxLength": 0}}
        reference = {"$ref": "#/components/schemas/Tag"}
        for broken, complaint in [
            (document({"Tag": {}}, parameters={"Tag": {"name": "tag", "in": "query"}}), "Tag is a name in schemas and parameters"),
            (document({"NewLink": {}}), "NewLink is what Go"),
            (document(link({"anyOf": [reference, {"type": "null"}]}) | empty), "title: anyOf with null"),
            (document(link({"anyOf": [reference, {"$ref": "#/components/schemas/Absent"}]}) | empty), "title: anyOf with null"),
            (document(link({"type": "boolean", "enum": [False]})), "title: a boolean with const or enum"),
            (document(link({"type": "boolean", "default": False})), "title: a default in a request"),
            (document(link(reference) | {"Tag": {"type": "string", "default": "docs"}}), "schemas/Tag: a default in a request"),
            (document(link(reference, additionalProperties=True) | empty), "schemas/Link: with additionalProperties"),
            (document({}, url="../"), "../: a relative server"),
            (document({"Kind": {"enum": ["bot"]}, "Device": {"enum": ["bot"]}}), "Kind and Device have the value BOT"),
        ]:
            with self.subTest(complaint):
                found = complaints(broken)
                self.assertEqual(len(found), 1, found)
                self.assertIn(complaint, found[0])
