"""What the deployed stack says about itself: STACK_NAME, or `linklet`, in the environment's account and region."""

import os

import boto3


STACK = os.environ.get("STACK_NAME") or "linklet"


def outputs() -> dict[str, str]:
    stack = boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
