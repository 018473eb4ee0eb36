"""The rounds of an experiment of self-play: a folder for each, with counts as JSON (`python -m nanoproof.selfplay`)."""

from pathlib import Path

from nanoproof.monitor.record_schema import Round
from nanoproof.monitor.tail import as_counts, as_float, as_optional_int, file_stat, newest_change, read_object

SELFPLAY_FILE = "selfplay.json"
CONJECTURES_FILE = "conjectures.json"
MAX_ROUNDS = 1000
_JSON_BYTES = 1 << 20


def is_selfplay(path: Path) -> bool:
    """Tell whether a folder is an experiment of self-play."""
    return file_stat(path / SELFPLAY_FILE) is not None


def finished_rounds(path: Path) -> int:
    """Return how many rounds of an experiment have their metrics, from the first on."""
    number = 0
    while number < MAX_ROUNDS and file_stat(path / f"round{number}" / "metrics.json") is not None:
        number += 1
    return number


def last_heard(path: Path) -> float | None:
    """Return when a round of an experiment ended, or it began."""
    return newest_change([path / SELFPLAY_FILE, *path.glob("round*/metrics.json")])


def rounds(path: Path) -> list[Round]:
    """Return the rounds of an experiment of self-play that have begun, the first one first."""
    begun: list[Round] = []
    for number in range(MAX_ROUNDS):
        folder = path / f"round{number}"
        if not folder.is_dir() or folder.is_symlink():
            break
        metrics = read_object(folder / "metrics.json", _JSON_BYTES)
        tally = as_counts(read_object(folder / "sampler_ckpt" / CONJECTURES_FILE, _JSON_BYTES) or {})
        figures = metrics or {}  # by the names that the code of STP gives them (`selfplay/formulas.py`)
        begun.append(
            {
                "number": number,
                "over": metrics is not None,
                "proved_percent": as_float(figures.get("succ rate")),
                "proofs": as_optional_int(figures.get("RL_new/nr_examples_proof")),
                "lessons": as_optional_int(figures.get("RL_new/nr_examples_conjecture")),
                "length": as_float(figures.get("combined/average length")),
                "distinct_statements": as_float(figures.get("monitoring/unique_statement_ratio")),
                "proofs_each": as_float(figures.get("monitoring/average_unique_proofs")),
                "tally": {name: count for name, count in tally.items() if len(name) <= 100},
                "success_rates": as_counts(figures.get("success_rates")),
            }
        )
    return begun
