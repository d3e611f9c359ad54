"""What `make deploy` tells sam. The deployments themselves are tried on the emulator, by make suites."""

import unittest

from .deploy import Deployment, about_alarms, about_costs, farewell, protects, require_clear_providers
from .limits import DEFAULTS, TEMPLATE
from .local.installer import Failure


class Flags(unittest.TestCase):
    def test_those_of_sam_are_read(self) -> None:
        flags = "--no-confirm-changeset --stack-name other --parameter-overrides A=1 ParameterKey=B,ParameterValue=2 --region eu-west-1 --tags C=3"
        deployment = Deployment.of(flags.split())
        self.assertEqual((deployment.stack, deployment.overrides, deployment.region), ("other", {"A": "1", "B": "2"}, "eu-west-1"))
        self.assertEqual(deployment.flags, ("--no-confirm-changeset", "--stack-name", "other", "--region", "eu-west-1", "--tags", "C=3"))

    def test_without_flags_samconfig_tells(self) -> None:
        self.assertEqual(Deployment.of([]), Deployment("linklet", {}, None, None))
        local = Deployment.of(["--config-env", "local"])
        self.assertEqual((local.region, local.overrides["EmulatorApiId"]), ("us-east-1", "c0ffee00"))

    def test_values_come_to_sam_as_they_are(self) -> None:
        given = {"CorsOrigins": "https://a.example,https://b.example", "RegistrationDomains": "a.example, b.example", "AlarmEmail": ""}
        command = Deployment("linklet", given, None, None).command({"DeletionProtection": "off"})
        self.assertEqual(Deployment.of(command[2:]).overrides, given | {"DeletionProtection": "off"})


class Plan(unittest.TestCase):
    def test_each_log_level_has_a_cost(self) -> None:
        of = {level: about_costs(DEFAULTS | {"LogLevel": level}) for level in ("error", "info", "debug", "trace")}
        self.assertRegex(of["info"], r"^\$\d\.\d\d a month without clicks, \$\d+\.\d\d with a million clicks")
        self.assertEqual((of["debug"], of["trace"]), (of["info"], of["info"]))

    def test_whoever_names_nobody_for_alarms_is_warned(self) -> None:
        self.assertIn("Nobody hears of an alarm", about_alarms(DEFAULTS))
        self.assertEqual(about_alarms(DEFAULTS | {"AlarmEmail": "ops@example.com"}), "")
        self.assertEqual(about_alarms(DEFAULTS | {"Monitoring": "none"}), "")

    def test_the_record_leads_to_an_edge_if_there_is_one(self) -> None:
        end = {"PublicUrl": "https://go.example.com", "ApiUrl": "https://api.example.com", "DomainTarget": "d-1.example.com"}
        for edge, leads in (("", "d-1.example.com"), ("d1.cloudfront.net", "d1.cloudfront.net")):
            said = farewell(end, Deployment("linklet", {}, None, None), "eu-west-1", DEFAULTS | {"EdgeTarget": edge})
            self.assertIn(f"Its DNS record leads to {leads}.", said)

    def test_a_closed_api_is_asked_for_its_health_through_the_edge(self) -> None:
        resources = {name: TEMPLATE["Resources"][name]["Properties"] for name in ("HttpApi", "Domain")}
        switches = resources["HttpApi"]["DisableExecuteApiEndpoint"], resources["Domain"]["MutualTlsAuthentication"]
        condition, closed, _ = TEMPLATE["Outputs"]["ApiUrl"]["Value"]["Fn::If"]
        self.assertEqual({condition}, {switch["Fn::If"][0] for switch in switches})
        self.assertEqual(closed, {"Fn::Sub": "https://${DomainName}"})

    def test_protection_is_promised_only_if_it_is_wanted(self) -> None:
        self.assertIn("DeletionProtection=off", protects(exists=False, protection="off"))
        self.assertIn("were tried", protects(exists=False, protection="on"))
        self.assertNotIn("were tried", protects(exists=True, protection="on"))


class Providers(unittest.TestCase):
    def test_lists_of_providers_belong_together(self) -> None:
        two = {"OidcIssuers": "https://a.example, https://b.example", "OidcClientIds": "1,2", "OidcNames": "A,B"}
        role = "=019adcb1-5a4e-7c11-9d2f-0b7d1f9c2e55:member"
        clear = ({"OidcScopes": "openid"}, {"OidcScopes": "openid,openid email"}, {"OidcGroups": f"a/Leads{role},b/x/y{role}"})
        for parameters in ({}, two, *(two | more for more in clear)):
            require_clear_providers(parameters)
        unclear = ({"OidcNames": "A"}, {"OidcNames": "A,a!"}, {"OidcNames": "A,?"}, {"OidcScopes": "openid,openid,openid"},
                   {"OidcScopes": "openid,email"}, {"OidcGroups": f"Leads{role}"})
        for wrong in ({"OidcIssuers": "https://a.example"}, *(two | more for more in unclear)):
            with self.assertRaises(Failure):
                require_clear_providers(wrong)
