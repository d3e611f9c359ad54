"""Makes clients of the document that a system serves, with the generators that are in use, and tries them. `make clients` runs it.

Each type of a client has a name that the document gives. Each client is compiled with its language's compiler, together with a tour of
what a user does first: tours/, and for Python the program with which docs/api.md begins. The tour has to compile; with a misspelled
member of a request it must not. Then it is taken on the system in API_URL, where links to odd addresses are followed, too: each
`Location` must be one that the language's URL parser takes, and that leads to the host that was shortened.

A language without a compiler on this machine is no failure: a line says that it was left out. With `CLIENTS=required` it is one.
Generators and what their clients need are installed once, as infra/requirements pins them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from ..local.installer import REQUIREMENTS, ROOT, TOOLS, Failure, end_with
from ..local.installer import install_jars, install_modules, java, locked, missing_java, missing_node, say
from ..local.client import call, send
from ..local.seed import sign_up

HERE = Path(__file__).resolve().parent
# In the folder of each client. Generators don't read docs/openapi.yaml: one of them takes 50 aliases of YAML for an attack.
DOCUMENT = "openapi.json"
TOURS = HERE / "tours"
PAGE = ROOT / "docs" / "api.md"
HOME = ROOT / ".linklet" / "clients"
PROGRAMS = Path(sys.executable).parent
# From this version on, Go fetches the one that go.mod names.
GO_AT_LEAST = (1, 21)
Command = list[str | Path]

# Addresses of example.com with what no URI may have, or what parsers read in different ways, and a query that is forwarded to them.
ODD = [
    "https://example.com/a|b?q={x}",
    "https://example.com/%zz",
    "https://example.com/a^b`c",
    "https://example.com/ü\"{|}<>",
    "https://example.com/a b?c d",
    "https://example.com/?a[]=1&b[0]=%E9&c=100%",
    "https://example.com/#a#b[c]",
    "https://example.com\\@evil.example/",
    "https://example.com/\\evil.example/?a=\\b#\\c",
    "https://example.com//evil.example/../a/./b;c=d",
    "https://EXAMPLE.com:443?q=漢字#🎉",
]
FORWARDED = "?q=caf%E9&=x&y;z==&utm_source=a%20b+c"


class Refused(Exception):
    """A generator or a compiler fails; the text is what it prints."""


def run(command: Command, folder: Path, **variables: str) -> str:
    done = subprocess.run(command, cwd=folder, env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Refused(f"{' '.join(map(str, command[:3]))} …\n{done.stdout}")
    return done.stdout


class Client:
    """A generator, and what becomes of its client. The tour's name begins with the generator's.

    `generate` makes the client in `home`, and what of it can be compiled without a tour. `compile` takes the text of a tour, and `start`
    takes the tour that was compiled last.
    """

    tour: str
    # Python finds a misspelled member only when it runs.
    is_compiled = True

    def __init__(self) -> None:
        self.home = HOME / self.tour

    def lacks(self) -> str | None:
        """What this machine lacks, if anything."""

    def text(self) -> str:
        """The tour as people read it."""
        return (TOURS / self.tour).read_text()

    def types(self) -> set[str]:
        """The names of the types that `generate` has made, but for those that all of the generator's clients have."""
        return set()


