"""Steps remaining: rows from proofs, and a regression model that orders tactics in search.

python -m nanoproof.progress sample-data --output sample.jsonl
python -m nanoproof.progress from-traces --data nanolean --output rows.jsonl
python -m nanoproof.progress train --dataset rows.jsonl --output-dir progress --model-name bert-base-uncased
python -m scripts.prove FILE.lean --model-path sft/RUN --progress-model progress
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import run_main
from nanoproof.training.options import ProgressSettings


def make_parser() -> Parser:
    """Return the parser of the commands."""
    parser = Parser(prog="python -m nanoproof.progress", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sample = commands.add_parser("sample-data", help="Write three rows that show the format.")
    traces = commands.add_parser("from-traces", help="Write the rows of proofs.")
    traces.add_argument(
        "--data",
        required=True,
        help="`nanolean`, `leantree`, `repo:NAME`, a file of LeanTree JSONL, or a folder as LeanDojo exports.",
    )
    traces.add_argument("--split", choices=("train", "valid"), default="train", help="Which proofs (default: train).")
    traces.add_argument(
        "--no-prefix", action="store_true", help="Leave earlier tactics out: searches do not tell them either."
    )
    for command in (sample, traces):
        command.add_argument("--output", required=True, metavar="PATH", help="The JSONL to write.")
    train = commands.add_parser("train", help="Train a model.")
    train.add_argument("--dataset", required=True, metavar="PATH", help="JSONL of rows.")
    train.add_argument("--output-dir", required=True, metavar="DIR", help="Folder for model and tokenizer.")
    train.add_argument("--device-type", default="", help="cuda or cpu; empty for the best there is.")
    add_flags(train, ProgressSettings)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Write rows, or train."""
    args = make_parser().parse_args(argv)
    from nanoproof.training import progress  # imports torch: after the options, which may be mistyped

    if args.command == "train":
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
        output = Path(args.output_dir).expanduser()
        settings = from_args(ProgressSettings, args)
        found = progress.train_progress(Path(args.dataset).expanduser(), output, settings, args.device_type == "cpu")
        print(f"held-out error: mse {found['mse']:.4f}, mae {found['mae']:.4f}")
        print(f"of saying the mean: mse {found['mean_mse']:.4f}, mae {found['mean_mae']:.4f}")
        print(f"written to {output}; to use it: export LEANPROGRESS_MODEL={output}")
        return 0
    output = Path(args.output).expanduser()
    rows: Sequence[dict[str, Any]] = progress.SAMPLE_ROWS
    if args.command == "from-traces":
        rows = progress.rows_from_traces(args.data, args.split == "valid", not args.no_prefix)
    progress.write_rows(output, rows)
    print(f"{len(rows)} rows written to {output}")
    return 0


if __name__ == "__main__":
    run_main(main)
