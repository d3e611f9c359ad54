"""What becomes of the template for `sam local`, and that the documentation names all that a stack's file needs."""

from __future__ import annotations

import functools
import json
import re
import unittest
from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_parse

from .sam_local import ROOT, behind_the_api, for_start_api, functions_of, missing
from .startapi import functions_behind_the_api

BUILT = Path("/built")
REDIRECT = "RedirectFunction"
NOTIFY = "NotifyFunction"


@functools.cache
def template_yaml() -> dict[str, Any]:
    return yaml_parse((ROOT / "template.yaml").read_text())


def written(given: dict[str, dict[str, str]], architecture: str = "x86_64") -> dict[str, Any]:
    return for_start_api(template_yaml(), architecture, BUILT, given)


def variables(template: dict[str, Any], function: str) -> dict[str, Any]:
    return template["Resources"][function]["Properties"]["Environment"]["Variables"]


class Functions(unittest.TestCase):
    def test_they_are_for_the_given_processor(self) -> None:
        for architecture in ("arm64", "x86_64"):
            parameter = written({}, architecture)["Parameters"]["Architecture"]
            self.assertEqual(parameter["Default"], architecture)

    def test_they_are_those_that_were_built(self) -> None:
        template = written({})
        functions = functions_of(template["Resources"])
        folders = {functions[name]["Properties"]["Code"] for name in behind_the_api(template)}
        self.assertEqual(folders, {str(BUILT / name) for name in functions_behind_the_api()})

    def test_they_keep_what_the_template_says_for_all_and_for_each(self) -> None:
        properties = written({})["Resources"]["AuthFunction"]["Properties"]
        self.assertEqual((properties["Runtime"], properties["MemorySize"]), ("provided.al2023", 1024))
        self.assertLessEqual({"LOG_LEVEL", "USERS_TABLE"}, set(properties["Environment"]["Variables"]))

    def test_every_route_refers_to_an_integration(self) -> None:
        resources = written({})["Resources"]
        integrations = {name for name, resource in resources.items() if resource["Type"] == "AWS::ApiGatewayV2::Integration"}
        targets = [each["Properties"]["Target"] for each in resources.values() if each["Type"] == "AWS::ApiGatewayV2::Route"]
        self.assertGreater(len(targets), 30)
        for target in targets:
            # A reference and no mere text: SAM looks for the resource.
            self.assertIn(target, [{"Fn::Sub": f"integrations/${{{name}}}"} for name in integrations])

    def test_no_route_leads_to_an_alias(self) -> None:
        template = written({})
        self.assertIn(REDIRECT, behind_the_api(template))
        self.assertNotIn(".Alias", json.dumps(template))


class Variables(unittest.TestCase):
    def test_what_no_function_knows_is_declared_for_all(self) -> None:
        template = written({"Parameters": {"AWS_ENDPOINT_URL": "http://elsewhere"}})
        for name in functions_of(template["Resources"]):
            self.assertIn("AWS_ENDPOINT_URL", variables(template, name))

    def test_what_is_meant_for_one_function_is_declared_there(self) -> None:
        template = written({REDIRECT: {"AWS_ENDPOINT_URL_SQS": "http://elsewhere"}})
        self.assertIn("AWS_ENDPOINT_URL_SQS", variables(template, REDIRECT))
        self.assertNotIn("AWS_ENDPOINT_URL_SQS", variables(template, NOTIFY))

    def test_a_function_gets_none_of_another(self) -> None:
        template = written({"Parameters": {"CLICKS_TABLE": "clicks", "NOTIFICATIONS_TABLE": "notifications"}})
        self.assertNotIn("CLICKS_TABLE", variables(template, NOTIFY))
        self.assertNotIn("NOTIFICATIONS_TABLE", variables(template, REDIRECT))

    def test_what_only_a_stack_knows_is_missed(self) -> None:
        given = {"Parameters": {"LINKS_TABLE": "links", "CLICKS_TABLE": ""}}
        lacking = missing(written(given), given)
        self.assertLessEqual({"CLICKS_TABLE", "WATCH_TABLE", "JWT_SECRET_ID", "ANALYTICS_QUEUE_URL"}, lacking)
        self.assertFalse({"LINKS_TABLE", "LOG_LEVEL", "PUBLIC_BASE_URL", "NOTIFY_QUEUE_URL"} & lacking)

    def test_the_documentation_names_all_of_these(self) -> None:
        text = (ROOT / "docs" / "local-sam.md").read_text()
        example = re.search(r"```json\n(\{.*?\n\})\n```", text, re.DOTALL)
        assert example is not None
        given = json.loads(example[1])
        self.assertEqual(set(given["Parameters"]), missing(written({}), {}))


if __name__ == "__main__":
    unittest.main()
