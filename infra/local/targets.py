"""Tries the targets of the Makefile that no other test runs: a step of `make suites`, on the end-to-end tests' own system.

Arguments choose some of them. What can't be tried is in untried.toml, with the reason.
"""

import base64
import functools
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import ClientError

from ..browser import find_chromium
from ..page import TOPICS, alarms_of_stack
from ..release import from_commit, write_sums
from ..stack import outputs
from ..verify import resources
from .client import call, send
from .functions import deployed
from .installer import ROOT
from .system import LOCAL, PACKAGES, local_parameters, wait_until

LINKS = 12
# A stack beside that of the tests, and its API.
SECOND = "decade00"
# As at AWS, since the local system is only the first one.
OF_SECOND = [f"STACK_NAME={SECOND}", "STAGE=aws"]
# Whose visits count as those of people.
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
# What `make units` writes.
WRITTEN = [ROOT / name for name in ("infra/costs/units.json", "docs/costs.md", "docs/linkwatch.md", "docs/scale.md")]


def environment() -> dict[str, str]:
    """As from a terminal, not from the make that runs this, with the tests' system instead of that of `make up`."""
    ours = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "API_URL"}
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return inherited | {"LINKLET_SYSTEM": "e2e", "PYTHON": os.environ["LINKLET_PYTHON"]}


def make(*arguments: str) -> str:
    """What a target prints. One that fails ends all."""
    command = ["make", "--silent", *arguments]
    ended = subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(command)} ends with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


def says(printed: str, *words: str) -> None:
    for each in words:
        if each not in printed:
            sys.exit(f"It doesn't say {each!r}:\n{printed}")


@functools.cache
def seeded() -> tuple[dict[str, str], list[dict[str, Any]]]:
    """An account with links, and these, of which the last ones have clicks."""
    account = json.loads(make("seed", f"LINKS={LINKS}"))
    return account, asked(account, "GET", "/api/urls")["urls"]


def asked(account: dict[str, str], method: str, path: str, body: Any = None) -> Any:
    """What an account is answered."""
    api = os.environ["API_URL"]
    return call(method, f"{api}{path}", body, token=call("POST", f"{api}/api/auth/login", account)["token"])


def ours(method: str, path: str, body: Any = None) -> Any:
    return asked(seeded()[0], method, path, body)


def up() -> None:
    """As after an edit of a function that answers through an alias: with another package of it."""
    package = PACKAGES / "shorten.zip"
    built, packed = package.stat().st_mtime_ns, package.read_bytes()
    with zipfile.ZipFile(package, "a") as archive:
        archive.comment = b"edited"
    edited = base64.b64encode(hashlib.sha256(package.read_bytes()).digest()).decode()
    try:
        os.utime(package, ns=(built, built))
        says(make("up"), os.environ["API_URL"])
    finally:
        package.write_bytes(packed)
        os.utime(package, ns=(built, built))
    name = next(each["FunctionName"] for each in deployed() if "ShortenFunction" in each["FunctionName"])
    if boto3.client("lambda").get_function_configuration(FunctionName=name, Qualifier="live")["CodeSha256"] != edited:
        sys.exit("make up doesn't move the alias to the edited function")


def seed() -> None:
    _, links = seeded()
    if not links:
        sys.exit("make seed has made no links")


