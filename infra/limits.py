"""Whether what is about to be deployed fits the account: `make deploy` asks before it builds.

It asks AWS, with the rights of whoever deploys, how many functions the account may run at once, how many requests API Gateway takes,
and whether mail can be sent and the domain can be used. What it isn't allowed to ask, it says, and goes on.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from samcli.yamlhelper import yaml_parse

from .local.installer import ROOT

Parameters = dict[str, str]

# Where the template and the packages are: here, or in a release.
HOME = ROOT / os.environ.get("RELEASE", "")
if not (HOME / "template.yaml").is_file():
    sys.exit(f"{HOME} is no release: it has no template.yaml. RELEASE is the folder that an archive of a release has.")
TEMPLATE: dict[str, Any] = yaml_parse((HOME / "template.yaml").read_text())
DEFAULTS: Parameters = {name: str(parameter["Default"]) for name, parameter in TEMPLATE["Parameters"].items()}
ACCOUNT_SIZES = [int(size) for size in TEMPLATE["Parameters"]["AccountConcurrency"]["AllowedValues"]]

# A right that is missing, or a service that isn't reached.
UNASKED = (BotoCoreError, ClientError)

# What a certificate or a zone is answered that doesn't exist.
MISSING = {"ResourceNotFoundException", "NoSuchHostedZone"}

# Codes of quotas in Service Quotas.
CONCURRENT_EXECUTIONS = "L-B99A9384"
THROTTLE_RATE = "L-8A5B8E43"

# https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html: what API Gateway takes per second unless it was raised,
# and the regions where that is less: Cape Town, Milan, Jakarta, UAE, Hyderabad, Melbourne, Spain, Zurich, Tel Aviv, Calgary,
# Malaysia, Thailand, Mexico.
REQUESTS_PER_SECOND = 10_000
FEWER_REQUESTS_PER_SECOND = 2_500
REGIONS_WITH_FEWER = {
    "af-south-1", "eu-south-1", "ap-southeast-3", "me-central-1", "ap-south-2", "ap-southeast-4", "eu-south-2", "eu-central-2",
    "il-central-1", "ca-west-1", "ap-southeast-5", "ap-southeast-7", "mx-central-1",
}

# A new on-demand table has as many; one that has grown has more. Lambda runs a function once for each of them.
SHARDS = 4
# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html: the smallest maximum that an event source takes.
LEAST_OF_A_QUEUE = 2

SMALLEST_ACCOUNT = 10
OF_THE_SMALLEST = 4
# What every click goes through; the others rest until somebody changes something, or URLs are monitored.
BUSY_WITH_CLICKS = {"ClicksStream", "AnalyticsSource"}
# The parameters by which somebody may give more to streams and queues than follows from AccountConcurrency.
SIZES = ["RelayParallelization", "AnalyticsConcurrency", "MaxConcurrency"]


@dataclass(frozen=True)
class Source:
    """What invokes a consumer, and how often at once: at most, and with the least that Lambda allows."""

    name: str
    most: int
    least: int

    def counted(self, account: int) -> int:
        """In the smallest account, streams alone could take more than there is. There a source that rests most of the time counts with
        what it has beyond the least."""
        rests = account == SMALLEST_ACCOUNT and self.name not in BUSY_WITH_CLICKS
        return self.most - self.least if rests else self.most


@dataclass(frozen=True)
class Finding:
    sentence: str
    stops: bool = False


def value_of(node: Any, parameters: Parameters) -> Any:
    """What a property has with these parameters, as far as properties of event sources need it."""
    match node:
        case {"Ref": name}:
            return parameters[name]
        case {"Fn::FindInMap": [mapping, key, name]}:
            return TEMPLATE["Mappings"][mapping][value_of(key, parameters)][name]
        case {"Fn::If": [condition, yes, no]}:
            one, other = (str(value_of(side, parameters)) for side in TEMPLATE["Conditions"][condition]["Fn::Equals"])
            return value_of(yes if one == other else no, parameters)
    return node


def sources(parameters: Parameters) -> Iterator[Source]:
    for name, resource in TEMPLATE["Resources"].items():
        match resource:
            case {"Type": "AWS::Scheduler::Schedule"}:
                yield Source(name, 1, 1)
            case {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"StartingPosition": _} as properties}:
                factor = int(value_of(properties.get("ParallelizationFactor", 1), parameters))
                yield Source(name, SHARDS * factor, SHARDS)
            case {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"ScalingConfig": scaling}}:
                yield Source(name, int(value_of(scaling["MaximumConcurrency"], parameters)), LEAST_OF_A_QUEUE)


def lacks(parameters: Parameters) -> bool:
    """Whether streams and queues leave less to the API than is due to it."""
    account = int(parameters["AccountConcurrency"])
    return account - sum(source.counted(account) for source in sources(parameters)) < due_to_api(account)


def due_to_api(account: int) -> int:
    return OF_THE_SMALLEST if account == SMALLEST_ACCOUNT else account // 2


def about_parameters(parameters: Parameters) -> Iterator[Finding]:
    """Whether streams and queues fit an account of AccountConcurrency."""
    if lacks(parameters):
        account = int(parameters["AccountConcurrency"])
        yield Finding(
            f"With {listed({name: parameters[name] for name in SIZES}, ', ')}, streams and queues leave less than {due_to_api(account)} of "
            f"the {account:,} executions of AccountConcurrency to redirects and the rest of the API: deploy with "
            f"{flags(ordinary_sizes(parameters))}.",
            stops=True,
        )


def about_executions(allowed: int, region: str, parameters: Parameters) -> Iterator[Finding]:
    """Whether the account may run as many functions at once as AccountConcurrency says."""
    wanted = int(parameters["AccountConcurrency"])
    if allowed < wanted:
        smaller = ""
        if fitting := [size for size in ACCOUNT_SIZES if size <= allowed]:
            changed = {"AccountConcurrency": str(fitting[-1])}
            changed |= ordinary_sizes(parameters) if lacks(parameters | changed) else {}
            smaller = f"run `make deploy {flags(changed)}`, or "
        yield Finding(
            f"This account may run {allowed:,} functions at once in {region}, and AccountConcurrency is {wanted}: {smaller}ask Service "
            f"Quotas for {wanted:,} concurrent executions of Lambda ({CONCURRENT_EXECUTIONS}).",
            stops=True,
        )


def about_requests(allowed: float, region: str, parameters: Parameters) -> Iterator[Finding]:
    """Whether API Gateway takes as many requests as the template lets through. If not, it refuses them earlier, and no more."""
    routes = TEMPLATE["Resources"]["HttpStage"]["Properties"]["RouteSettings"].values()
    wanted = max([int(parameters["RequestsPerSecond"]), *(route["ThrottlingRateLimit"] for route in routes)])
    if allowed < wanted:
        yield Finding(
            f"API Gateway takes {allowed:,.0f} requests per second in {region}, over all APIs of the account, and a single route may "
            f"get {wanted:,}: for that many, ask Service Quotas for a higher throttle rate of API Gateway ({THROTTLE_RATE})."
        )


def ordinary_sizes(parameters: Parameters) -> Parameters:
    return {name: DEFAULTS[name] for name in SIZES if parameters[name] != DEFAULTS[name]}


def listed(parameters: Parameters, separator: str = " ") -> str:
    return separator.join(f"{name}={value}" for name, value in parameters.items())


def flags(changed: Parameters) -> str:
    return f'DEPLOY_FLAGS="--parameter-overrides {listed(changed)}"'


class Account:
    """What AWS says of the account, in a region."""

    def __init__(self, session: boto3.Session) -> None:
        self.session = session

    def client(self, service: str) -> Any:
        # Nobody should wait for long to hear that a service can't be reached.
        return self.session.client(service, config=Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 2}))

    def stack(self, name: str) -> dict[str, Any] | None:
        """A stack, if there is one."""
        try:
            [found] = self.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError":  # there is no such stack
                return None
            raise
        # One that was never deployed has a change set at most.
        return None if found["StackStatus"] == "REVIEW_IN_PROGRESS" else found

    def concurrent_executions(self) -> int:
        return self.client("lambda").get_account_settings()["AccountLimit"]["ConcurrentExecutions"]

    def requests_per_second(self) -> float:
        """The lower one of what two services say: in regions where the default is less, Service Quotas may still show the others'."""
        rates = []
        with contextlib.suppress(*UNASKED):
            rates.append(self.client("apigateway").get_account()["throttleSettings"]["rateLimit"])
        try:
            quota = self.client("service-quotas").get_service_quota(ServiceCode="apigateway", QuotaCode=THROTTLE_RATE)
            rates.append(quota["Quota"]["Value"])
        except UNASKED:
            if not rates:
                raise
        return min(rates)


    def mail_is_in_sandbox(self) -> bool:
        return not self.client("sesv2").get_account()["ProductionAccessEnabled"]

    def may_send_from(self, address: str) -> bool:
        """Whether SES knows the address, its domain or one above that as somebody's here."""
        client = self.client("sesv2")
        labels = address.partition("@")[2].split(".")
        for identity in (address, *(".".join(labels[above:]) for above in range(len(labels) - 1))):
            with contextlib.suppress(client.exceptions.NotFoundException):
                if client.get_email_identity(EmailIdentity=identity)["VerifiedForSendingStatus"]:
                    return True
        return False

    def certificate(self, arn: str) -> dict[str, Any]:
        return self.client("acm").describe_certificate(CertificateArn=arn)["Certificate"]

    def zone(self, identity: str) -> dict[str, Any]:
        return self.client("route53").get_hosted_zone(Id=identity)["HostedZone"]


