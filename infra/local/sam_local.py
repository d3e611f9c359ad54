"""Writes the template in a form in which `sam local start-api` finds the routes: `make startapi` uses it.

As soon as a template has one function of SAM's own type, SAM looks for routes in the functions' events only, and ours are
resources of their own. So the functions become plain ones here, with the template's globals written out and without their
versions: a container runs what was built last.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_dump, yaml_parse

ROOT = Path(__file__).resolve().parents[2]
VERSIONING = ("AutoPublishAlias", "AutoPublishAliasAllProperties", "VersionDescription", "DeploymentPreference")


def main() -> None:
    template = yaml_parse((ROOT / "template.yaml").read_text())
    common = template.pop("Globals")["Function"]
    del template["Transform"]
    for resource in template["Resources"].values():
        if resource["Type"] != "AWS::Serverless::Function":
            continue
        own = {name: value for name, value in resource["Properties"].items() if name not in VERSIONING}
        variables = common["Environment"]["Variables"] | own.get("Environment", {}).get("Variables", {})
        resource["Type"] = "AWS::Lambda::Function"
        resource["Properties"] = common | own | {
            "Environment": {"Variables": variables},
            "Code": str(ROOT / own["CodeUri"]),
        }
    sys.stdout.write(yaml_dump(without_aliases(template)))


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


if __name__ == "__main__":
    main()