def logs() -> None:
    """It follows, until somebody ends it."""
    command = ["make", "--silent", "logs"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    try:
        says(process.stdout.readline(), '"level"')
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def dead_letters() -> None:
    body = json.dumps({"tried": time.time()})
    boto3.client("sqs").send_message(QueueUrl=outputs()["AnalyticsDlqUrl"], MessageBody=body)
    says(make("dlq", "QUEUE=analytics"), json.dumps(json.loads(body), indent=2))
    says(make("redrive", "QUEUE=analytics"), " message(s) sent back, 0 left.")
    boto3.client("sqs").send_message(QueueUrl=outputs()["NotifyDlqUrl"], MessageBody="nothing can process it")
    [poison] = re.findall(r"^--- (\S+),", make("dlq", "QUEUE=notify"), re.MULTILINE)
    says(make("dlq", "QUEUE=notify", f"DELETE={poison}"), "nothing can process it\n1 message(s) deleted.")


def reconcile() -> None:
    _, links = seeded()
    says(make("reconcile", f"CODE={links[-1]['short_code']}"), "Everything is counted.")
    says(make("reconcile", f"WORKSPACE={ours('GET', '/api/workspace')['slug']}"), f"{LINKS} links are recounted; 0 need care.")


def suspensions() -> None:
    _, links = seeded()
    code = links[-1]["short_code"]
    says(make("who", f"CODE={code}"), "\nOwner: ")
    for target, status in [("suspend", 451), ("unsuspend", 301)]:
        make(target, f"CODE={code}", *(["REASON=legal"] if target == "suspend" else []))
        # A link that many follow is held in memory for a moment.
        if not wait_until(lambda: send("GET", f"{os.environ['API_URL']}/{code}").status == status, 30):
            sys.exit(f"After make {target}, the link doesn't answer {status}.")


def delete_by_hand(table: str, part: str) -> None:
    """Deletes the items that have this in a key or an attribute, as no function does."""
    client, name = boto3.client("dynamodb"), outputs()[f"{table}TableName"]
    for page in client.get_paginator("scan").paginate(TableName=name):
        for item in page["Items"]:
            if part in str(item):
                client.delete_item(TableName=name, Key={key: item[key] for key in ("pk", "sk")})


def restore() -> None:
    """What was deleted by hand comes back; what was purged, used up, revoked or removed doesn't."""
    lost, purged = (link["short_code"] for link in seeded()[1][-2:])
    once = ours("POST", "/api/shorten", {"url": "https://example.com/once", "max_clicks": 1})["short_code"]
    kept, revoked = (ours("POST", "/api/keys", {"name": name, "scopes": ["links:read"]})["prefix"] for name in ("kept", "revoked"))
    member = {"email": f"member-of-{seeded()[0]['email']}", "password": "correct horse battery"}
    user = call("POST", f"{os.environ['API_URL']}/api/auth/register", member)["user_id"]
    invitation = ours("POST", "/api/workspace/invitations", {"email": member["email"], "role": "member"})["token"]
    asked(member, "POST", "/api/invitations/accept", {"token": invitation})
    for table in ("Links", "Stats", "Users"):
        boto3.client("dynamodb").create_backup(TableName=outputs()[f"{table}TableName"], BackupName="before")
    time.sleep(1)  # since a point in time has no milliseconds
    at, before = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", ours("GET", f"/api/stats/{lost}")
    send("GET", f"{os.environ['API_URL']}/r/{once}", headers={"User-Agent": BROWSER})
    ours("DELETE", f"/api/links/{purged}")
    ours("DELETE", f"/api/keys/{revoked}")
    ours("DELETE", f"/api/workspace/members/{user}")
    for table, part in [("Links", lost), ("Links", f"LINK#{once}"), ("Stats", lost), ("Users", kept)]:
        delete_by_hand(table, part)

    given = [f"AT={at}", f"WORKSPACE={ours('GET', '/api/workspace')['slug']}", "CONFIRM=yes"]
    back = {table: make("restore", f"TABLE={table}", *given) for table in ("links", "stats", "users")}

    says(back["links"], f"1 LINK LINK would come back: {lost}\n", f"1 LINK LINK stays away, since it is used up: {once}\n", f"different now, and stays so: {purged}\n")
    says(back["stats"], "since its link is gone or purged", "make reconcile WORKSPACE=")
    kept_away = "stays away, since the audit log has a change of it"
    says(back["users"], f"1 KEY KEY {kept_away}", f"1 WS MEMBER {kept_away}", f"1 ACCESS MEMBER {kept_away}", "Rotate the token secret twice")
    keys = {key["prefix"] for key in ours("GET", "/api/keys")["keys"]}
    if (keys, ours("GET", f"/api/stats/{lost}")) != ({kept}, before):
        sys.exit(f"the keys {keys} are there instead of {kept}, or the statistics of {lost} are others")
    statuses = [send("GET", f"{os.environ['API_URL']}/r/{code}").status for code in (lost, purged, once)]
    if statuses != [301, 410, 404]:
        sys.exit(f"following what is back, purged and used up answers {statuses}")
    if left := [name for name in boto3.client("dynamodb").list_tables()["TableNames"] if name.endswith("Z")]:
        sys.exit(f"these tables are left beside the others: {left}")


def people() -> None:
    account, _ = seeded()
    says(make("invite", f"EMAIL=guest-of-{account['email']}"), "#/invitation?token=inv_")
    says(make("reset", f"EMAIL={account['email']}"), "#/reset?token=rst_")
    with tempfile.TemporaryDirectory() as folder:
        make("export", f"EMAIL={account['email']}", f"FILE={folder}/it's.json")
        says(Path(folder, "it's.json").read_text(), account["email"], '"kind": "link"', '"account.exported"')
    make("close-account", f"EMAIL={account['email']}")
    login = send("POST", f"{os.environ['API_URL']}/api/auth/login", json.dumps(account).encode(), {"Content-Type": "application/json"})
    if login.status != 401:
        sys.exit(f"logging in to a closed account answers {login.status}")
    says(make("forget", f"EMAIL={account['email']}", "CONFIRM=yes"), "\n\nClosed for good, and purged after ")
    call("POST", f"{os.environ['API_URL']}/api/auth/register", {"email": account["email"], "password": account["password"]})


def release(folder: Path, broken: bool) -> Path:
    """What is deployed here, as a release. A broken one has a resource that can't be made, after all others."""
    shutil.copytree(LOCAL, folder)
    if broken:
        failing = "\nResources:\n  Broken: { Type: AWS::SQS::Queue, DependsOn: [HttpStage, Observability], Properties: { VisibilityTimeout: 99999 } }\n"
        template = folder / "template.yaml"
        template.write_text(template.read_text().replace("\nResources:\n", failing, 1))
    write_sums(folder)
    return folder


def page() -> None:
    """Whoever has subscribed hears of an alarm of each topic, and of every alarm when it goes off."""
    admitted = {"Effect": "Allow", "Principal": {"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [admitted]})
    queues, topics = boto3.client("sqs"), [outputs()[name] for name in TOPICS]
    queue = queues.create_queue(QueueName="pager", Attributes={"Policy": policy})["QueueUrl"]
    arn = queues.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    for topic in topics:
        boto3.client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    says(make("page"), f"sqs {arn}", *(f"{topic}:" for topic in topics), "is set off.")
    says(str(list(messages(queue))), "A drill by `make page`.")
    drills(queue)


def messages(queue: str) -> Iterator[dict[str, Any]]:
    """What SNS has put into a queue."""
    client = boto3.client("sqs")
    while found := client.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1).get("Messages"):
        for each in found:
            yield json.loads(each["Body"])
            client.delete_message(QueueUrl=queue, ReceiptHandle=each["ReceiptHandle"])


def drills(queue: str) -> None:
    """Each alarm goes off and names its runbook: by data, or by hand if the emulator, which computes with no metrics, sees none in them."""
    client, alarms = boto3.client("cloudwatch"), {each["AlarmName"]: each for each in alarms_of_stack()}
    for name, alarm in alarms.items():
        client.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="A drill begins.")
        is_low = alarm["ComparisonOperator"].startswith("LessThan")
        datum = {"MetricName": alarm["MetricName"], "Dimensions": alarm["Dimensions"], "Value": 0 if is_low else alarm["Threshold"] * 2}
        client.put_metric_data(Namespace=alarm["Namespace"], MetricData=[datum])
        state = client.describe_alarms(AlarmNames=[name])["MetricAlarms"][0]["StateValue"]
        if state != "ALARM":
            client.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="A drill by hand.")
    heard = {}
    for message in messages(queue):
        text = json.loads(message["Message"])
        if text["NewStateValue"] == "ALARM":
            heard[text["AlarmName"]] = (message["TopicArn"], text["AlarmDescription"])
    for name, alarm in alarms.items():
        topic, description = heard.get(name, (None, ""))
        if [topic] != alarm["AlarmActions"] or "infra/runbooks/" not in description:
            sys.exit(f"{name} goes off, but {topic} says {description!r}")
    print(f"{len(alarms)} alarms were heard")


