"""Makes the shapes of the world map, parts/world-map/shapes.js, of Natural Earth's. README.md has the commands.

Usage: world.py COUNTRIES-110M.json COUNTRIES-50M.json CODES.json
"""

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SHAPES = Path(__file__).parents[1] / "parts" / "world-map" / "shapes.js"
WIDTH = 2000
EDGE = 16
# Nobody clicks there, and it would take a third of the height.
LEFT_OUT = {"AQ"}
# What ISO 3166 has no number for: Kosovo has the code that everybody gives it, the others are parts of what has one.
WITHOUT_NUMBER = {"Kosovo": "XK", "N. Cyprus": "CY", "Somaliland": "SO"}
HEAD = """// The world's countries as SVG paths, by their codes of ISO 3166: made by vendor/world.py, of data of Natural Earth.

/** The room that they need. */
export const WORLD = {{ width: {width}, height: {height} }};
"""

Point = tuple[float, float]
Ring = list[Point]


def main(coarse: str, fine: str, codes: str) -> None:
    numbers = {number: code for code, _, number, _ in json.loads(Path(codes).read_text())}
    shapes = dict(countries(json.loads(Path(coarse).read_text()), numbers))
    small = {code: middle(rings) for code, rings in countries(json.loads(Path(fine).read_text()), numbers).items() if code not in shapes}
    points = [point for rings in shapes.values() for ring in rings for point in ring]
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    scale = WIDTH / (right - left)

    def placed(point: Point) -> tuple[int, int]:
        return round((point[0] - left) * scale), round((point[1] - top) * scale)

    lines = [HEAD.format(width=WIDTH, height=math.ceil((bottom - top) * scale))]
    lines += ["/** @type {Record<string, string>} */", "export const SHAPES = {"]
    lines += [f"  {code}: '{path([[placed(point) for point in ring] for ring in rings])}'," for code, rings in sorted(shapes.items())]
    lines += ["};", "", "/** Where countries are that are too small to have a shape. @type {Record<string, [number, number]>} */", "export const PLACES = {"]
    # Islands beyond the date line stand at the edge.
    places = {code: (min(max(x, EDGE), WIDTH - EDGE), y) for code, (x, y) in ((code, placed(point)) for code, point in small.items())}
    lines += [f"  {code}: [{x}, {y}]," for code, (x, y) in sorted(places.items())]
    SHAPES.write_text("\n".join([*lines, "};", ""]))


def countries(topology: dict[str, Any], numbers: dict[str, str]) -> dict[str, list[Ring]]:
    """The outlines by code, on the plane."""
    arcs = [list(decoded(arc, topology["transform"])) for arc in topology["arcs"]]
    found: dict[str, list[Ring]] = {}
    for country in topology["objects"]["countries"]["geometries"]:
        code = numbers.get(country.get("id", "")) or WITHOUT_NUMBER.get(country["properties"]["name"])
        if code is None or code in LEFT_OUT or not country.get("arcs"):
            continue
        polygons = [country["arcs"]] if country["type"] == "Polygon" else country["arcs"]
        found.setdefault(code, []).extend(ring_of(ring, arcs) for polygon in polygons for ring in polygon)
    return found


def decoded(arc: list[list[int]], transform: dict[str, list[float]]) -> Iterator[Point]:
    x = y = 0
    for dx, dy in arc:
        x, y = x + dx, y + dy
        yield x * transform["scale"][0] + transform["translate"][0], y * transform["scale"][1] + transform["translate"][1]


def projected(longitude: float, latitude: float) -> Point:
    """The projection of the Natural Earth map (Šavrič, Jenny, Patterson, Petrovič and Hurni, 2011)."""
    angle = math.radians(latitude)
    square = angle * angle
    length = 0.8707 - 0.131979 * square - 0.013791 * square**2 + 0.003971 * square**5 - 0.001529 * square**6
    height = angle * (1.007226 + 0.015085 * square - 0.044475 * square**3 + 0.028874 * square**4 - 0.005916 * square**5)
    return math.radians(longitude) * length, -height


def ring_of(indices: list[int], arcs: list[Ring]) -> Ring:
    ring: Ring = []
    for index in indices:
        arc = arcs[index] if index >= 0 else arcs[~index][::-1]
        ring += arc[1 if ring else 0 :]
    # What crosses the date line goes on beyond it.
    crosses = any(abs(one[0] - other[0]) > 180 for one, other in zip(ring, ring[1:]))
    return [projected(x + 360 if crosses and x < 0 else x, y) for x, y in ring[:-1]]


def middle(rings: list[Ring]) -> Point:
    """Of the largest part."""
    ring = max(rings, key=len)
    return sum(x for x, _ in ring) / len(ring), sum(y for _, y in ring) / len(ring)


def path(rings: list[list[tuple[int, int]]]) -> str:
    """From point to point by whole numbers, without those that fall together."""
    kept = [[point for at, point in enumerate(ring) if point != ring[at - 1]] for ring in rings]
    seen = [ring for ring in kept if len(ring) > 2] or [max(rings, key=len)]
    return "".join(closed(ring) for ring in seen)


def closed(ring: list[tuple[int, int]]) -> str:
    (x, y), *others = ring
    text, before = f"M{x} {y}l", (x, y)
    for point in others:
        for number in (point[0] - before[0], point[1] - before[1]):
            text += f"{'' if number < 0 or text.endswith('l') else ' '}{number}"
        before = point
    return text + "z"


if __name__ == "__main__":
    main(*sys.argv[1:])
