"""Write a checkpoint's network as safetensors, for other programs to read, or as a folder for the hub.

python -m scripts.export_model --model-path sft/RUN --output-dir my_model
python -m scripts.export_model --model-path sft/RUN/model_1000.pt --dtype bfloat16
python -m scripts.export_model --model-path rl/RUN --to-hf my_model --evaluations rl/RUN/eval_9_nanolean --license mit
python -m scripts.export_model --model-path rl/RUN --push OWNER/NAME --private
python -m scripts.export_model --model-path sft/LORA_RUN --merge --output-dir merged

Three files come side by side: `model.safetensors` (weights by parameter name), `config.json` (size and shape of the
network, the step and stage that the weights are from, and the SHA-256 of the files) and `tokenizer.json` (for the
library `tokenizers`). With `--to-hf` or `--push` there are also `tokenizer_config.json` and a model card, `README.md`.
Either folder is opened again by `--model-path hf:FOLDER`, a pushed one by `--model-path hf:OWNER/NAME`. Adapters are
merged into their base. With `--merge` a checkpoint is written instead, a plain one that needs no base.
"""

from pathlib import Path
from typing import Any, Literal

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, to_dict, validated
from nanoproof.common.errors import run_main
from nanoproof.common.files import (
    atomic_write,
    atomic_write_json,
    atomic_write_text,
    file_sha256,
    read_json,
    sync_directory,
)
from nanoproof.common.hub import push_folder
from nanoproof.common.option_groups import CheckpointOption
from nanoproof.common.run_dir import HUB_CONFIG, HUB_MODEL_TYPE, resolve_model_path
from nanoproof.evaluation.model_card import Score, model_card, read_score
from nanoproof.model.checkpoint_files import find_checkpoint, weights_sha256
from nanoproof.model.tokenizer import MARKERS, TOKENIZER_FILE, Tokenizer

WEIGHTS_FILE = "model.safetensors"
CARD_FILE, TOKENIZER_CONFIG_FILE = "README.md", "tokenizer_config.json"


@validated("export")
class ExportOptions:
    """Export."""

    checkpoint: CheckpointOption = group(
        CheckpointOption, model_path=change(help="Checkpoint to export: a file, or a run directory for its latest.")
    )
    output_dir: str | None = opt(None, "Where to write; default <checkpoint dir>/export_<step>.")
    to_hf: str | None = opt(None, "Where to write a folder for the hub, with a model card.", metavar="DIR")
    push: str | None = opt(None, "Repository of the hub to push the folder to, with a card.", metavar="OWNER/NAME")
    private: bool = opt(False, "A repository that --push makes is for its owner alone.")
    evaluations: tuple[str, ...] = opt(
        (), "Directories of evaluations of these weights, whose scores go on the card.", metavar="DIR"
    )
    license: str = opt("unknown", "Licence of the weights, by the hub's name for it (mit, apache-2.0 ...).")
    dtype: Literal["float32", "bfloat16", "float16"] = opt("float32", "Number format of the weights.")
    merge: bool = opt(
        False,
        "Write a plain checkpoint, adapters merged into their base; default directory <checkpoint dir>/merged_<step>.",
    )

    def __post_init__(self) -> None:
        check(self.checkpoint.model_path is not None, "give --model-path, the checkpoint to export")
        check(self.to_hf is None or self.output_dir is None, "--to-hf and --output-dir both say where: give one")
        check(not (self.merge and self.to_hf), "--merge writes a checkpoint, --to-hf a folder for the hub: give one")
        check(self.with_card or not self.evaluations, "--evaluations are for the card of --to-hf or --push")
        check(
            not (self.merge and self.push),
            "--merge writes a checkpoint, which is not for the hub: leave out --push",
        )
        check(not self.private or self.push is not None, "--private is for --push")

    @property
    def with_card(self) -> bool:
        """Whether the folder is for the hub."""
        return self.to_hf is not None or self.push is not None


def export(checkpoint: Path, directory: Path, dtype: str) -> dict[str, Any]:
    """Write the three files of a checkpoint to a directory; returns the configuration.

    It is written last, when the other files are on the disk. Raises UserError if there is no checkpoint.
    """
    import safetensors.torch  # what imports torch comes after the options, which may be mistyped
    import torch

    from nanoproof.model.checkpoint import load_model

    model, tokenizer, manifest = load_model(checkpoint)
    # Of an earlier export: its sums would not be those of the weights that are written now.
    (directory / HUB_CONFIG).unlink(missing_ok=True)
    weights = {name: tensor.to(getattr(torch, dtype)) for name, tensor in model.state_dict().items()}
    save_tokenizer(tokenizer, directory, model.config.sequence_len)
    atomic_write(directory / WEIGHTS_FILE, lambda file: file.write(safetensors.torch.save(weights, {"format": "pt"})))
    sync_directory(directory)
    stage = manifest["extra"].get("stage")
    config = {
        "model_type": HUB_MODEL_TYPE,
        "architecture": "nanoproof",
        "dtype": dtype,
        "step": manifest["step"],
        "stage": stage,
        "num_parameters": model.num_parameters(),
        "config": to_dict(model.config),
        "weights": WEIGHTS_FILE,
        "tokenizer": TOKENIZER_FILE,
        "extra": {"stage": stage},
        "sha256": {name: file_sha256(directory / name) for name in (WEIGHTS_FILE, TOKENIZER_FILE)},
    }
    atomic_write_json(directory / HUB_CONFIG, config)
    return config


