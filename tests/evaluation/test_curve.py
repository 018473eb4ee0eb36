"""The picture of an evaluation."""

import gc

import pytest

from nanoproof.evaluation.summary import plot_curve


@pytest.mark.nightly
def test_a_drawn_curve_leaves_no_figure_in_memory(tmp_path):
    summary = {"dataset": "d", "split": "valid", "solved": 2, "total": 4, "solved_at": {"1": 1, "2": 2, "4": 2}}
    plot_curve(summary, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "Figure" not in {type(thing).__name__ for thing in gc.get_objects()}