def left_of(stack: str) -> list[str]:
    """The names of what there is of a stack."""
    lists = [
        ("dynamodb", "list_tables"), ("logs", "describe_log_groups"), ("secretsmanager", "list_secrets"), ("sqs", "list_queues"),
        ("lambda", "list_functions"), ("iam", "list_roles"), ("sns", "list_topics"), ("apigatewayv2", "get_apis"), ("cloudwatch", "describe_alarms"),
    ]
    return [name for service, list_all in lists for name in re.findall(rf"\b{stack}-\w+", str(getattr(boto3.client(service), list_all)()))]


def deploy() -> None:
    """A first deployment that fails leaves nothing behind. One that doesn't is tried, then protected, and has its own domain."""
    zone = boto3.client("route53").create_hosted_zone(Name="example.com", CallerReference=str(time.time()))["HostedZone"]["Id"]
    boto3.client("sesv2").create_email_identity(EmailIdentity="example.com")
    api = os.environ["API_URL"].replace(local_parameters()["EmulatorApiId"], SECOND)
    changed = {
        "EmulatorApiId": SECOND, "PublicBaseUrl": api, "DomainName": "go.example.com", "HostedZoneId": zone.split("/")[-1],
        "AccountConcurrency": "100", "Registration": "invited",
    }
    parameters = {name: value for name, value in (local_parameters() | changed).items() if name != "DeletionProtection"}
    flags = f"--stack-name {SECOND} --config-env local --parameter-overrides {' '.join(map('='.join, parameters.items()))}"
    with tempfile.TemporaryDirectory() as folder:
        command = ["make", "--silent", "deploy", f"DEPLOY_FLAGS={flags}", f"RELEASE={release(Path(folder) / 'broken', broken=True)}"]
        ended = subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        says(ended.stdout, "Broken", "The deployment has failed")
        if left := left_of(SECOND):
            sys.exit(f"a first deployment that has failed leaves {left}")
        whole = release(Path(folder) / "whole", broken=False)
        says(make("deploy", f"DEPLOY_FLAGS={flags}", f"RELEASE={whole}"), "That was the tour.", f"Linklet is at {api}/app")
        says(make("verify", *OF_SECOND, f"RELEASE={whole}"), "functions have the packages that are here")
        going_back(flags, whole, api)
    tables = boto3.client("dynamodb")
    of_stack = [tables.describe_table(TableName=name)["Table"] for name in tables.list_tables()["TableNames"] if name.startswith(SECOND)]
    # But for ThrottleTable, which keeps nothing for long.
    if len(unprotected := [table["TableName"] for table in of_stack if not table["DeletionProtectionEnabled"]]) != 1:
        sys.exit(f"a deployment ends with unprotected tables: {unprotected}")
    [mapping] = boto3.client("apigatewayv2").get_api_mappings(DomainName="go.example.com")["Items"]
    says(mapping["ApiId"], SECOND)
    stacks = boto3.client("cloudformation")
    closing(zone)
    try:
        stacks.delete_stack(StackName=SECOND)
        sys.exit("a deployment ends with a stack that may be deleted")
    except ClientError as error:
        says(str(error), "TerminationProtection")
    stacks.update_termination_protection(StackName=SECOND, EnableTerminationProtection=False)
    stacks.delete_stack(StackName=SECOND)