def findings(account: Account, stack: Parameters, overrides: Parameters) -> Iterator[Finding]:
    """What the account lacks for a stack that keeps its parameters but for these, as sam does with those that it isn't given."""
    parameters, region = DEFAULTS | stack | overrides, account.session.region_name
    wanted, sizes = parameters["AccountConcurrency"], [str(size) for size in ACCOUNT_SIZES]
    if wanted not in sizes:
        yield Finding(f"AccountConcurrency={wanted} is none of {', '.join(sizes)}.", stops=True)
        return
    yield from about_parameters(parameters)
    try:
        yield from about_executions(account.concurrent_executions(), region, parameters)
    except UNASKED as error:
        yield Finding(f"Lambda doesn't say how many functions this account may run at once ({reason(error)}), so nobody compares it.")
    try:
        rate = account.requests_per_second()
    except UNASKED as error:
        rate = FEWER_REQUESTS_PER_SECOND if region in REGIONS_WITH_FEWER else REQUESTS_PER_SECOND
        yield Finding(f"AWS doesn't say how many requests API Gateway takes ({reason(error)}); {rate:,} per second is usual in {region}.")
    yield from about_requests(rate, region, parameters)
    for check, what in ((about_mail, "mail can be sent"), (about_domain, "the domain can be used")):
        try:
            yield from check(account, parameters)
        except UNASKED as error:
            yield Finding(f"AWS doesn't say whether {what} ({reason(error)}).", stops=reason(error) in MISSING)