DECODER = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
"""How the library `tokenizers` turns tokens into text again; encoding does not depend on it."""


def save_tokenizer(tokenizer: Tokenizer, directory: Path, sequence_len: int) -> None:
    """Write a tokenizer for other programs: with how tokens become text again, and with its configuration."""
    tokenizer.save(directory / TOKENIZER_FILE)
    atomic_write_json(directory / TOKENIZER_FILE, {**read_json(directory / TOKENIZER_FILE), "decoder": DECODER})
    write_tokenizer_config(tokenizer, sequence_len, directory)


def write_tokenizer_config(tokenizer: Tokenizer, sequence_len: int, directory: Path) -> None:
    """Write what transformers' AutoTokenizer reads: the markers by their numbers, of which a text never has one."""
    flags = {"special": True, "normalized": False, "lstrip": False, "rstrip": False, "single_word": False}
    markers = {}
    for place, name in enumerate(MARKERS):
        markers[str(tokenizer.num_text_tokens + place)] = {"content": name, **flags}
    content = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokenizer.describe(tokenizer.bos),
        "eos_token": tokenizer.describe(tokenizer.eos),
        "pad_token": tokenizer.describe(tokenizer.pad),
        "model_max_length": sequence_len,
        "clean_up_tokenization_spaces": False,  # it would drop the space in `n .succ`, which Lean reads otherwise
        "added_tokens_decoder": markers,
    }
    atomic_write_json(directory / TOKENIZER_CONFIG_FILE, content)


def write_merged(checkpoint: Path, directory: Path) -> Path:
    """Write a checkpoint as a plain one: adapters are merged into their base, and no base is needed any more."""
    from nanoproof.model.checkpoint import load_model, save_checkpoint

    model, tokenizer, manifest = load_model(checkpoint)
    return save_checkpoint(directory, manifest["step"], model, tokenizer, extra=manifest["extra"])


def main(argv: list[str] | None = None) -> int:
    """Write the model's files."""
    parser = Parser(prog="python -m scripts.export_model", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, ExportOptions)
    options = from_args(ExportOptions, parser.parse_args(argv))
    checkpoint = find_checkpoint(resolve_model_path(options.checkpoint.model_path or ""))
    # Before anything is written: scores of other weights are refused.
    scores: list[Score] = []
    for folder in options.evaluations:
        scores.append(read_score(Path(folder).expanduser(), weights_sha256(checkpoint)))
    chosen = options.to_hf or options.output_dir
    step = checkpoint.stem.removeprefix("model_")
    if options.merge:
        directory = Path(chosen or checkpoint.parent / f"merged_{step}").expanduser()
        directory.mkdir(parents=True, exist_ok=True)
        print(f"{write_merged(checkpoint, directory)}: a plain checkpoint")
        return 0
    directory = Path(chosen or checkpoint.parent / f"export_{step}").expanduser()
    config = export(checkpoint, directory, options.dtype)
    files = [HUB_CONFIG, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE]
    pushed = [WEIGHTS_FILE, *files, CARD_FILE]
    if options.with_card:
        title = directory.resolve().name
        if options.push is not None:
            title = options.push.partition("/")[2] or options.push
        card = model_card(title, config, scores, options.license)
        atomic_write_text(directory / CARD_FILE, card)
        noun = "evaluations"
        if len(scores) == 1:
            noun = "evaluation"
        files.append(f"{CARD_FILE} ({len(scores)} {noun})")
    size = (directory / WEIGHTS_FILE).stat().st_size
    print(f"{directory}: {WEIGHTS_FILE} ({size / 1e6:.1f} MB, {options.dtype}), {', '.join(files)}")
    if options.push is not None:
        message = f"nanoproof: {config['stage'] or 'network'}, step {config['step']}"
        commit = push_folder(options.push, directory, pushed, "model", options.private, message)
        print(f"pushed to {options.push}: --model-path hf:{options.push}@{commit[:12]}")
    elif options.to_hf is not None:
        print("to publish it: --push OWNER/NAME")
    return 0


if __name__ == "__main__":
    run_main(main)
