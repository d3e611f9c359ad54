"""Deploys to AWS: `make deploy` runs it with sam's own flags.

It says what it will do, asks the account whether that fits, builds unless RELEASE names what is built, and deploys. Protected tables
would keep a first deployment that fails from being removed, so they and the stack are protected when it has been tried.
"""

import argparse
import os
import shlex
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import click
from botocore.exceptions import BotoCoreError, ClientError
from samcli.cli.types import CfnParameterOverridesType

from .configure import keep, template_of
from .costs import inputs, linklet, tables
from .limits import DEFAULTS, TEMPLATE, UNASKED, Account, Parameters, findings, reason
from .local.client import send
from .local.installer import ROOT, Failure, end_with, say
from .oidc import ids as providers
from .release import commit_of, verified

RELEASE = os.environ.get("RELEASE")
PROTECTION = "DeletionProtection"
PROVIDER_LISTS = ["OidcIssuers", "OidcClientIds", "OidcNames"]
# Event sources of a new stack begin after a minute at most: API_CreateEventSourceMapping.html.
HEALTHY_WITHIN = 120
# The parameters that `make cost` has as inputs, by its names.
COSTS = {
    "MONITORING": "Monitoring", "TRACING": "Tracing", "ACCESS_LOG": "AccessLog", "LOG_DAYS": "LogRetentionDays",
    "CLICK_DAYS": "RawClickDays", "CLICK_RECOVERY": "ClickRecovery", "MAX_CONCURRENCY": "MaxConcurrency", "EDGE": "TrustedEdge",
}


@dataclass(frozen=True)
class Deployment:
    """What sam is told by its flags, or else by samconfig.toml."""

    stack: str
    overrides: Parameters
    region: str | None
    profile: str | None
    # All but those about parameters.
    flags: tuple[str, ...] = ()

    @staticmethod
    def of(arguments: list[str]) -> "Deployment":
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("--parameter-overrides", nargs="+", action="extend")
        overriding, flags = parser.parse_known_args(arguments)
        parser.add_argument("--config-file", default="samconfig.toml")
        parser.add_argument("--config-env", default="default")
        for flag in ("--stack-name", "--region", "--profile"):
            parser.add_argument(flag)
        given, _ = parser.parse_known_args(flags)  # the other flags are sam's alone
        environment = tomllib.loads((ROOT / given.config_file).read_text()).get(given.config_env, {})
        common, own = (environment.get(command, {}).get("parameters", {}) for command in ("global", "deploy"))
        configured = common | own
        overrides = overriding.parameter_overrides or configured.get("parameter_overrides") or ""
        return Deployment(
            stack=given.stack_name or configured.get("stack_name", "linklet"),
            overrides=CfnParameterOverridesType().convert(overrides, None, None),
            region=given.region or configured.get("region"),
            profile=given.profile or configured.get("profile"),
            flags=tuple(flags),
        )

    def command(self, overrides: Parameters, *more: str) -> list[str]:
        template = verified(ROOT / RELEASE) if RELEASE else ROOT / "template.yaml"
        quoted = [f"ParameterKey={name},ParameterValue={shlex.quote(value)}" for name, value in (self.overrides | overrides).items()]
        sam = str(Path(sys.executable).parent / "sam")
        return [sam, "deploy", "--template-file", str(template), *self.flags, *more, "--parameter-overrides", *quoted]


def deploy(deployment: Deployment, overrides: Parameters, *more: str) -> None:
    # samconfig.toml is looked for beside the template, and that of a release has none.
    config = () if "--config-file" in deployment.flags else ("--config-file", str(ROOT / "samconfig.toml"))
    ended = subprocess.run(deployment.command(overrides, *config, *more), cwd=ROOT, env=os.environ | {"SAM_CLI_TELEMETRY": "0"})
    if ended.returncode:
        raise Failure("The deployment has failed, see above. `make deploy` again goes on from there.")


def session_of(deployment: Deployment) -> boto3.Session:
    try:
        session = boto3.Session(region_name=deployment.region, profile_name=deployment.profile)
        if session.get_credentials() is None:
            raise Failure("There are no AWS credentials. Run `aws configure` or `aws sso login`, or set AWS_PROFILE.")
    except BotoCoreError as error:
        raise Failure(f"The AWS credentials can't be read: {error}") from None
    if session.region_name is None:
        raise Failure("There is no region. Set AWS_REGION, or deploy with DEPLOY_FLAGS='--region eu-west-1'.")
    return session


def caller(account: Account) -> dict[str, str]:
    try:
        return account.client("sts").get_caller_identity()
    except UNASKED as error:
        raise Failure(f"AWS doesn't accept the credentials: {error}") from None


