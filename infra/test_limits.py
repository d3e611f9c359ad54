"""That streams and queues leave the API its share in an account of each size, and that a deployment that doesn't fit is told."""

import unittest
from typing import Any
from unittest.mock import patch

import boto3
from botocore.exceptions import EndpointConnectionError
from botocore.stub import Stubber

from . import limits
from .limits import ACCOUNT_SIZES, DEFAULTS, TEMPLATE, Account, Finding, Parameters

NAMES = {"lambda", "apigateway", "service-quotas", "sesv2", "acm", "route53"}
QUOTA = {"ServiceCode": "apigateway", "QuotaCode": "L-8A5B8E43"}


def texts(changed: dict[str, object]) -> Parameters:
    return {name: str(value) for name, value in changed.items()}


def sources(**changed: object) -> dict[str, limits.Source]:
    return {source.name: source for source in limits.sources(DEFAULTS | texts(changed))}


class Aws(Account):
    """An account in a region, whose services are stand-ins that know how requests to them must look. What is None may not be asked."""

    def __init__(
        self, *, executions: int | None = 1000, rate: float | None = 10_000, quota: float | None = 10_000, region: str = "eu-west-1",
        refusal: str = "AccessDeniedException", identities: tuple[bool | None, ...] = (), production: bool | None = True,
        certificate: dict[str, Any] | None = None, zone: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(boto3.Session(region_name=region, aws_access_key_id="x", aws_secret_access_key="x"))
        self.clients = {name: self.session.client(name) for name in NAMES}
        self.stubbers: dict[str, Stubber] = {}
        self.refusal = refusal
        self.answer("lambda", "get_account_settings", executions and {"AccountLimit": {"ConcurrentExecutions": executions}})
        self.answer("apigateway", "get_account", rate and {"throttleSettings": {"rateLimit": rate}})
        self.answer("service-quotas", "get_service_quota", quota and {"Quota": {"Value": quota}}, QUOTA)
        for verified in identities:
            self.answer("sesv2", "get_email_identity", verified is not None and {"VerifiedForSendingStatus": verified}, error="NotFoundException")
        self.answer("sesv2", "get_account", production is not None and {"ProductionAccessEnabled": production})
        self.answer("acm", "describe_certificate", certificate and {"Certificate": certificate})
        self.answer("route53", "get_hosted_zone", zone and {"HostedZone": {"Id": "Z1", "CallerReference": "x"} | zone})

    def answer(self, service: str, call: str, answer: Any, asked: Any = None, error: str = "") -> None:
        """The next answer of a service."""
        stubber = self.stubbers.setdefault(service, Stubber(self.clients[service]))
        if answer:
            stubber.add_response(call, answer, asked)
        else:
            stubber.add_client_error(call, error or self.refusal)
        stubber.activate()

    def client(self, service: str) -> Any:
        return self.clients[service]


def findings(account: Account, stack: Parameters = {}, **overrides: object) -> list[Finding]:
    return list(limits.findings(account, stack, texts(overrides)))


class Shares(unittest.TestCase):
    def test_clicks_leave_four_of_ten_executions_to_the_api(self) -> None:
        busy = [source.most for name, source in sources(AccountConcurrency=10).items() if name in limits.BUSY_WITH_CLICKS]
        self.assertEqual(len(busy), 2)
        self.assertGreaterEqual(10 - sum(busy), 4)

    def test_with_ten_executions_nothing_gets_more_than_lambda_asks_for(self) -> None:
        for source in sources(AccountConcurrency=10).values():
            self.assertEqual(source.most, source.least, source.name)

    def test_a_larger_account_leaves_half_to_the_api_when_everything_is_busy(self) -> None:
        larger = [size for size in ACCOUNT_SIZES if size != limits.SMALLEST_ACCOUNT]
        self.assertEqual(len(larger), len(ACCOUNT_SIZES) - 1)
        for size in larger:
            taken = sum(source.most for source in sources(AccountConcurrency=size).values())
            self.assertGreaterEqual(size - taken, size / 2, f"AccountConcurrency={size}")

    def test_a_larger_account_counts_no_slower(self) -> None:
        at_once = [{name: source.most for name, source in sources(AccountConcurrency=size).items()} for size in ACCOUNT_SIZES]
        for smaller, larger in zip(at_once, at_once[1:]):
            for name, most in smaller.items():
                self.assertGreaterEqual(larger[name], most, name)

    def test_every_source_of_the_template_is_counted(self) -> None:
        kinds = ("AWS::Lambda::EventSourceMapping", "AWS::Scheduler::Schedule")
        expected = {name for name, resource in TEMPLATE["Resources"].items() if isinstance(resource, dict) and resource.get("Type") in kinds}
        self.assertEqual(set(sources()), expected)
        self.assertLessEqual(limits.BUSY_WITH_CLICKS, expected)

    def test_by_default_as_many_are_counted_as_before_there_were_sizes(self) -> None:
        found = sources()
        self.assertEqual([found[name].most for name in ("ClicksStream", "AnalyticsSource")], [4, 4])

    def test_linkwatch_runs_a_worker_for_each_partition(self) -> None:
        for places, partitions in ((2, 2), (16, 2), (32, 4), (100, 16)):
            for size in ACCOUNT_SIZES:
                self.assertEqual(sources(AccountConcurrency=size, MaxConcurrency=places)["TicksSource"].most, partitions, f"{places} places")

    def test_what_is_named_wins(self) -> None:
        for size in ACCOUNT_SIZES:
            found = sources(AccountConcurrency=size, RelayParallelization=3, AnalyticsConcurrency=100, MaxConcurrency=64)
            self.assertEqual([found[name].most for name in ("ClicksStream", "AnalyticsSource", "TicksSource")], [12, 100, 8])


class Findings(unittest.TestCase):
    def test_what_fits_is_not_mentioned(self) -> None:
        self.assertEqual(findings(Aws()), [])
        self.assertEqual(findings(Aws(executions=10), AccountConcurrency=10), [])

    def test_a_smaller_account_is_told_what_to_deploy_with(self) -> None:
        for executions, fitting in ((10, 10), (50, 10), (999, 500)):
            [found] = findings(Aws(executions=executions))
            self.assertTrue(found.stops)
            self.assertIn(f"may run {executions} functions at once in eu-west-1, and AccountConcurrency is 1000", found.sentence)
            self.assertIn(f'run `make deploy DEPLOY_FLAGS="--parameter-overrides AccountConcurrency={fitting}"`, or ask', found.sentence)
            self.assertIn("1,000 concurrent executions of Lambda (L-B99A9384)", found.sentence)

    def test_sizes_that_a_smaller_account_has_no_room_for_go_with_it(self) -> None:
        before = {"AnalyticsConcurrency": "4", "MaxConcurrency": "32"}
        [found] = findings(Aws(executions=10), before)
        self.assertIn('overrides AccountConcurrency=10 AnalyticsConcurrency=0 MaxConcurrency=8"', found.sentence)

    def test_an_account_below_the_smallest_has_only_the_quota_to_ask_for(self) -> None:
        [found] = findings(Aws(executions=5))
        self.assertTrue(found.stops)
        self.assertNotIn("make deploy", found.sentence)

    def test_the_stack_keeps_what_the_flags_do_not_name(self) -> None:
        self.assertEqual(findings(Aws(executions=10), {"AccountConcurrency": "10"}), [])
        [found] = findings(Aws(executions=10), {"AccountConcurrency": "10"}, AccountConcurrency=100)
        self.assertIn("AccountConcurrency is 100:", found.sentence)

    def test_sizes_that_do_not_fit_stop_whatever_the_account_says(self) -> None:
        for size in (
            {"AccountConcurrency": 10, "AnalyticsConcurrency": 4},
            {"AccountConcurrency": 10, "RelayParallelization": 2},
            {"AccountConcurrency": 10, "MaxConcurrency": 32},
            {"AccountConcurrency": 100, "RelayParallelization": 10},
            {"AnalyticsConcurrency": 1000},
        ):
            [found] = findings(Aws(), **size)
            self.assertTrue(found.stops, size)
            [changed] = [name for name in size if name != "AccountConcurrency"]
            self.assertIn(f"--parameter-overrides {changed}={DEFAULTS[changed]}\"", found.sentence)
        self.assertEqual(findings(Aws(), RelayParallelization=10, AnalyticsConcurrency=100), [])
        self.assertEqual(findings(Aws(executions=10), AccountConcurrency=10, MaxConcurrency=16), [])

    def test_an_account_of_another_size_is_refused_before_it_is_built_for(self) -> None:
        [found] = findings(Aws(), AccountConcurrency=37)
        self.assertTrue(found.stops)
        self.assertIn("AccountConcurrency=37 is none of 10, 100,", found.sentence)

    def test_fewer_requests_than_a_route_may_get_are_mentioned_and_do_not_stop(self) -> None:
        for account in (
            Aws(rate=2_500, region="eu-south-1"),  # where Service Quotas may still show 10,000
            Aws(rate=None, quota=2_500, region="eu-south-1"),
        ):
            [found] = findings(account)
            self.assertFalse(found.stops)
            self.assertIn("takes 2,500 requests per second in eu-south-1", found.sentence)
            self.assertIn("a single route may get 5,000: for that many, ask", found.sentence)
            self.assertIn("(L-8A5B8E43)", found.sentence)

    def test_without_the_right_to_ask_the_region_tells(self) -> None:
        for region, usual, sentences in (("eu-west-1", "10,000", 1), ("mx-central-1", "2,500", 2)):
            found = findings(Aws(rate=None, quota=None, region=region))
            self.assertEqual(len(found), sentences)
            self.assertIn(f"(AccessDeniedException); {usual} per second is usual in {region}", found[0].sentence)
            self.assertFalse(any(each.stops for each in found))

    def test_a_limit_that_may_not_be_asked_for_does_not_stop(self) -> None:
        [found] = findings(Aws(executions=None))
        self.assertFalse(found.stops)
        self.assertIn("(AccessDeniedException)", found.sentence)

    def test_a_service_that_is_not_reached_does_not_stop_either(self) -> None:
        account = Aws()
        with patch.object(account, "client", side_effect=EndpointConnectionError(endpoint_url="https://nowhere")):
            found = findings(account)
            found += findings(account, MailSender="links@example.com", DomainName="go.example.com", HostedZoneId="Z1")
        self.assertEqual([each.stops for each in found], [False] * 6)
        self.assertIn("(EndpointConnectionError)", found[0].sentence)


class Mail(unittest.TestCase):
    def test_an_address_or_its_domain_must_be_verified(self) -> None:
        for identities, stops in (((True,), False), ((None, True), False), ((False, True), False), ((None, None, True), False), ((None, None, None), True), ((False, None, None), True)):
            found = findings(Aws(identities=identities), MailSender="links@mail.example.com")
            self.assertEqual([each.stops for each in found], [True] if stops else [], identities)
            self.assertTrue(not found or "links@mail.example.com" in found[0].sentence)

    def test_the_sandbox_is_mentioned_and_does_not_stop(self) -> None:
        [found] = findings(Aws(identities=(True,), production=False), MailSender="links@example.com")
        self.assertFalse(found.stops)
        self.assertIn("sandbox in eu-west-1: it sends 200 mails a day", found.sentence)


class Domains(unittest.TestCase):
    ARN = "arn:aws:acm:eu-west-1:123456789012:certificate/1"
    ISSUED = {"DomainName": "go.example.com", "Status": "ISSUED"}

    def found(self, account: Aws, **overrides: object) -> list[str]:
        found = findings(account, DomainName="go.example.com", **overrides)
        self.assertTrue(all(each.stops for each in found))
        return [each.sentence for each in found]

    def test_a_domain_needs_a_zone_or_a_certificate(self) -> None:
        self.assertEqual(self.found(Aws()), ["DomainName needs HostedZoneId, or CertificateArn."])

    def test_a_certificate_is_issued_for_the_domain_in_the_region(self) -> None:
        for change, arn, expected in (
            ({}, self.ARN, None),
            ({"SubjectAlternativeNames": ["example.com", "*.example.com"]}, self.ARN, None),
            ({"SubjectAlternativeNames": ["example.com"]}, self.ARN, "is for example.com, and not for go.example.com."),
            ({"Status": "PENDING_VALIDATION"}, self.ARN, "is PENDING_VALIDATION: it must be ISSUED."),
            ({}, self.ARN.replace("eu-west-1", "us-east-1"), "must be in eu-west-1."),
        ):
            # ACM knows nothing of another region's.
            known = self.ISSUED | change if arn == self.ARN else None
            found = self.found(Aws(certificate=known), CertificateArn=arn)
            self.assertEqual(found, [f"The certificate {expected}"] if expected else [])

    def test_what_does_not_exist_stops(self) -> None:
        for refusal, named in (("ResourceNotFoundException", {"CertificateArn": self.ARN}), ("NoSuchHostedZone", {"HostedZoneId": "Z1"})):
            self.assertEqual(self.found(Aws(refusal=refusal), **named), [f"AWS doesn't say whether the domain can be used ({refusal})."])

    def test_the_zone_is_public_and_has_the_domain(self) -> None:
        for zone, expected in (
            ({"Name": "example.com."}, None),
            ({"Name": "go.example.com."}, None),
            ({"Name": "ample.com."}, "is that of ample.com., which go.example.com isn't in."),
            ({"Name": "example.com.", "Config": {"PrivateZone": True}}, "is private: nobody else would find go.example.com."),
        ):
            found = self.found(Aws(zone=zone), HostedZoneId="Z1")
            self.assertEqual(found, [f"The zone Z1 {expected}"] if expected else [])