def closing(zone: str) -> None:
    """People come to an edge in front of the domain, then nobody comes in past it. The emulator has no edge and lets them in."""
    edge, signer = "d111111abcdef8.cloudfront.net", "s3://bucket/ca.pem"
    make("configure", *OF_SECOND, f"PARAMETERS=EdgeTarget={edge}")
    records = boto3.client("route53").list_resource_record_sets(HostedZoneId=zone)["ResourceRecordSets"]
    says(str([each["AliasTarget"]["DNSName"] for each in records if each["Type"] == "A"]), edge)
    make("configure", *OF_SECOND, f"PARAMETERS=EdgeTruststore={signer}")
    gateway = boto3.client("apigatewayv2")
    says(str(gateway.get_domain_name(DomainName="go.example.com")["MutualTlsAuthentication"]), signer)
    [stack] = boto3.client("cloudformation").describe_stacks(StackName=SECOND)["Stacks"]
    [address] = [each["OutputValue"] for each in stack["Outputs"] if each["OutputKey"] == "ApiUrl"]
    if not gateway.get_api(ApiId=SECOND)["DisableExecuteApiEndpoint"] or address != "https://go.example.com":
        sys.exit(f"a closed API is at {address}")


def going_back(flags: str, release: Path, api: str) -> None:
    """Parameters change without a build, another deployment is taken back, and that again."""
    says(make("configure", *OF_SECOND, "PARAMETERS=LogRetentionDays=3"), "Modify", f"{SECOND} is changed.")
    says(make("configure", *OF_SECOND, "PARAMETERS=LogRetentionDays=3"), "Nothing changes.")
    stack = {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in resources(boto3.client("cloudformation"), SECOND)}

    def code() -> tuple[str, str | None]:
        deployed = boto3.client("lambda").get_function_configuration(FunctionName=stack["WebFunction"])
        return deployed["CodeSha256"], call("GET", f"{api}/health")["commit"]

    package, template = release / "functions" / "web.zip", release / "template.yaml"
    with zipfile.ZipFile(package, "a") as archive:
        archive.comment = b"edited"
    template.write_text(from_commit(template.read_text(), "1f0c3a9d"))
    write_sums(release)
    before = code()
    for _ in ("a change", "the same again"):
        make("deploy", f"DEPLOY_FLAGS={flags}", f"RELEASE={release}")
    edited = code()
    make("rollback", *OF_SECOND)
    back = code()
    make("rollback", *OF_SECOND)
    if [before, edited] != [back, code()] or before == edited or edited[1] != "1f0c3a9d":
        sys.exit(f"a rollback leads from {edited} to {back}, not to {before}, and the next one to {code()}")


