"""What the deployed stack says about itself: STACK_NAME, or `linklet`, in the environment's account and region."""

import os

import boto3


def outputs() -> dict[str, str]:
    name = os.environ.get("STACK_NAME") or "linklet"
    stack = boto3.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
