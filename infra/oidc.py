"""Asks for the client secret of each identity provider, keeps it in the stack's secret, and prints the address to which the provider
sends people back. `make oidc` runs it; nobody else sees a secret, not even the history of the shell.

A secret is used within five minutes.
"""

import getpass
import json
import re
import sys
from collections.abc import Callable

import boto3

from .stack import outputs


def ids(names: str) -> dict[str, str]:
    """The providers by the id that paths have, as shared/oidc/src/settings.rs makes it."""
    return {"-".join(re.findall("[A-Za-z0-9]+", name)).lower(): name.strip() for name in names.split(",")}


def filled(secret: dict[str, str], names: str, base: str, ask: Callable[[str], str]) -> dict[str, str]:
    """The secret with what is answered. An empty answer leaves what there is."""
    answers = {}
    for id, name in ids(names).items():
        print(f"{name} sends people back to {base.rstrip('/')}/api/auth/oidc/{id}/callback", flush=True)
        state = "is set; empty leaves it" if id in secret else "is missing"
        answers[id] = ask(f"Client secret of {name} ({state}): ").strip()
    return secret | {id: answer for id, answer in answers.items() if answer}


def line(question: str) -> str:
    """The next line of what isn't typed, such as a pipe."""
    return sys.stdin.readline()


def main() -> None:
    stack, client = outputs(), boto3.client("secretsmanager")
    if "OidcSecretId" not in stack:
        sys.exit("There is no identity provider yet: deploy with OidcIssuers, OidcClientIds and OidcNames.")
    id = stack["OidcSecretId"]
    secret = json.loads(client.get_secret_value(SecretId=id)["SecretString"])
    ask = getpass.getpass if sys.stdin.isatty() else line
    new = filled(secret, stack["OidcNames"], stack["PublicUrl"], ask)
    if new != secret:
        client.put_secret_value(SecretId=id, SecretString=json.dumps(new))
        print("Kept. It is used within five minutes.")


if __name__ == "__main__":
    main()
