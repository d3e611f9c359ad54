"""What is asked: NAME=value, as make takes it."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Self

from .tables import DAYS, HERE, Failure, load_tables, read_toml

INPUTS = read_toml(HERE / "inputs.toml")


class Load(SimpleNamespace):
    """A month's work and settings: the inputs by their names in lower case, and what follows from them."""

    minutes = DAYS * 24 * 60
    lone = property(lambda self: self.clicks * (1 - self.hot))
    burst = property(lambda self: self.clicks * self.hot)
    counted_alone = property(lambda self: self.lone + self.unlocks)
    all_clicks = property(lambda self: self.clicks + self.unlocks)
    # Comparisons with fewer clicks have fewer on links with a limit.
    uses = property(lambda self: min(self.limited, self.clicks))
    jobs = property(lambda self: 1 if self.renamed else 0)

    def but(self, **changes: Any) -> Self:
        return type(self)(**{**vars(self), **changes})


def parse(words: Iterable[str]) -> Load:
    template = load_tables().template
    values = {name: template.get(row.get("template"), row.get("default")) for name, row in INPUTS.items()}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in INPUTS:
            raise Failure(f"{word}: not an input; there are {', '.join(INPUTS)}, each as NAME=value")
        values[name] = value_of(name, text, values[name])
    values["VIEWS"] = values["LINKS"] if values["VIEWS"] is None else values["VIEWS"]
    if values["LIMITED"] > values["CLICKS"]:
        raise Failure(f"LIMITED={values['LIMITED']}: must be no more than CLICKS, of which there are {values['CLICKS']:,}")
    return Load(**{name.lower(): value for name, value in values.items()})


def value_of(name: str, text: str, default: Any) -> Any:
    row = INPUTS[name]
    if "choices" in row and text not in row["choices"]:
        raise Failure(f"{name}={text}: must be one of {', '.join(row['choices'])}")
    if "most" not in row:
        return text
    kind, words = (float, "a number") if isinstance(default, float) else (int, "a whole number")
    try:
        value = kind(text)
    except ValueError:
        value = None
    # `nan` is refused as well, since no comparison with it is true.
    if value is None or not row["least"] <= value <= row["most"]:
        raise Failure(f"{name}={text}: must be {words} from {row['least']:,} to {row['most']:,}")
    return value
