"""What a screen reader gets of a tab: Chromium's accessibility tree."""

from __future__ import annotations

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
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    def all(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.all()

    def find(self, *roles: str) -> list[Node]:
        return [node for node in self.all() if node.role in roles]

    def around(self, *roles: str) -> Node | None:
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

    def outline(self, depth: int = 0) -> str:
        states = "".join(f" {name}={value}" for name, value in self.states.items() if name in SHOWN_STATES and value not in (False, "false"))
        line = f"{'  ' * depth}{self.role} “{self.name}”{f' ({self.description})' if self.description else ''}{f' = {self.value}' if self.value else ''}{states}"
        return "\n".join([line, *(child.outline(depth + 1) for child in self.children)])


SHOWN_STATES = ["level", "checked", "pressed", "expanded", "hasPopup", "selected", "disabled", "modal", "live", "invalid", "required", "focused", "multiline", "readonly"]
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
