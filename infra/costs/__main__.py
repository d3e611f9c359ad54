"""Prints what a month costs, on Linklet and on containers with an SQL database: `make cost CLICKS=1000000 LINKS=10000`."""

import sys

from .inputs import parse
from .report import text
from .tables import Failure, load_tables

ZERO = "PRICES or ASSUMPTIONS have a 0 that something is divided by, such as how much a price is for"

try:
    load = parse(sys.argv[1:])
    print(text(load, load_tables(load.prices, load.assumptions)))
except (Failure, ZeroDivisionError) as failure:
    print(failure if isinstance(failure, Failure) else ZERO, file=sys.stderr)
    sys.exit(2)