class Python(Client):
    tour = "openapi-python-client.py"
    is_compiled = False

    def text(self) -> str:
        found = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
        if not found:
            raise Failure("docs/api.md has no tour: a block of Python.")
        return found[1]

    def generate(self) -> None:
        # A warning means that a part of the document is not in the client.
        command = [PROGRAMS / "openapi-python-client", "generate", "--path", DOCUMENT, "--meta", "none", "--fail-on-warning"]
        command += ["--config", HERE / "client.yaml", "--output-path", self.home / "linklet_client"]
        # The generator tidies its code with ruff, which lies beside it.
        run(command, self.home, PATH=f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")

    def types(self) -> set[str]:
        return declared(r"^class (\w+)", *(self.home / "linklet_client" / "models").glob("*.py"))

    def compile(self, tour: str) -> None:
        (self.home / "tour.py").write_text(tour)
        run([sys.executable, "-m", "compileall", "-q", "."], self.home)

    def start(self, url: str, *odd_links: str) -> None:
        wanted = {"name": "tour", "scopes": ["links:read", "links:write", "analytics:read"]}
        key = call("POST", f"{url}/api/keys", wanted, sign_up(url, "tour")["token"])["key"]
        run([sys.executable, "tour.py"], self.home, LINKLET_URL=url, LINKLET_KEY=key)
        for odd in odd_links:
            location = send("GET", odd).headers["Location"]
            if httpx.URL(location).host != "example.com":
                raise Refused(f"{odd} leads to {location}")


class TypeScript(Client):
    tour = "openapi-typescript.ts"

    def lacks(self) -> str | None:
        return missing_node()

    def generate(self) -> None:
        run(["node", install_modules() / "openapi-typescript" / "bin" / "cli.js", DOCUMENT, "--output", "schema.d.ts"], self.home)

    def compile(self, tour: str) -> None:
        (self.home / "tour.ts").write_text(tour)
        modules = self.home / "node_modules"
        if not modules.is_symlink():
            modules.symlink_to(install_modules())
        options = "--strict --target es2022 --lib es2022,dom,dom.iterable --module nodenext --outDir out".split()
        run(["node", modules / "typescript-native" / "bin" / "tsc", *options, "tour.ts"], self.home)

    def start(self, *arguments: str) -> None:
        run(["node", "out/tour.js", *arguments], self.home)


class Go(Client):
    tour = "oapi-codegen.go"

    def lacks(self) -> str | None:
        if shutil.which("go") is None:
            return "Go is missing"
        found = re.match(r"go(\d+)\.(\d+)", self.go("env", "GOVERSION", folder=ROOT))
        return None if found and (int(found[1]), int(found[2])) >= GO_AT_LEAST else f"Go {'.'.join(map(str, GO_AT_LEAST))} or later is needed"

    def generate(self) -> None:
        for file in ("go.mod", "go.sum"):
            shutil.copy(REQUIREMENTS / "go" / file, self.home)
        (self.home / "api").mkdir()
        self.go("tool", "oapi-codegen", "-generate", "types,client", "-package", "api", "-o", "api/api.go", DOCUMENT)

    def types(self) -> set[str]:
        found = declared(r"^type (\w+)", self.home / "api" / "api.go")
        return {name for name in found if not re.match("Client|HttpRequestDoer|RequestEditorFn", name)}

    def compile(self, tour: str) -> None:
        (self.home / "main.go").write_text(tour)
        self.go("vet", "./...")
        self.go("build", "-o", "tour", ".")

    def start(self, *arguments: str) -> None:
        run([self.home / "tour", *arguments], self.home)

    def go(self, *arguments: str | Path, folder: Path | None = None) -> str:
        """With modules and results in our folder."""
        caches = {"GOMODCACHE": str(TOOLS / "go" / "modules"), "GOCACHE": str(TOOLS / "go" / "built")}
        alone = {"GOTOOLCHAIN": "auto", "GOWORK": "off", "GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false"}
        return run(["go", *arguments], folder or self.home, **caches, **alone)


class Java(Client):
    tour = "openapi-generator.java"

    def lacks(self) -> str | None:
        return missing_java()

    def generate(self) -> None:
        (jar,) = self.jars().glob("openapi-generator-cli-*.jar")
        command: Command = [java() or "java", "-jar", jar, "generate", "--input-spec", DOCUMENT, "--generator-name", "java", "--output", "client"]
        # The client of the usual library, okhttp-gson, fails when an answer has got a new member. A call of a list has 17 parameters.
        command += ["--library", "native", "--additional-properties", "useSingleRequestParameter=true"]
        run([*command, "--global-property", "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"], self.home)
        self.javac(*sorted((self.home / "client" / "src" / "main").rglob("*.java")))

    def types(self) -> set[str]:
        models = self.home / "client" / "src" / "main" / "java" / "org" / "openapitools" / "client" / "model"
        return declared(r"^ *public (?:abstract )?(?:static )?(?:class|enum) (\w+)", *models.glob("*.java")) - {"AbstractOpenApiSchema"}

    def compile(self, tour: str) -> None:
        (self.home / "Tour.java").write_text(tour)
        self.javac("Tour.java")

    def start(self, *arguments: str) -> None:
        run([java() or "java", "-cp", self.classes(), "Tour", *arguments], self.home)

    def javac(self, *sources: str | Path) -> None:
        # Its table of all classes needs a larger stack, as the client's own POM says.
        options = ["-J-Xss4m", "-nowarn", "-proc:none", "-d", "classes", "-cp", self.classes()]
        found = java()
        compiler = found.with_name("javac") if isinstance(found, Path) else "javac"
        run([compiler, *options, *sources], self.home)

    def jars(self) -> Path:
        return install_jars("openapi-generator", "OpenAPI Generator")

    def classes(self) -> str:
        """The client, and what it needs but for the generator, which has other versions of that in it."""
        needed = [jar for jar in sorted(self.jars().glob("*.jar")) if not jar.name.startswith("openapi-generator-cli")]
        return os.pathsep.join(map(str, ["classes", *needed]))


ALL = [Python(), TypeScript(), Go(), Java()]


def declared(pattern: str, *files: Path) -> set[str]:
    return {name for file in files for name in re.findall(pattern, file.read_text(), re.MULTILINE)}


def made_up(types: set[str], document: dict[str, Any]) -> list[str]:
    """The types that have neither the name of a component nor that of what an operation takes and answers."""
    components = {name.lower() for kind in document["components"].values() for name in kind}
    methods = [method for path in document["paths"].values() for method in path.values() if "operationId" in method]
    operations = "|".join(method["operationId"] for method in methods)
    of_operation = re.compile(rf"({operations})(Params|Response([0-9]{{3}}Headers)?|(JSON|Formdata)RequestBody)", re.IGNORECASE)
    return sorted(name for name in types if name.lower() not in components and not of_operation.fullmatch(name))


def odd_links(url: str) -> list[str]:
    """Makes links to odd addresses, and returns their short URLs."""
    wanted = [{"url": odd, "forward_query": forwards} for odd in ODD for forwards in (False, True)]
    results = call("POST", f"{url}/api/links/bulk", {"links": wanted}, sign_up(url, "odd")["token"])["results"]
    if refused := [result for result in results if result["status"] != 201]:
        raise Failure(f"Odd addresses were refused: {json.dumps(refused)}")
    links = [result["link"] for result in results]
    return [link["short_url"] + (FORWARDED if link.get("forward_query") else "") for link in links]


def attempt(client: Client, url: str) -> None:
    started = time.monotonic()
    shutil.rmtree(client.home, ignore_errors=True)
    client.home.mkdir(parents=True)
    document = call("GET", f"{url}/api/{DOCUMENT}")
    (client.home / DOCUMENT).write_text(json.dumps(document))
    tour = client.text()
    client.generate()
    if names := made_up(client.types(), document):
        raise Refused(f"types whose names the generator has made up: {', '.join(names)}")
    if client.is_compiled:
        refuse_misspelled(client, tour)
    client.compile(tour)
    client.start(url, *odd_links(url))
    refusing = ", refuses a misspelled member" if client.is_compiled else ""
    say(f"clients: {client.tour} compiles{refusing}, and has taken the tour ({time.monotonic() - started:.0f} s)")


def refuse_misspelled(client: Client, tour: str) -> None:
    """The tour is right, as compiling it next shows, so what the compiler finds is the member."""
    misspelled, count = re.subn(r"\b([Tt])itle\b", r"\1itel", tour)
    if count != 1:
        raise Failure(f"tours/{client.tour} has the title of a link {count} times; it needs it once, to be misspelled.")
    try:
        client.compile(misspelled)
    except Refused as refused:
        if "itel" not in str(refused):
            raise
    else:
        raise Refused("a request with a misspelled member compiles")


def judge(clients: list[Client], url: str) -> int:
    """0 if each client that can be compiled here is fine, and none is left out that is required."""
    failed = False
    for client in clients:
        if lacks := client.lacks():
            say(f"clients: left out {client.tour}: {lacks}.")
            failed |= os.environ.get("CLIENTS") == "required"
            continue
        try:
            with locked(HOME):
                attempt(client, url)
        except Refused as refused:
            say(f"clients: {client.tour} FAILED: {refused}")
            failed = True
    return int(failed)


def main() -> int:
    chosen = [client for client in ALL if not sys.argv[1:] or any(name in client.tour for name in sys.argv[1:])]
    if not chosen:
        raise Failure("No client has such a name.")
    return judge(chosen, os.environ["API_URL"])


if __name__ == "__main__":
    end_with(main)
