"""What a screen reader gets of a tab: Chromium's accessibility tree."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .tab import Tab


@dataclass
class Node:
    role: str
    name: str
    states: dict[str, Any]
    description: str = ""
    value: str = ""
    element: int | None = None
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)

    def all(self) -> Iterator["Node"]:
        yield self
        for child in self.children:
            yield from child.all()

    def find(self, *roles: str) -> list["Node"]:
        return [node for node in self.all() if node.role in roles]

    def around(self, *roles: str) -> "Node | None":
        """What it is in."""
        node = self.parent
        while node and node.role not in roles:
            node = node.parent
        return node

    def text(self) -> str:
        """What is read of it and of all that is in it."""
        return " ".join(node.name for node in self.all() if node.role == "StaticText").strip()

    def __str__(self) -> str:
        return f"{self.role} “{self.name}”"


# Boxes that say nothing.
WITHOUT_MEANING = {"none", "generic", "LineBreak"}


def tree_of(tab: Tab) -> Node:
    """The tree without what is ignored or means nothing: the children of such a node are its parent's."""
    session = tab.context.new_cdp_session(tab.page)
    try:
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    finally:
        session.detach()
    by_id = {node["nodeId"]: node for node in nodes}

    def children_of(raw: dict[str, Any]) -> Iterator[Node]:
        for child in raw.get("childIds", []):
            # A text's lines say nothing else than the text.
            if child in by_id and by_id[child]["role"]["value"] != "InlineTextBox":
                yield from made(by_id[child])

    def made(raw: dict[str, Any]) -> Iterator[Node]:
        role = raw.get("role", {}).get("value", "")
        live = any(one["name"] == "live" for one in raw.get("properties", []))
        if raw.get("ignored") or (role in WITHOUT_MEANING and not live and not raw.get("name", {}).get("value")):
            yield from children_of(raw)
            return
        node = Node(
            role,
            " ".join(str(raw.get("name", {}).get("value", "")).split()),
            {one["name"]: one["value"].get("value") for one in raw.get("properties", [])},
            raw.get("description", {}).get("value", ""),
            str(raw.get("value", {}).get("value", "")),
            raw.get("backendDOMNodeId"),
        )
        node.children = list(children_of(raw))
        for child in node.children:
            child.parent = node
        yield node

    return next(made(nodes[0]))


CONTROLS = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "menuitem", "menuitemradio", "option", "switch", "slider", "spinbutton", "ColorWell", "Date", "DisclosureTriangle"}
IMAGES = {"image", "img", "Canvas", "graphics-document", "SvgRoot"}
# What one hears before what is in it, if it has a name.
GROUPS = {"Date", "region", "search", "navigation", "dialog", "group", "form", "figure", "table", "list", "listbox", "combobox", "menu", "main"}
# Each of them does the same, wherever it stands.
SAME_EFFECT = re.compile("^Show only links with the tag ")


def group_of(node: Node) -> Node | None:
    """A row of a table is named by its first cell, but one of a list isn't."""
    group = node.parent
    while group and not (group.role == "row" or (group.role in GROUPS and group.name)):
        group = group.parent
    return group


def wrong_names(tree: Node) -> list[str]:
    wrong = []
    effects: dict[tuple[int, str, str], list[Any]] = defaultdict(list)
    for node in tree.all():
        if node.role in CONTROLS | IMAGES | {"table", "dialog", "menu", "heading", "columnheader", "region", "listbox"} and not node.name:
            wrong.append(f"a {node.role} in {node.parent} has no name")
        if node.role in CONTROLS and not SAME_EFFECT.match(node.name):
            # A description says what it is about, too.
            effects[id(group_of(node)), node.role, f"{node.name} {node.description}".strip()].append(node.states.get("url", node.element))
    wrong += [f"{role} “{name}” does {len(set(does))} things" for (_, role, name), does in effects.items() if len(set(does)) > 1]
    wrong += [f"{table} has no headers" for table in tree.find("table") if not table.find("columnheader")]
    wrong += [f"{list_} has nothing but {child}" for list_ in tree.find("listbox") for child in list_.children if child.role not in ("option", "group")]
    return wrong


def wrong_page(tree: Node, is_framed: bool = True) -> list[str]:
    """What is framed has the rail, and a way to skip it."""
    wrong = wrong_names(tree)
    headings = [node for node in tree.find("heading") if node.states.get("level") == 1]
    if len(headings) != 1:
        wrong.append(f"{len(headings)} headings of the page: {[str(node) for node in headings]}")
    for role, count in {"main": 1, "navigation": int(is_framed), "banner": int(is_framed)}.items():
        if len(tree.find(role)) != count:
            wrong.append(f"{len(tree.find(role))} {role}")
    if not (main := tree.find("main")) or headings and headings[0].around("main") is not main[0]:
        wrong.append("the heading isn't in what is the page's own")
    # What happens is said here, so it has to be there before.
    regions = [node for node in tree.find("status") if node.states.get("live") == "polite" and not node.text()]
    if not regions:
        wrong.append("nothing waits to say what happens")
    if is_framed and [link.name for link in tree.find("link")[:1]] != ["Skip to content"]:
        wrong.append("the first link doesn't skip to the content")
    if is_framed and not tree.name.endswith("· Linklet"):
        wrong.append(f"its title is “{tree.name}”")
    return wrong
