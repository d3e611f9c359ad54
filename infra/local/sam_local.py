"""Writes the template in a form in which `sam local start-api` finds the routes: `make startapi` uses it.

As soon as a template has one function of SAM's own type, SAM looks for routes in the functions' events only, and ours are
resources of their own. So the functions become plain ones here, with the template's globals written out.
"""

from __future__ import annotations

import sys
from pathlib import Path

from samcli.yamlhelper import yaml_dump, yaml_parse

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    template = yaml_parse((ROOT / "template.yaml").read_text())
    common = template.pop("Globals")["Function"]
    del template["Transform"]
    for resource in template["Resources"].values():
        if resource["Type"] != "AWS::Serverless::Function":
            continue
        own = resource["Properties"]
        variables = common["Environment"]["Variables"] | own.get("Environment", {}).get("Variables", {})
        resource["Type"] = "AWS::Lambda::Function"
        resource["Properties"] = common | own | {
            "Environment": {"Variables": variables},
            "Code": str(ROOT / own["CodeUri"]),
        }
    sys.stdout.write(yaml_dump(template))


if __name__ == "__main__":
    main()