def plan(who: dict[str, str], region: str, stack: str, exists: bool, parameters: Parameters) -> str:
    """What will be done, in ten lines."""
    def of(name: str, otherwise: str) -> str:
        return parameters[name] or otherwise

    functions = sum(each.get("Type") == "AWS::Serverless::Function" for each in TEMPLATE["Resources"].values() if isinstance(each, dict))
    domain = parameters["DomainName"]
    made = "record" if parameters["CertificateArn"] else "certificate and record"
    rows = {
        "Stack": f"{stack} ({'updated' if exists else 'new'}), in {region} of the account {who['Account']}",
        "As": who["Arn"],
        "Code": f"{RELEASE or 'built here'}, for {parameters['Architecture']}",
        "Address": (f"https://{domain}" + (f", with a {made} in the zone {parameters['HostedZoneId']}" if parameters["HostedZoneId"] else ""))
        if domain else of("PublicBaseUrl", "that of API Gateway; DomainName gives it your own"),
        "Mail": of("MailSender", "none; MailSender names who sends it"),
        "Accounts": f"Registration={parameters['Registration']}; AccountConcurrency={parameters['AccountConcurrency']}",
        "Watched": f"Monitoring={parameters['Monitoring']}, {of('AlarmEmail', 'and AlarmEmail names nobody')}; logs for "
        f"{parameters['LogRetentionDays']} days",
        "Makes": f"an HTTP API, {functions} functions with a role and a log group each, tables and queues; the change set has all",
        "Protects": protects(exists, parameters[PROTECTION]),
        "Costs": about_costs(parameters),
    }
    return "\n".join(f"{name + ':':<10} {text}" for name, text in rows.items())


def protects(exists: bool, protection: str) -> str:
    if protection == "off":
        return "nothing, since DeletionProtection=off"
    return "tables and the stack from being deleted" + ("" if exists else ", as soon as a link and its click were tried")


def about_costs(parameters: Parameters) -> str:
    def usd(*more: str) -> float:
        known = {name: parameters[parameter] for name, parameter in COSTS.items()}
        # What the lower levels log isn't measured.
        known["LOG_LEVEL"] = {"debug": "info", "trace": "info"}.get(parameters["LogLevel"], parameters["LogLevel"])
        load = inputs.parse([*(f"{name}={value}" for name, value in known.items()), *more])
        return linklet.bill(load, tables.load_tables()).total

    idle, busy = usd("CLICKS=0", "LINKS=0"), usd()
    return f"${idle:,.2f} a month without clicks, ${busy:,.2f} with a million clicks and 10,000 new links (make cost)"


def about_alarms(parameters: Parameters) -> str:
    if parameters["AlarmEmail"] or parameters["Monitoring"] == "none":
        return ""
    return "Nobody hears of an alarm until you deploy with AlarmEmail and confirm the mail of SNS, or subscribe to the topic of alarms.\n"


def await_health(url: str) -> None:
    deadline = time.monotonic() + HEALTHY_WITHIN
    while True:
        try:
            if (status := send("GET", f"{url}/health", timeout=10).status) == 200:
                return
            seen = f"answers {status}"
        except OSError as error:
            seen = f"can't be reached: {error}"
        if time.monotonic() > deadline:
            raise Failure(f"{url}/health {seen}.")
        time.sleep(2)


def outputs(stack: dict[str, Any] | None) -> dict[str, str]:
    return {each["OutputKey"]: each["OutputValue"] for each in (stack or {}).get("Outputs", [])}


def parameters_of(stack: dict[str, Any] | None) -> Parameters:
    return {each["ParameterKey"]: each["ParameterValue"] for each in (stack or {}).get("Parameters", [])}


def smoke(url: str, deployment: Deployment, region: str) -> None:
    variables = {"API_URL": url, "STACK_NAME": deployment.stack, "AWS_REGION": region}
    variables |= {"AWS_PROFILE": deployment.profile} if deployment.profile else {}
    if subprocess.run([sys.executable, "-m", "infra.local.demo"], cwd=ROOT, env=os.environ | variables).returncode:
        raise Failure(
            "The stack is deployed, and its tables are not protected yet. When what is said above is mended, `make deploy` goes on; "
            "docs/deploying.md says how to remove it."
        )


def stack_before(account: Account, name: str) -> dict[str, Any] | None:
    try:
        before = account.stack(name)
    except UNASKED as error:
        raise Failure(f"The stack {name} can't be read: {reason(error)}") from None
    if before and before["StackStatus"].startswith(("ROLLBACK", "DELETE")):
        raise Failure(f"The stack {name} is {before['StackStatus']}: remove it as docs/deploying.md says, then deploy again.")
    return before


