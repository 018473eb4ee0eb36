"""The former command that downloaded the texts of pretraining; it names its successor."""

from collections.abc import Sequence

from nanoproof.common.errors import UserError, run_main


def main(argv: Sequence[str] | None = None) -> int:
    """Raise UserError that names the successor, whatever the flags."""
    raise UserError(
        "python -m nanoproof.dataset has become python -m nanoproof.data.download nemotron, and its -n N is --shards N"
    )


if __name__ == "__main__":
    run_main(main)
