"""Options that are gone, and what becomes of runs and evaluations that were started with them.

They were measured and gained nothing, or were never measured. docs/experiments.md has the figure of each and names the
last revision that has it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from nanoproof.common.errors import UserError

RETIRED: Mapping[str, Any] = {
    "search_prior": "softmax",
    "search_c_base_of_budget": 0.0,
    "search_normalize_values": False,
    "search_progressive_disagreement": 0.0,
    "search_root": "puct",
    "search_max_facts": None,
    "search_again_cost": 1.0,
    "search_path_normalization": 0.0,
    "search_and_in_order": False,
    "search_merge_states": "same-text",
    "search_reuse_proofs": False,
    "search_defer_repeats": False,
    "search_stop_value": None,
    "search_stop_after": 32,
    "search_finisher_where": "every",
    "search_finisher_value": 3.0,
    "search_finishers_first": False,
    "search_finisher_keep": "all",
    "hindsight_fraction": 0.0,
    "value_targets": "played",
    "value_only_fraction": 0.0,
    "conjectures": 0.0,
    "guide": False,
    "restart_from_sft_every": None,
    "value_unsolved_fraction": 0.0,
    "keep_unsolved_visits": 0,
    "value_unsolved_visits": 4,
    "value_unsolved_tactics": 16,
    "unsolved_buffer_window_size": 20_000,
    "prover_processes": 0,
    "engine_reuse_share": 0.25,
    "engine_kernels": "auto",
    "search_max_nodes": 200_000,
    "search_max_tree_mbytes": 1024,
    "search_disprove_value": -12.0,
    "search_disprove_visits": 8,
    "search_disprove_simulations": 8,
    "scalar_lr": 0.5,
    "momentum": 0.95,
    "momentum_warmup_steps": 0,
    "warmup_frac": 0.0,
    "final_lr_frac": 0.0,
    "max_grad_norm": 1.0,
    "retrieve": 0,
}
"""The name under which `args.json` and evaluations saved an option -> the value with which it did nothing, or what a
constant is in its place. Those that another command still has (pretraining `--momentum`) are gone from the others."""

RETIRED_CHOICES: Mapping[str, tuple[str, ...]] = {"search_algorithm": ("ao-star",), "continuations": ("conjecture",)}
"""Values that are gone, of options that are not."""

WITHOUT_EFFECT_ALONE = frozenset(
    {
        *("hindsight_buffer_window_size", "hindsight_subgoals", "hindsight_tactics"),
        *("conjecture_fraction", "conjecture_tries", "conjecture_simulations", "conjecture_window"),
        *("conjecture_tokens", "conjecture_temperature", "conjecture_batch", "conjecture_targets", "restart_updates"),
        *("timeline_minutes", "samples_per_step", "premises_fraction"),
    }
)
"""Retired options that only said how something was done that another one of `RETIRED` turned on, or what was recorded
for people to read: no result depends on them."""


def is_retired(name: str, value: Any) -> bool:
    """Tell whether a saved option did something that can be done no more."""
    # A file may have 1 where an option had 1.0, and equal is equal; True and 1 are no values of one option.
    return name in RETIRED and bool(value != RETIRED[name])


def is_retired_choice(name: str, value: Any) -> bool:
    """Tell whether a saved option had a value that it can have no more."""
    return isinstance(value, str) and value in RETIRED_CHOICES.get(name, ())


def without_retired(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return saved options without those that are gone and did nothing."""
    left = {}
    for name, value in saved.items():
        did_nothing = name in WITHOUT_EFFECT_ALONE or (name in RETIRED and not is_retired(name, value))
        if not did_nothing:
            left[name] = value
    return left


def refuse_retired(saved: Mapping[str, Any], origin: str) -> None:
    """Raise UserError that names the saved options which did what can be done no more; `origin` says whose they are."""
    _refuse(saved, is_retired, origin)


def refuse_retired_choices(saved: Mapping[str, Any], origin: str) -> None:
    """Raise UserError that names the saved options with values that are gone; `origin` says whose they are."""
    _refuse(saved, is_retired_choice, origin)


def _refuse(saved: Mapping[str, Any], is_gone: Callable[[str, Any], bool], origin: str) -> None:
    used = []
    for name, value in saved.items():
        if is_gone(name, value):
            flag = "--" + name.replace("_", "-")
            used.append(f"{flag} {value}")
    if used:
        raise UserError(
            f"{origin}: that run used {', '.join(used)}, which is no more; docs/experiments.md names the last revision "
            "that can go on with it, and a new run can start from its weights (--model-path)"
        )


def is_retired_flag(flag: str) -> bool:
    """Tell whether a flag, `--x` or `--no-x`, is one of an option that is gone."""
    name = flag.removeprefix("--").replace("-", "_")
    retired = RETIRED.keys() | WITHOUT_EFFECT_ALONE
    return name in retired or name.removeprefix("no_") in retired
