"""`make document` runs these."""

import ast
import unittest

from .clients import Python, made_up


class Tour(unittest.TestCase):
    def test_the_page_of_the_api_begins_with_a_short_program(self) -> None:
        tour = Python().text()
        self.assertTrue(ast.parse(tour).body)
        self.assertLessEqual(len(tour.splitlines()), 60)


class Types(unittest.TestCase):
    def test_a_type_has_the_name_of_a_component_or_of_an_operation(self) -> None:
        document = {"components": {"schemas": {"OpenApi": {}}}, "paths": {"/": {"parameters": [], "get": {"operationId": "showLink"}}}}
        fine = {"OpenApi", "OpenAPI", "ShowLinkParams", "ShowLinkResponse", "ShowLinkResponse200Headers", "ShowLinkJSONRequestBody"}
        wrong = ["OpenApi0", "OpenApiType0", "OpenApiItem", "ShowLink200Response", "ShowLinkParamsSort", "InlineObject"]
        self.assertEqual(made_up(fine | set(wrong), document), sorted(wrong))