def require_clear_providers(parameters: Parameters) -> None:
    """`auth` doesn't start otherwise."""
    of_each = {name: [item for item in parameters.get(name, "").split(",") if item.strip()] for name in PROVIDER_LISTS}
    if len({len(items) for items in of_each.values()}) > 1:
        raise Failure("OidcIssuers, OidcClientIds and OidcNames must have one item for each identity provider, in the same order.")
    scopes = [item.split() for item in parameters.get("OidcScopes", "openid").split(",") if item.strip()]
    if len(scopes) > 1 and len(scopes) != len(of_each["OidcIssuers"]):
        raise Failure("OidcScopes must have one item for all identity providers, or one for each.")
    if not all("openid" in scope for scope in scopes):
        raise Failure("Each item of OidcScopes must have openid.")
    ids = providers(",".join(of_each["OidcNames"]))
    if of_each["OidcNames"] and (len(ids) < len(of_each["OidcNames"]) or "" in ids):
        raise Failure("Each of OidcNames must have letters or digits, and differ from the others in them.")
    groups = [group.strip() for group in parameters.get("OidcGroups", "").split(",") if group.strip()]
    if len(ids) > 1 and not all(group.split("/")[0] in ids for group in groups):
        raise Failure(f"With several identity providers, each of OidcGroups must begin with one of {', '.join(ids)} and /.")


def check(account: Account, kept: Parameters, overrides: Parameters) -> None:
    require_clear_providers(kept | overrides)
    found = list(findings(account, kept, overrides))
    for finding in found:
        say(finding.sentence)
    if any(finding.stops for finding in found):
        raise Failure("Nothing is built or deployed. `make deploy CHECKS=ignored` does it all the same.")


def main() -> None:
    deployment = Deployment.of(sys.argv[1:])
    account = Account(session_of(deployment))
    who, region = caller(account), account.session.region_name
    before = stack_before(account, deployment.stack)
    kept = parameters_of(before)
    parameters = DEFAULTS | kept | deployment.overrides
    if os.environ.get("CHECKS") != "ignored":
        check(account, kept, deployment.overrides)
    print(plan(who, region, deployment.stack, before is not None, parameters), flush=True)
    if not RELEASE and subprocess.run(["make", "--silent", "package"], cwd=ROOT).returncode:
        raise Failure("The functions can't be built, see above.")
    protection = deployment.overrides.get(PROTECTION, "on")
    # An unprotected stack wasn't tried to the end, unless somebody wants it so.
    is_tried = protection == "off" or kept.get(PROTECTION) == "on"
    deployed = {"Commit": DEFAULTS.get("Commit", "") if RELEASE else commit_of(ROOT)}
    first = {PROTECTION: protection if is_tried else "off"} | deployed
    if before:
        client = account.client("cloudformation")
        replaced = template_of(client, deployment.stack)
        deploy(deployment, first)
        # Otherwise `make rollback` would lead to what is there already.
        if template_of(client, deployment.stack) != replaced:
            try:
                keep(account.session, deployment.stack, replaced, kept.get("Commit", ""))
            except UNASKED as error:
                say(f"`make rollback` can't lead back from here, since the template before can't be kept: {error}")
    else:
        # What has failed is removed, so nothing is in the way of the next attempt.
        deploy(deployment, first, "--on-failure", "DELETE")
    if (stack := account.stack(deployment.stack)) is None:
        raise Failure("Nothing was deployed.")
    end = outputs(stack)
    # What leads people there, such as a DNS record, may be missing until somebody knows this address. The emulator has another one.
    url = end["PublicUrl" if parameters["EmulatorApiId"] else "ApiUrl"]
    await_health(url)
    if not is_tried:
        smoke(url, deployment, region)
        # Of a stack that was there, somebody may have refused the change set.
        deploy(deployment, {PROTECTION: "on"} | deployed, *([] if before else ["--no-confirm-changeset"]))
    protect(account, deployment.stack, protection == "on")
    print(farewell(end, deployment, region, parameters))


def protect(account: Account, stack: str, protected: bool) -> None:
    """Has CloudFormation refuse to delete the stack, or not any more."""
    try:
        account.client("cloudformation").update_termination_protection(StackName=stack, EnableTerminationProtection=protected)
    except UNASKED as error:
        say(f"Whether the stack may be deleted stays as it is: {reason(error)}")


def farewell(end: dict[str, str], deployment: Deployment, region: str, parameters: Parameters) -> str:
    target = parameters["EdgeTarget"] or end.get("DomainTarget")
    record = f"Its DNS record leads to {target}.\n" if target else ""
    named = "" if deployment.stack == "linklet" else f"STACK_NAME={deployment.stack} "
    return (
        f"\nLinklet is at {end['PublicUrl']}/app, its API at {end['ApiUrl']}.\n{record}"
        f"Invite somebody:  {named}make invite EMAIL=ada@example.com STAGE=aws\n"
        f"Look after it:    {named}make verify STAGE=aws; docs/deploying.md has the rest\n"
        f"It costs:         {about_costs(parameters)}\n{about_alarms(parameters)}"
        "Remove it:        aws cloudformation update-termination-protection --no-enable-termination-protection "
        f"--stack-name {deployment.stack} --region {region}\n"
        f"                  .linklet/tools/sam/bin/sam delete --stack-name {deployment.stack} --region {region}, which keeps the data"
    )


if __name__ == "__main__":
    end_with(main)
