"""What a month costs, on Linklet and on containers with an SQL database: `make cost CLICKS=1000000 LINKS=10000`.

docs/costs.md explains what comes out. Inputs are NAME=value; a wrong one is one line on standard error and exit code 2.
"""

from __future__ import annotations

import sys
from typing import NoReturn

from .inputs import Failure, Load, parse
from .report import text
from .tables import Data


def main() -> None:
    try:
        load = parse(sys.argv[1:], Load())
        print(text(load, Data.load(load.prices, load.assumptions)))
    except Failure as failure:
        fail(str(failure))
    except ZeroDivisionError:
        fail("PRICES or ASSUMPTIONS say 0 for something that must be more, such as how much a price is for")


def fail(reason: str) -> NoReturn:
    print(reason, file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
