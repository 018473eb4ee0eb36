"""Trees for the eye: the page for a browser and the SVG of the documentation."""

import json
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node, walk
from nanoproof.search.render import SearchView, tree_page, tree_picture
from nanoproof.search.search import search
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion

SCRIPT = {
    "a < b": {"split": ["B", "C"], "long way": ["D"], "no": "reject"},
    "B": {"exact </script>": []},
    "C": {"exact c": []},
    "D": {"exact d": [], "exact dd": ["E"]},
}


@pytest.fixture
def found() -> tuple[Node, SearchLog]:
    """A search that went on until three simulations were used or the root was solved."""
    root, log = or_node(branch("a < b")), SearchLog()
    policy = ScriptedPolicy({state: [suggestion(list(tactics))] for state, tactics in SCRIPT.items()})
    search(root, policy, ScriptedLean(SCRIPT), SearchConfig(), 20, log)
    assert root.solved
    return root, log


def data_of(page: str) -> list[dict[str, Any]]:
    match = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    searches: list[dict[str, Any]] = json.loads(match[1])
    return searches


def test_the_page_holds_every_node_below_its_parent(found: tuple[Node, SearchLog]) -> None:
    root, log = found
    (shown,) = data_of(tree_page([SearchView("t", "facts", root, list(log.failed_tactics))]))
    nodes = list(walk(root))
    assert [(n["tactic"], n["visits"], n["solved"]) for n in shown["nodes"]] == [
        (node.tactic, node.visits, node.solved) for node in nodes
    ]
    assert all(n["parent"] < i for i, n in enumerate(shown["nodes"]))
    assert shown["failed"][shown["nodes"][0]["state"]] == ["no"]


def test_the_page_marks_one_proof(found: tuple[Node, SearchLog]) -> None:
    (shown,) = data_of(tree_page([SearchView("t", "facts", found[0])]))
    nodes = shown["nodes"]
    solved = [i for i, n in enumerate(nodes) if n["solved"] and n["kind"] == "or"]
    for i in solved:
        assert sum(n.get("best", False) for n in nodes if n["parent"] == i) == 1


def test_nothing_in_a_tree_ends_the_pages_script(found: tuple[Node, SearchLog]) -> None:
    page = tree_page([SearchView("</script><script>alert(1)</script>", "", found[0])])
    assert page.count("</script>") == 2 and data_of(page)[0]["title"].startswith("</script>")


def test_the_page_needs_no_network(found: tuple[Node, SearchLog]) -> None:
    page = tree_page([SearchView("t", "", found[0])])
    addresses = set(re.findall(r"https?://[^\"'\s]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"} and "src=" not in page and "<link" not in page


def test_the_picture_is_an_svg_with_a_box_for_every_node(found: tuple[Node, SearchLog]) -> None:
    root, _ = found
    svg = ElementTree.fromstring(tree_picture(root))
    name = "{http://www.w3.org/2000/svg}"
    nodes = list(walk(root))
    boxes = svg.findall(f"{name}g")
    assert len(boxes) == len(nodes) and len(svg.findall(f"{name}path")) == len(nodes) - 1
    assert len([g for g in boxes if "✓" in "".join(g.itertext())]) == sum(node.solved for node in nodes)
    places = {g.get("transform") for g in boxes}
    assert len(places) == len(nodes)
