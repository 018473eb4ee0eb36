"""Options of what a run writes about itself."""

from dataclasses import dataclass

from nanoproof.common.config import opt, validate


@dataclass(frozen=True)
class RecordOptions:
    """Records."""

    keep_trees: int = opt(1000, "Search trees that each rank keeps, the newest ones (0: none).", min=0, advanced=True)
    timeline_minutes: float = opt(
        10.0,
        "Minutes, of the newest, for which it is kept what each actor and the model did when (0: none).",
        min=0,
        advanced=True,
    )
    samples_per_step: int = opt(
        4,
        "States of each rank in a step, and examples, that are shown with what the model made of them.",
        min=0,
        advanced=True,
    )

    def __post_init__(self) -> None:
        validate(self, "records")
