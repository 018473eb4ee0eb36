"""Copy the scores of a quickstart into README.md, between its markers, with the picture of its learning curve.

python -m scripts.readme_figures quickstart        # a folder that scripts.quickstart wrote
"""

import argparse
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_text, read_json, read_text
from nanoproof.common.run_dir import REPO_ROOT, resolve_run_dir
from scripts.quickstart_report import STAGES

BEGIN, END = "<!-- quickstart: begin -->", "<!-- quickstart: end -->"
PICTURE = Path("docs") / "images" / "learning_curve.png"


def figures(summary: Mapping[str, Any], date: str) -> str:
    """Return the lines between the markers: the picture, and a table of what each stage solved."""
    sets = list(next(iter(summary["stages"].values())))
    lines = [f"![What a quickstart learns]({PICTURE.as_posix()})", ""]
    lines += [f"| solved of the test theorems | {' | '.join(f'`{name}`' for name in sets)} |", "|---|---|---|"]
    for stage, scores in summary["stages"].items():
        cells = []
        for name in sets:
            score = scores[name]
            interval = f"{100 * score['low']:.0f} to {100 * score['high']:.0f}%"
            cells.append(f"{score['solved']} of {score['total']} ({interval})")
        lines.append(f"| {STAGES[stage]} | {' | '.join(cells)} |")
    minutes = summary["seconds"]["total"] / 60
    revision = summary["versions"].get("nanoproof", "")[:8]
    lines += ["", f"*A quickstart, seed {summary['seed']}, {date} ({revision}), {minutes:.0f} minutes on two cores.*"]
    return "\n".join(lines)


def with_figures(text: str, block: str) -> str:
    """Return a page with the block in place of what is between its markers. Raises UserError if it has none."""
    before, begin, block_and_after = text.partition(BEGIN)
    _, end, after = block_and_after.partition(END)
    if not begin or not end:
        raise UserError(f"README.md has no {BEGIN} .. {END}")
    return f"{before}{BEGIN}\n{block}\n{END}{after}"


def main(argv: list[str] | None = None) -> int:
    """Rewrite README.md."""
    parser = Parser(prog="python -m scripts.readme_figures", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", help="What scripts.quickstart wrote.")
    args: argparse.Namespace = parser.parse_args(argv)
    folder = resolve_run_dir(args.folder, "folder")
    file = folder / "summary.json"
    if not file.is_file():
        raise UserError(f"{file} is not there: the quickstart did not end")
    # The day it was measured on, and not the one on which somebody copies it.
    date = time.strftime("%Y-%m-%d", time.localtime(file.stat().st_mtime))
    page = REPO_ROOT / "README.md"
    atomic_write_text(page, with_figures(read_text(page), figures(read_json(file), date)))
    shutil.copyfile(folder / "learning_curve.png", REPO_ROOT / PICTURE)
    print(f"written: {page}, {REPO_ROOT / PICTURE}")
    return 0


if __name__ == "__main__":
    run_main(main)
