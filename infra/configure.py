"""Changes a deployed stack without building anything: `make configure` its parameters, `make rollback` its code and resources.

`make deploy` keeps the template that it replaces in the bucket of the packages, whose names follow from their content. So that
template finds the packages it was deployed with.
"""

import argparse
import json
import time
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

from .limits import Parameters
from .local.installer import Failure, end_with
from .stack import STACK

# Of SAM, which `resolve_s3` in samconfig.toml asks for.
BUCKETS = "aws-sam-cli-managed-default"
CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
# https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeChangeSet.html has no code for it.
UNCHANGED = ("didn't contain changes", "No updates are to be performed")
LOOK_EVERY_SECONDS = 2


def kept_template(client: Any, stack: str) -> dict[str, str]:
    """Where the template is that the last deployment has replaced."""
    outputs = client.describe_stacks(StackName=BUCKETS)["Stacks"][0]["Outputs"]
    bucket = next(each["OutputValue"] for each in outputs if each["OutputKey"] == "SourceBucket")
    return {"Bucket": bucket, "Key": f"{stack}/before.template"}


def template_of(client: Any, stack: str) -> str:
    template = client.get_template(StackName=stack, TemplateStage="Original")["TemplateBody"]
    return template if isinstance(template, str) else json.dumps(template)


def keep(session: boto3.Session, stack: str, template: str, commit: str) -> None:
    """Keeps a template of a stack with its commit, to which `rollback` leads from now on."""
    place = kept_template(session.client("cloudformation"), stack)
    session.client("s3").put_object(**place, Body=template.encode(), Metadata={"commit": commit})


def parameters(answer: dict[str, Any]) -> Parameters:
    return {each["ParameterKey"]: each.get("ParameterValue", "") for each in answer["Parameters"]}


def configure(client: Any, changed: Parameters) -> None:
    known = parameters(client.describe_stacks(StackName=STACK)["Stacks"][0])
    if unknown := changed.keys() - known:
        raise Failure(f"There is no parameter {', '.join(sorted(unknown))}. docs/parameters.md has those that there are.")
    update(client, set(known), changed, UsePreviousTemplate=True)


def rollback(client: Any) -> None:
    place, storage, now = kept_template(client, STACK), boto3.client("s3"), template_of(client, STACK)
    url = f"{storage.meta.endpoint_url}/{place['Bucket']}/{place['Key']}"
    try:
        wanted = parameters(client.get_template_summary(TemplateURL=url))
    except ClientError as error:
        raise Failure(f"No deployment before this one of {STACK} is kept: {error}") from None
    known = parameters(client.describe_stacks(StackName=STACK)["Stacks"][0])
    if lost := known.keys() - wanted.keys():
        print(f"That template doesn't have these parameters, so their values are lost: {', '.join(sorted(lost))}.")
    commit = {"Commit": storage.head_object(**place)["Metadata"].get("commit", "")} if "Commit" in wanted else {}
    if update(client, wanted.keys() & known.keys(), commit, TemplateURL=url):
        keep(boto3.Session(), STACK, now, known.get("Commit", ""))
        print("Another `make rollback` leads back to what was deployed until now.")


def update(client: Any, kept: set[str], changed: Parameters, **template: Any) -> bool:
    """Updates the stack by a change set, which it prints, and waits for the end. Returns whether anything has changed."""
    values = [{"ParameterKey": name, "UsePreviousValue": True} for name in sorted(kept - changed.keys())]
    values += [{"ParameterKey": name, "ParameterValue": value} for name, value in changed.items()]
    wait = {"WaiterConfig": {"Delay": LOOK_EVERY_SECONDS, "MaxAttempts": 3_600 // LOOK_EVERY_SECONDS}}
    change_set = {"StackName": STACK, "ChangeSetName": f"linklet-{int(time.time())}"}
    client.create_change_set(**change_set, ChangeSetType="UPDATE", Parameters=values, Capabilities=CAPABILITIES, **template)
    try:
        client.get_waiter("change_set_create_complete").wait(**change_set, **wait)
    except WaiterError as error:
        reason = error.last_response.get("StatusReason", "")
        client.delete_change_set(**change_set)
        if any(text in reason for text in UNCHANGED):
            print("Nothing changes.")
            return False
        raise Failure(f"Nothing was changed: {reason}") from None
    for page in client.get_paginator("describe_change_set").paginate(**change_set):
        for each in page["Changes"]:
            print(f"{each['ResourceChange']['Action']:<8}{each['ResourceChange']['LogicalResourceId']}")
    client.execute_change_set(**change_set)
    try:
        client.get_waiter("stack_update_complete").wait(StackName=STACK, **wait)
    except WaiterError as error:
        raise Failure(f"The change has failed and is taken back: {error}. The stack's events say why.") from None
    print(f"{STACK} is changed.")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description="Changes a deployed stack without building anything")
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")
    commands.add_parser("rollback", help="to the deployment before")
    given = commands.add_parser("configure", help="change parameters")
    given.add_argument("parameters", nargs="+", metavar="Name=Value")
    arguments = parser.parse_args()
    client = boto3.client("cloudformation")
    try:
        if arguments.command == "rollback":
            rollback(client)
        else:
            configure(client, dict(each.split("=", 1) for each in arguments.parameters))
    except (ClientError, BotoCoreError) as error:
        raise Failure(str(error)) from None


if __name__ == "__main__":
    end_with(main)
