"""Writes the template in a form that `sam local start-api` can serve: `startapi.py` uses it, with SAM's own Python.

As soon as a template has one function of SAM's own type, SAM looks for routes in the functions' events only, and ours are
resources of their own. So the functions become plain ones here, with the template's globals written out and without their
versions: a container runs what was built last.

A container gets only variables that the template declares. So those that are given and that no function has, such as
AWS_ENDPOINT_URL, are declared here for all functions.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .installer import ROOT

VERSIONING = ("AutoPublishAlias", "AutoPublishAliasAllProperties", "VersionDescription", "DeploymentPreference")
# In a file of variables: those for all functions. Other sections are for the function of that name.
FOR_ALL = "Parameters"

# Alarms and dashboard: nothing watches over containers.
CHILD_STACK = "AWS::CloudFormation::Stack"

Template = dict[str, Any]
Variables = dict[str, dict[str, str]]


def for_start_api(template: Template, architecture: str, functions: Path, given: Variables) -> Template:
    """The template with functions for this processor, built into this folder, that take the given variables."""
    local = without_aliases(without_loops(template))
    common = local.pop("Globals")["Function"]
    del local["Transform"]
    local["Parameters"]["Architecture"]["Default"] = architecture
    here = {name: resource for name, resource in local["Resources"].items() if resource["Type"] != CHILD_STACK}
    resources = {name: plain(resource, common, functions) for name, resource in here.items()}
    declare(given, resources)
    return local | {"Resources": resources}


def without_loops(template: Template) -> Template:
    """With what loops make written out, by SAM's own expansion of AWS::LanguageExtensions. All else stays as it is, and in what loops
    make, references within a text become references again: the expansion turns them into mere text, and SAM would find no function
    behind a route."""
    from samcli.lib.cfn_language_extensions.sam_integration import expand_language_extensions

    resources = template["Resources"]
    expanded = expand_language_extensions(template, {}, enabled=True).expanded_template["Resources"]
    looped = {name: with_references(resource) for name, resource in expanded.items() if name not in resources}
    return template | {"Resources": {name: resources[name] for name in expanded if name in resources} | looped}


def with_references(node: Any) -> Any:
    if isinstance(node, str):
        return {"Fn::Sub": node} if "${" in node else node
    if isinstance(node, list):
        return [with_references(each) for each in node]
    if isinstance(node, dict) and "Fn::Sub" not in node:
        return {name: with_references(value) for name, value in node.items()}
    return node


def plain(resource: Template, common: Template, functions: Path) -> Template:
    if resource["Type"] != "AWS::Serverless::Function":
        return resource
    own = {name: value for name, value in resource["Properties"].items() if name not in VERSIONING}
    built = functions / Path(own.pop("CodeUri")).name
    variables = common["Environment"]["Variables"] | own.get("Environment", {}).get("Variables", {})
    properties = common | own | {"Environment": {"Variables": variables}, "Code": str(built)}
    return {"Type": "AWS::Lambda::Function", "Properties": properties}


def declare(given: Variables, resources: Template) -> None:
    """Adds the variables that no function has. Their values are in the file, which SAM reads as well."""
    variables = {name: resource["Properties"]["Environment"]["Variables"] for name, resource in functions_of(resources).items()}
    known = {variable for own in variables.values() for variable in own}
    for name, own in variables.items():
        own.update({variable: "" for variable in values_for(name, given) if variable not in known})


def values_for(function: str, given: Variables) -> dict[str, str]:
    return given.get(FOR_ALL, {}) | given.get(function, {})


def missing(template: Template, given: Variables) -> set[str]:
    """Variables of functions behind the API that only a deployed stack knows and that aren't given. SAM would make up a value."""
    resources = template["Resources"]
    return {
        variable
        for name in behind_the_api(template)
        for variable, value in resources[name]["Properties"]["Environment"]["Variables"].items()
        if is_known_when_deployed(value, resources) and not values_for(name, given).get(variable)
    }


def behind_the_api(template: Template) -> set[str]:
    integrations = (each for each in template["Resources"].values() if each["Type"] == "AWS::ApiGatewayV2::Integration")
    return {integration["Properties"]["IntegrationUri"]["Fn::GetAtt"][0] for integration in integrations}


def functions_of(resources: Template) -> Template:
    return {name: resource for name, resource in resources.items() if resource["Type"] == "AWS::Lambda::Function"}


def is_known_when_deployed(value: Any, resources: Template) -> bool:
    return isinstance(value, dict) and ("Fn::GetAtt" in value or value.get("Ref") in resources)


def without_aliases(node: Any) -> Any:
    """Whatever leads to a function's alias leads to the function."""
    if isinstance(node, list):
        return [without_aliases(each) for each in node]
    if not isinstance(node, dict):
        return node
    target = node.get("Ref")
    if isinstance(target, str) and target.endswith(".Alias"):
        return {"Fn::GetAtt": [target.removesuffix(".Alias"), "Arn"]}
    return {name: without_aliases(value) for name, value in node.items()}


def main() -> None:
    from samcli.yamlhelper import yaml_dump, yaml_parse

    parser = argparse.ArgumentParser(description="Writes a template for `sam local start-api`; see startapi.py")
    parser.add_argument("--architecture", required=True, choices=["arm64", "x86_64"])
    parser.add_argument("--functions", required=True, type=Path, help="the folder that they are built into")
    parser.add_argument("--variables", required=True, type=Path, help="the file that SAM gets with --env-vars")
    arguments = parser.parse_args()
    template = yaml_parse((ROOT / "template.yaml").read_text())
    given = json.loads(arguments.variables.read_text())
    local = for_start_api(template, arguments.architecture, arguments.functions, given)
    if lacking := missing(local, given):
        sys.exit(f"{arguments.variables} lacks {', '.join(sorted(lacking))}. docs/local-sam.md says where they come from.")
    sys.stdout.write(yaml_dump(local))


if __name__ == "__main__":
    main()
