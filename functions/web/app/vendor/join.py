"""Puts files of npm packages into preact.js, as they are, in place of other versions of them. README.md has the commands."""

import sys
from pathlib import Path

JOINED = Path(__file__).with_name("preact.js")
END = "}).call(loaded);\n"


def main() -> None:
    joined = JOINED.read_text()
    for file in map(Path, sys.argv[1:]):
        begin = f"// {file.name}\n"
        before, rest = joined.split(begin)
        joined = before + begin + file.read_text() + rest[rest.index(END) :]
    JOINED.write_text(joined)


if __name__ == "__main__":
    main()
