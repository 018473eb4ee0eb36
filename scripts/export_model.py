"""Write a checkpoint's network as safetensors, for other programs to read.

python -m scripts.export_model --model-path sft/RUN --output-dir my_model
python -m scripts.export_model --model-path sft/RUN/model_1000.pt --dtype bfloat16
python -m scripts.export_model --model-path sft/LORA_RUN --merge --output-dir merged

Three files come side by side: `model.safetensors` (weights by parameter name), `config.json` (size and shape of the
network, and the step and stage that the weights are from) and `tokenizer.json` (for the library `tokenizers`). Adapters
are merged into their base. With `--merge` a checkpoint is written instead, a plain one that needs no base.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nanoproof.common.torch_command import run_main

import safetensors.torch

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, to_dict, validate
from nanoproof.common.distributed import DTYPES
from nanoproof.common.files import atomic_write, atomic_write_json
from nanoproof.common.option_groups import CheckpointOption
from nanoproof.common.run_dir import resolve_model_path
from nanoproof.model.checkpoint import find_checkpoint, load_model, save_checkpoint
from nanoproof.model.tokenizer import TOKENIZER_FILE

WEIGHTS_FILE = "model.safetensors"
CONFIG_FILE = "config.json"


@dataclass(frozen=True)
class ExportOptions:
    """Export."""

    checkpoint: CheckpointOption = group(
        CheckpointOption, model_path=change(help="Checkpoint to export: a file, or a run directory for its latest.")
    )
    output_dir: str | None = opt(None, "Where to write; default <checkpoint dir>/export_<step>.")
    dtype: Literal["float32", "bfloat16", "float16"] = opt("float32", "Number format of the weights.")

    merge: bool = opt(
        False,
        "Write a plain checkpoint, adapters merged into their base; default directory <checkpoint dir>/merged_<step>.",
    )

    def __post_init__(self) -> None:
        validate(self, "export")
        check(self.checkpoint.model_path is not None, "give --model-path, the checkpoint to export")


def export(checkpoint: Path, directory: Path, dtype: str) -> None:
    """Write the three files of a checkpoint to a directory. Raises UserError if it is no checkpoint."""
    model, tokenizer, manifest = load_model(checkpoint)
    weights = {name: tensor.to(DTYPES[dtype]) for name, tensor in model.state_dict().items()}
    tokenizer.save(directory / TOKENIZER_FILE)
    atomic_write(directory / WEIGHTS_FILE, lambda file: file.write(safetensors.torch.save(weights, {"format": "pt"})))
    origin = {"step": manifest["step"], "stage": manifest["extra"].get("stage")}
    config = {"architecture": "nanoproof", "dtype": dtype, **origin, "config": to_dict(model.config)}
    atomic_write_json(directory / CONFIG_FILE, config)


def write_merged(checkpoint: Path, directory: Path) -> Path:
    """Write a checkpoint as a plain one: adapters are merged into their base, and no base is needed any more."""
    model, tokenizer, manifest = load_model(checkpoint)
    return save_checkpoint(directory, manifest["step"], model, tokenizer, extra=manifest["extra"])


def main(argv: list[str] | None = None) -> int:
    """Write the model's files."""
    parser = Parser(prog="python -m scripts.export_model", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, ExportOptions)
    options = from_args(ExportOptions, parser.parse_args(argv))
    checkpoint = find_checkpoint(resolve_model_path(options.checkpoint.model_path or ""))
    step = checkpoint.stem.removeprefix("model_")
    if options.merge:
        directory = Path(options.output_dir) if options.output_dir else checkpoint.parent / f"merged_{step}"
        directory.mkdir(parents=True, exist_ok=True)
        print(f"{write_merged(checkpoint, directory)}: a plain checkpoint")
        return 0
    directory = Path(options.output_dir) if options.output_dir else checkpoint.parent / f"export_{step}"
    export(checkpoint, directory, options.dtype)
    size = (directory / WEIGHTS_FILE).stat().st_size
    print(f"{directory}: {WEIGHTS_FILE} ({size / 1e6:.1f} MB, {options.dtype}), {CONFIG_FILE}, {TOKENIZER_FILE}")
    return 0


if __name__ == "__main__":
    run_main(main)
