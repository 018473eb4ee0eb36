"""The notebook docs/tour.ipynb: its commands have such flags, and its cells run, but for training and plotting."""

import ast
import json
from pathlib import Path
from typing import Any

from scripts.check_flags import check_command

NOTEBOOK = json.loads(Path(__file__).parents[1].joinpath("docs/tour.ipynb").read_text(encoding="utf-8"))
CELLS = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_a_theorem_is_proved_and_its_tree_is_drawn(capsys) -> None:
    names: dict[str, Any] = {}
    for cell in CELLS[:3]:
        exec(compile(cell, "tour.ipynb", "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith("proven after") and "cases h" in printed and "✓" in printed
    assert names["tree_picture"](names["tree"]).startswith("<svg")


def test_all_commands_can_be_given() -> None:
    commands = []
    for node in ast.walk(ast.parse("\n".join(CELLS))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "run":
            commands.append("python -m " + ast.literal_eval(node.args[0]))
    assert len(commands) == 4
    for command in commands:
        check_command(command)


def test_it_is_kept_without_outputs() -> None:
    assert [cell.get("outputs") for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"] == [[]] * len(CELLS)
