"""`python -m nanoproof.prover_server`, which ran actors on a machine of their own, says what runs them now."""

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
