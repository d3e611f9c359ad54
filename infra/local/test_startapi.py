"""What `sam local` makes of the template, that the documentation names all that a stack's file needs, and what Docker is asked. No test
here needs Docker."""

import json
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from samcli.lib.providers.api_provider import ApiProvider
from samcli.lib.providers.provider import Function
from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

from . import startapi
from .installer import ROOT, Failure, locked

REDIRECT, NOTIFY = "RedirectFunction", "NotifyFunction"


def seen_by_sam(given: startapi.Variables, architecture: str = "x86_64") -> tuple[dict[str, Function], dict[str, str]]:
    """The functions, and the function of each route."""
    template, parameters = startapi.for_start_api(given), {"Architecture": architecture}
    stacks, _ = SamLocalStackProvider.get_stacks(
        template_dictionary=template, parameter_overrides=parameters, language_extensions_enabled=True
    )
    functions = {each.name: each for each in SamFunctionProvider(stacks, use_raw_codeuri=True).get_all()}
    routes = {f"{method} {route.path}": route.function_name for route in ApiProvider(stacks).api.routes for method in route.methods}
    return functions, routes


class Functions(unittest.TestCase):
    def test_they_are_for_the_given_processor(self) -> None:
        for architecture in ("arm64", "x86_64"):
            functions, _ = seen_by_sam({}, architecture)
            self.assertEqual(functions[REDIRECT].architectures, [architecture])

    def test_every_route_leads_to_one_that_was_built(self) -> None:
        functions, routes = seen_by_sam({})
        self.assertGreater(len(routes), 30)
        self.assertEqual(routes["GET /{code}"], REDIRECT)
        folders = {functions[name].codeuri for name in routes.values()}
        self.assertEqual(folders, {str(startapi.FUNCTIONS / name) for name in startapi.behind_the_api()})

    def test_they_keep_what_the_template_says_for_all_and_for_each(self) -> None:
        auth = seen_by_sam({})[0]["AuthFunction"]
        self.assertEqual((auth.runtime, auth.memory), ("provided.al2023", 1024))
        self.assertLessEqual({"LOG_LEVEL", "USERS_TABLE"}, set(auth.environment["Variables"]))


class Variables(unittest.TestCase):
    def test_what_no_function_knows_is_declared_for_all_or_for_the_one_that_it_is_meant_for(self) -> None:
        functions, _ = seen_by_sam({"Parameters": {"AWS_ENDPOINT_URL": "x"}, REDIRECT: {"AWS_ENDPOINT_URL_SQS": "x"}})
        for name, function in functions.items():
            self.assertIn("AWS_ENDPOINT_URL", function.environment["Variables"])
            self.assertEqual("AWS_ENDPOINT_URL_SQS" in function.environment["Variables"], name == REDIRECT)

    def test_a_function_gets_none_of_another(self) -> None:
        functions, _ = seen_by_sam({"Parameters": {"CLICKS_TABLE": "clicks", "NOTIFICATIONS_TABLE": "notifications"}})
        self.assertNotIn("CLICKS_TABLE", functions[NOTIFY].environment["Variables"])
        self.assertNotIn("NOTIFICATIONS_TABLE", functions[REDIRECT].environment["Variables"])

    def test_what_only_a_stack_knows_is_missed(self) -> None:
        lacking = startapi.missing({"Parameters": {"LINKS_TABLE": "links", "CLICKS_TABLE": ""}})
        self.assertLessEqual({"CLICKS_TABLE", "WATCH_TABLE", "JWT_SECRET_ID", "ANALYTICS_QUEUE_URL"}, lacking)
        self.assertFalse({"LINKS_TABLE", "LOG_LEVEL", "PUBLIC_BASE_URL", "NOTIFY_QUEUE_URL"} & lacking)

    def test_the_documentation_names_all_of_these(self) -> None:
        example = re.search(r"```json\n(\{.*?\n\})\n```", (ROOT / "docs" / "local-sam.md").read_text(), re.DOTALL)
        assert example is not None
        self.assertEqual(set(json.loads(example[1])["Parameters"]), startapi.missing({}))

    def test_a_file_of_them_is_looked_at(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "env.json"
            with self.assertRaisesRegex(Failure, "docs/local-sam.md"):
                startapi.read_variables(path)
            for text in ("LINKS_TABLE=x", '["LINKS_TABLE"]', '{"LINKS_TABLE": "x"}'):
                path.write_text(text)
                with self.subTest(text), self.assertRaisesRegex(Failure, "lacks .*LINKS_TABLE|can't be used"):
                    startapi.read_variables(path)
            given = {"Parameters": dict.fromkeys(startapi.missing({}), "x"), REDIRECT: {"LOG_LEVEL": "debug"}}
            path.write_text(json.dumps(given))
            self.assertEqual(startapi.read_variables(path), given)


class Docker(unittest.TestCase):
    def test_the_bridge_has_an_ipv4_address(self) -> None:
        for address, *configurations in (
            ("172.17.0.9/16", {"Subnet": "172.17.0.0/16", "Gateway": "172.17.0.9"}),
            ("10.1.2.1/24", {"Subnet": "10.1.2.0/24", "Gateway": "10.1.2.1/24"}),
            ("172.17.0.1/16", {"Subnet": "fd00::/64", "Gateway": "fd00::1"}, {"Subnet": "172.17.0.0/16"}),
        ):
            self.assertEqual(str(startapi.bridge_address(configurations)), address)

    def test_docker_desktop_finds_our_loopback_by_itself(self) -> None:
        with mock.patch.object(startapi, "docker", return_value="Docker Desktop"), startapi.way_to(4566) as port:
            self.assertEqual(port, 4566)

    def test_only_containers_with_functions_of_this_folder_are_removed(self) -> None:
        with mock.patch.object(startapi, "docker", return_value="a1\nd4") as docker:
            startapi.remove_containers()
        listing, removal = (call.args for call in docker.call_args_list)
        redirect = startapi.FUNCTIONS / "redirect"
        self.assertLessEqual({f"--filter=volume={redirect}", f"--filter=volume=/host_mnt{redirect}"}, set(listing))
        self.assertEqual(removal, ("rm", "--force", "a1", "d4"))
        with mock.patch.object(startapi, "docker", return_value="") as docker:
            startapi.remove_containers()
        docker.assert_called_once()


class Alone(unittest.TestCase):
    def test_a_second_run_says_that_there_is_a_first(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with locked(Path(folder), startapi.RUNNING), self.assertRaisesRegex(Failure, "already runs"):
                with locked(Path(folder), startapi.RUNNING):
                    pass
            with locked(Path(folder), startapi.RUNNING):
                pass
