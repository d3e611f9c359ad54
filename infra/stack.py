"""What the deployed stack says about itself: STACK_NAME, or `linklet`, in the environment's account and region."""

import os
import subprocess
import sys

import boto3


def outputs() -> dict[str, str]:
    name = os.environ.get("STACK_NAME") or "linklet"
    stack = boto3.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def run(package: str, arguments: list[str], variables: dict[str, str]) -> int:
    """Runs one of our commands in Rust with the credentials of this environment, and returns its exit code."""
    # The profile may need a browser or another program; boto3 can do what the command need not know.
    session = boto3.Session()
    credentials = session.get_credentials()
    if credentials is None:
        sys.exit("There are no AWS credentials. Run `aws configure`, or set AWS_PROFILE.")
    frozen = credentials.get_frozen_credentials()
    environment = os.environ | variables | {
        "AWS_ACCESS_KEY_ID": frozen.access_key,
        "AWS_SECRET_ACCESS_KEY": frozen.secret_key,
        "AWS_REGION": session.region_name or "",
    }
    if frozen.token:
        environment["AWS_SESSION_TOKEN"] = frozen.token
    # What tests have built has other features, with which Cargo would build it again.
    built = os.environ.get("LINKLET_BUILT")
    program = [f"{built}/{package}"] if built else ["cargo", "run", "--quiet", "--package", package, "--"]
    return subprocess.run([*program, *arguments], env=environment).returncode
