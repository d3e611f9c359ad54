import contextlib
import io
import unittest

from .oidc import filled, ids


class ClientSecrets(unittest.TestCase):
    def test_a_provider_has_the_id_that_its_paths_have(self) -> None:
        self.assertEqual(ids("Entra ID, Okta (EU)"), {"entra-id": "Entra ID", "okta-eu": "Okta (EU)"})

    def test_only_what_is_answered_changes(self) -> None:
        answers = iter(["one\n", ""])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            secret = filled({"cookie_key": "k", "okta": "before"}, "Acme,Okta", "https://go.example.com/", lambda _: next(answers))

        self.assertEqual(secret, {"cookie_key": "k", "acme": "one", "okta": "before"})
        self.assertIn("Acme sends people back to https://go.example.com/api/auth/oidc/acme/callback\n", printed.getvalue())
        self.assertNotIn("one", printed.getvalue())