def about_mail(account: Account, parameters: Parameters) -> Iterator[Finding]:
    """Whether mail can be sent, if it is to be."""
    sender, region = parameters["MailSender"], account.session.region_name
    if not sender:
        return
    if not account.may_send_from(sender):
        yield Finding(
            f"SES doesn't know {sender} or its domain as yours in {region}: verify one of them there, or deploy without MailSender.",
            stops=True,
        )
    if account.mail_is_in_sandbox():
        yield Finding(
            f"SES has this account in its sandbox in {region}: it sends 200 mails a day, and to verified addresses only. Ask SES for "
            f"production access before you invite people."
        )


def about_domain(account: Account, parameters: Parameters) -> Iterator[Finding]:
    """Whether certificate and zone are those of the domain, if there is one."""
    domain, arn, zone = (parameters[name] for name in ("DomainName", "CertificateArn", "HostedZoneId"))
    if not domain:
        return
    if not (arn or zone):
        yield Finding("DomainName needs HostedZoneId, or CertificateArn.", stops=True)
    if arn and arn.split(":")[3] != (region := account.session.region_name):
        yield Finding(f"The certificate must be in {region}.", stops=True)
    elif arn:
        certificate = account.certificate(arn)
        names = certificate.get("SubjectAlternativeNames", [certificate["DomainName"]])
        if not {domain, f"*.{domain.partition('.')[2]}"} & set(names):
            yield Finding(f"The certificate is for {', '.join(names)}, and not for {domain}.", stops=True)
        if certificate["Status"] != "ISSUED":
            yield Finding(f"The certificate is {certificate['Status']}: it must be ISSUED.", stops=True)
    if zone:
        found = account.zone(zone)
        if found.get("Config", {}).get("PrivateZone"):
            yield Finding(f"The zone {zone} is private: nobody else would find {domain}.", stops=True)
        if not f".{domain}.".endswith(f".{found['Name']}"):
            yield Finding(f"The zone {zone} is that of {found['Name']}, which {domain} isn't in.", stops=True)


def reason(error: Exception) -> str:
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
