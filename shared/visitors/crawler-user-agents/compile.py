"""Writes `words.txt`, `crawlers.txt` and `instances.txt` from the list of crawler-user-agents: see the README beside this file.

    python3 shared/visitors/crawler-user-agents/compile.py package/crawler-user-agents.json
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent

# What src/bots recognises without a word: programs that claim to be no browser, names that end in "bot" or the like, and who
# names an address to complain to. It needn't be as exact as there: a word too many does no harm.
NO_BROWSER = re.compile(r"(?!Mozilla/|Opera/|BlackBerry|Nokia)")
SAYS_SO = re.compile(r"(?:^|[ (;+,])[\w.-]*(?:bot|crawler|spider|scraper)s?(?![\w.@])|\+(?:https?|mailto):", re.IGNORECASE)

# Patterns that match people's browsers, too.
PEOPLE = {
    r"AP3A\.240617\.008": "a build of Android",
    r"MetaIAB Facebook": "the browser in Facebook's app",
    r"Code\/1\.": "an editor with a browser",
    r"Trae\/": "an editor with a browser",
    r"Fluid": "a browser for one site",
    r"Sonic": "Slack's application",
    r"mail\.ru": "a large site, whose addresses are in user agents of its applications",
}

# Patterns of crawlers that are in the names of tools, too.
TOOLS = {r"Fetch\/": "the end of node-fetch and others"}


def words_of(pattern: str) -> list[str]:
    """The words, in lower case, that a pattern stands for; none if it isn't as simple as that."""
    plain = pattern.removeprefix("(^| )").lower()
    plain = re.sub(r"\[(\w)\1\]", r"\1", plain)
    plain = re.sub(r"\\([^\w\s])", "\0\\1", plain)
    if re.search(r"(?<!\0)[\\^$.|?*+()\[\]{}]", plain):
        return []
    return [plain.replace("\0", "")]


def main() -> None:
    entries = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    words, crawlers = set(), set()
    for entry in entries:
        silent = [agent for agent in entry["instances"] if not SAYS_SO.search(agent)]
        programs = [agent for agent in silent if NO_BROWSER.match(agent)]
        for_browsers = len(programs) < len(silent) and entry["pattern"] not in PEOPLE
        for_programs = programs and "http-library" not in entry["tags"] and entry["pattern"] not in TOOLS
        if not for_browsers and not for_programs:
            continue
        if not (found := words_of(entry["pattern"])):
            print(f"not a word: {entry['pattern']}", file=sys.stderr)
        if for_browsers:
            words.update(word.strip() for word in found)
        if for_programs:
            crawlers.update(word.strip() for word in found)
    instances = sorted({agent for entry in entries for agent in entry["instances"]})
    for name, content in [("words.txt", words), ("crawlers.txt", crawlers - words)]:
        (HERE / name).write_text("\n".join(["# Written by compile.py. Don't edit.", *sorted(content), ""]), encoding="utf-8")
    (HERE / "instances.txt").write_text("\n".join(instances) + "\n", encoding="utf-8")
    print(f"{len(entries)} entries: {len(words)} and {len(crawlers - words)} words, {len(instances)} user agents")


main()