def screenshots() -> None:
    if find_chromium() is None and os.environ.get("BROWSER") != "required":
        print("make screenshots was not tried: there is no Chromium.")
        return
    with tempfile.TemporaryDirectory() as folder:
        make("screenshots", f"SCREENSHOTS={folder}", "PICTURES=links qr sign-up")
        pictures = sorted(path.name for path in Path(folder).iterdir())
    says(str(pictures), "links.png", "links-dark.png", "qr.png", "sign-up.png")


def units() -> None:
    """What it writes is to be what is there, and is there afterwards."""
    before = {path: path.read_bytes() for path in WRITTEN}
    try:
        make("units")
        changed = [path.name for path, text in before.items() if path.read_bytes() != text]
    finally:
        for path, text in before.items():
            if path.read_bytes() != text:
                path.write_bytes(text)
    if changed:
        sys.exit(f"make units would change {', '.join(changed)}: if that is meant, run it")


# By the targets that each tries.
TRIALS: dict[tuple[str, ...], Callable[[], None]] = {
    ("help",): lambda: says(make("help"), "make up ", "make close-account "),
    # Before anything is edited, or put into a dead-letter queue.
    ("verify",): lambda: says(make("verify", f"RELEASE={LOCAL}"), " functions have the packages that are here\n"),
    ("up",): up,
    ("url",): lambda: says(make("url"), os.environ["API_URL"]),
    ("demo",): lambda: says(make("demo"), "That was the tour."),
    ("mails",): lambda: says(make("mails"), "To: ada-"),
    ("logs",): logs,
    ("seed",): seed,
    ("cost",): lambda: says(make("cost", "CLICKS=5"), "Linklet"),
    ("dlq", "redrive"): dead_letters,
    ("reconcile",): reconcile,
    ("who", "suspend", "unsuspend"): suspensions,
    ("restore",): restore,
    ("invite", "reset", "export", "close-account", "forget"): people,
    ("smoke",): lambda: says(make("smoke", f"URL={os.environ['API_URL']}"), "That was the tour."),
    ("deploy", "configure", "rollback"): deploy,
    ("page",): page,
    ("screenshots",): screenshots,
    ("units",): units,
}


def main(wanted: set[str]) -> None:
    for names, trial in TRIALS.items():
        if not wanted or wanted & set(names):
            started = time.monotonic()
            trial()
            print(f"make {', make '.join(names)}: as expected, {time.monotonic() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main(set(sys.argv[1:]))
