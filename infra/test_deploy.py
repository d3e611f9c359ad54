"""What `make deploy` tells sam. The deployments themselves are tried on the emulator, by make suites."""

import unittest

from .deploy import Deployment


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
