"""Compares the deployed stack with the template and the packages here, and looks at its alarms and dead-letter queues: `make verify`.

It asks with the environment's rights, changes nothing, prints a line for each comparison, and ends with 1 if something isn't as it
should be. RELEASE names the release that was deployed; else the template and the packages are those of this folder.
"""

import base64
import hashlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
from samcli.yamlhelper import yaml_parse

from .limits import HOME, TEMPLATE
from .stack import STACK, outputs

NESTED = "AWS::CloudFormation::Stack"
# What sam puts into the place of a path.
PATHS = {"CodeUri", "Location", "TemplateURL", "Metadata"}
# https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackDriftDetectionStatus.html
DETECTING = "DETECTION_IN_PROGRESS"

# What a comparison is about, how much it has compared, and what isn't as it should be.
Finding = tuple[str, int, list[str]]
Resource = dict[str, Any]


def resources(client: Any, stack: str) -> Iterator[Resource]:
    """Those of a stack and of its child stacks."""
    for page in client.get_paginator("list_stack_resources").paginate(StackName=stack):
        for resource in page["StackResourceSummaries"]:
            yield resource
            if resource["ResourceType"] == NESTED:
                yield from resources(client, resource["PhysicalResourceId"])


def without_paths(node: Any) -> Any:
    match node:
        case dict():
            return {name: without_paths(value) for name, value in node.items() if name not in PATHS}
        case list():
            return [without_paths(each) for each in node]
    return node


def template(client: Any, found: list[Resource]) -> Finding:
    """Of the stack and its child stacks."""
    compared, differing = 0, []
    children = {each["PhysicalResourceId"]: TEMPLATE["Resources"][each["LogicalResourceId"]] for each in found if each["ResourceType"] == NESTED}
    files = {stack: yaml_parse((HOME / child["Properties"]["TemplateURL"]).read_text()) for stack, child in children.items()}
    for stack, ours in ({STACK: TEMPLATE} | files).items():
        deployed = client.get_template(StackName=stack, TemplateStage="Original")["TemplateBody"]
        theirs, ours = (without_paths(each) for each in (yaml_parse(deployed) if isinstance(deployed, str) else deployed, ours))
        parts = {(part, name) for each in (theirs, ours) for part in each if isinstance(each[part], dict) for name in each[part]}
        compared += len(parts)
        differing += [f"{part}.{name}" for part, name in sorted(parts) if theirs.get(part, {}).get(name) != ours.get(part, {}).get(name)]
    return "parts of the templates are those that are here", compared, differing


def states(_: Any, found: list[Resource]) -> Finding:
    failed = [f"{each['LogicalResourceId']} is {each['ResourceStatus']}" for each in found if not each["ResourceStatus"].endswith("E_COMPLETE")]
    return "resources are complete", len(found), failed


def code(_: Any, found: list[Resource]) -> Finding:
    client, differing, compared = boto3.client("lambda"), [], 0
    for each in found:
        uri = TEMPLATE["Resources"].get(each["LogicalResourceId"], {}).get("Properties", {}).get("CodeUri")
        package = HOME / uri if uri else None
        if each["ResourceType"] == "AWS::Lambda::Function" and package and package.is_file():
            compared += 1
            ours = base64.b64encode(hashlib.sha256(package.read_bytes()).digest()).decode()
            if client.get_function_configuration(FunctionName=each["PhysicalResourceId"])["CodeSha256"] != ours:
                differing.append(f"{each['LogicalResourceId']} has another package than {uri}")
    where = "that are here" if compared else "to compare: name a RELEASE"
    return f"functions have the packages {where}", compared, differing


def drift(client: Any, found: list[Resource]) -> Finding:
    """Of the stack and its child stacks, since detection doesn't go into these."""
    checked, changed = 0, []
    for stack in [STACK, *(each["PhysicalResourceId"] for each in found if each["ResourceType"] == NESTED)]:
        drifts, reasons = drifts_of(client, stack)
        checked += len(drifts)
        changed += [f"{each['LogicalResourceId']} is {each['StackResourceDriftStatus']}: {paths(each)}" for each in drifts
                    if each["StackResourceDriftStatus"] != "IN_SYNC"] + reasons
    return "resources are as CloudFormation made them", checked, changed


def drifts_of(client: Any, stack: str) -> tuple[list[Resource], list[str]]:
    """The resources that were checked, and why some couldn't be."""
    identity = client.detect_stack_drift(StackName=stack)["StackDriftDetectionId"]
    while (status := client.describe_stack_drift_detection_status(StackDriftDetectionId=identity))["DetectionStatus"] == DETECTING:
        time.sleep(2)
    drifts, more = [], {}
    while more is not None:
        page = client.describe_stack_resource_drifts(StackName=stack, **more)
        drifts += [each for each in page["StackResourceDrifts"] if each["StackResourceDriftStatus"] != "NOT_CHECKED"]
        more = {"NextToken": page["NextToken"]} if "NextToken" in page else None
    return drifts, [status["DetectionStatusReason"]] if "DetectionStatusReason" in status else []


def paths(resource: Resource) -> str:
    return ", ".join(each["PropertyPath"] for each in resource.get("PropertyDifferences", []))


def alarms(_: Any, found: list[Resource]) -> Finding:
    ours = {each["PhysicalResourceId"] for each in found if each["ResourceType"] == "AWS::CloudWatch::Alarm"}
    pages = boto3.client("cloudwatch").get_paginator("describe_alarms").paginate(StateValue="ALARM")
    gone_off = [f"{each['AlarmName']}: {each['StateReason']}" for page in pages for each in page["MetricAlarms"] if each["AlarmName"] in ours]
    return "alarms are quiet", len(ours), gone_off


def dead_letters(_: Any, __: list[Resource]) -> Finding:
    client = boto3.client("sqs")
    urls = {name.removesuffix("Url"): url for name, url in outputs().items() if name.endswith("DlqUrl")}
    counts = {}
    for name, url in urls.items():
        answer = client.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
        counts[name] = int(answer["Attributes"]["ApproximateNumberOfMessages"])
    full = [f"{name} has {count} messages: make dlq shows them" for name, count in counts.items() if count]
    return "dead-letter queues are empty", len(urls), full


def main() -> None:
    client = boto3.client("cloudformation")
    found, differs = list(resources(client, STACK)), False
    for compare in (states, template, code, drift, alarms, dead_letters):
        what, compared, wrong = compare(client, found)
        differs |= bool(wrong)
        print(f"{compared - len(wrong) if compared else 'no'} {what}{', but:' if wrong else ''}", flush=True)
        for each in wrong:
            print(f"    {each}")
    sys.exit(int(differs))


if __name__ == "__main__":
    main()
