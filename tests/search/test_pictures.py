"""Trees for the eye: the page for a browser and the SVG of the documentation."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.search import render
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node, walk
from nanoproof.search.render import SearchView, tree_page, tree_picture
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_to_json
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.helpers import page_data

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


def view(root: Node, title: str = "t") -> SearchView:
    return SearchView(title, "facts", "proven", tree_to_json(root))


def test_the_page_holds_the_whole_tree_of_every_search(found: tuple[Node, SearchLog]) -> None:
    data = page_data(tree_page([view(found[0]), view(found[0], "another")]))
    assert data["kind"] == "trees" and [one["title"] for one in data["searches"]] == ["t", "another"]
    tree = data["searches"][1]["tree"]
    assert tree == json.loads(json.dumps(tree_to_json(found[0])))
    assert tree["tactics"][tree["refused"]["0"][0]] == "no" and len(tree["ends"]) == found[1].counts.simulations


def test_nothing_in_a_tree_ends_the_pages_script(found: tuple[Node, SearchLog]) -> None:
    plain = tree_page([view(found[0])])
    page = tree_page([view(found[0], "</title></script><script>alert(1)</script>")])
    assert page.count("<script") == plain.count("<script") and page.count("</title>") == 1
    assert page_data(page)["searches"][0]["title"].startswith("</title>")


def test_the_page_needs_no_network_and_is_small(found: tuple[Node, SearchLog]) -> None:
    page = tree_page([view(found[0])])
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", page) and "<style>" in page
    assert len(page) < 400_000


def test_a_page_that_was_not_built_is_a_clear_error(
    found: tuple[Node, SearchLog], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "PAGE", tmp_path)
    with pytest.raises(UserError, match="npm run build"):
        tree_page([view(found[0])])


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
