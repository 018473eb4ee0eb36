"""The former command that ran actors on a machine of their own; it names its successor."""

from collections.abc import Sequence

from nanoproof.common.errors import UserError, run_main


def main(argv: Sequence[str] | None = None) -> int:
    """Raise UserError that names the successor, whatever the flags."""
    raise UserError(
        "there are no prover servers to start: python -m nanoproof.rl --lean-servers HOST:PORT ... runs an actor for "
        "every Lean process itself, under torchrun on several machines (docs/scaling.md)"
    )


if __name__ == "__main__":
    run_main(main)
