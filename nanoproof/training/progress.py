"""Training of models of the steps remaining (LeanProgress): rows from proofs, and regression with transformers.

A row is `{goal, prefix, tactic, steps_remaining}`: how many tactics the longest path of a proof has after this one, so
that the last one has 0; the prefix holds the tactics before it, one a line. The model is an encoder with one number on
top, trained by mean squared error; the epoch with the smallest error on the held-out rows is kept.
"""

import hashlib
import logging
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nanoproof.common.errors import UserError
from nanoproof.common.files import (
    atomic_write_json,
    atomic_write_text,
    json_line,
    lone_surrogate,
    parse_json,
    read_object,
)
from nanoproof.data.transitions import leandojo, leantree
from nanoproof.inference.hf_loading import (
    first_line,
    load_tokenizer,
    load_weights,
    load_whole_settings,
    loading,
    transformers_library,
)
from nanoproof.lean.types import Transition
from nanoproof.policy.policy_options import MODEL_VARIABLE
from nanoproof.policy.steps_remaining import local_or_id, progress_text, room_of
from nanoproof.training.named_data import transitions_path
from nanoproof.training.options import SCRATCH, ProgressSettings

log = logging.getLogger(__name__)

SCRATCH_VOCABULARY, SCRATCH_WIDTH, SCRATCH_LAYERS = 2048, 128, 4
EPOCHS_FOLDER, SUMMARY, SETTINGS = "epochs", "progress.json", "settings.json"
MOST_STEPS = 1e9
SAMPLE_ROWS = (
    {"goal": "p q : Prop\nh : p ∧ q\n⊢ q ∧ p", "prefix": "intro h", "tactic": "constructor", "steps_remaining": 1},
    {"goal": "n : Nat\n⊢ n + 0 = n", "prefix": "", "tactic": "rfl", "steps_remaining": 0},
    {"goal": "a b : Nat\n⊢ a * b = b * a", "prefix": "intro a b", "tactic": "sorry", "steps_remaining": 12},
)
"""Three rows that show the format, `sorry` among them: it is text like any other here."""


@dataclass(frozen=True)
class ProgressRow:
    """A candidate tactic for a goal, after earlier tactics, and the number of tactics after it."""

    goal: str
    prefix: str
    tactic: str
    steps_remaining: float

    @property
    def text(self) -> str:
        """What the model reads."""
        return progress_text(self.goal, self.tactic, self.prefix)


def read_rows(path: Path) -> tuple[list[ProgressRow], int]:
    """Read the rows of a JSONL file; returns them, and how many lines have no goal, tactic or number.

    Raises UserError for a file that cannot be read, a line that is no JSON, or without any row.
    """
    rows: list[ProgressRow] = []
    skipped, number = 0, 0
    try:
        for line in path.read_bytes().split(b"\n"):
            number += 1
            if not line.strip():
                continue
            row = _row(parse_json(line))
            if row is None:
                skipped += 1
            else:
                rows.append(row)
    except OSError as error:
        raise UserError(f"--dataset {path}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"--dataset {path}, line {number}: not JSON: {first_line(error)}") from error
    if not rows:
        raise UserError(f"--dataset {path} has no row with goal, tactic and steps_remaining")
    return rows, skipped


def _row(record: Any) -> ProgressRow | None:
    if not isinstance(record, dict):
        return None
    goal, prefix, tactic = record.get("goal"), record.get("prefix"), record.get("tactic")
    steps = record.get("steps_remaining")
    if not isinstance(goal, str) or not isinstance(tactic, str) or not goal.strip() or not tactic.strip():
        return None
    if not isinstance(prefix, str):
        prefix = ""
    # A bool is an int in Python. `not abs(steps) < MOST_STEPS` is true for NaN, where `>=` is not.
    if isinstance(steps, bool) or not isinstance(steps, int | float) or not abs(steps) < MOST_STEPS:
        return None
    if lone_surrogate(record) is not None:
        return None
    return ProgressRow(goal.strip(), prefix.strip(), tactic.strip(), steps)


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as JSONL, whole or not at all; the folder is made. Raises UserError where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_text(path, "".join(json_line(row) for row in rows))
    except OSError as error:
        raise UserError(f"--output {path}: {error.strerror}") from error


def rows_from_traces(data: str, valid: bool = False, prefix: bool = True) -> list[dict[str, Any]]:
    """Make rows from proofs: `nanolean`, `leantree`, `repo:NAME`, LeanTree JSONL, or a folder as LeanDojo exports.

    `valid` takes the proofs that are held out there. Raises UserError where there is nothing.
    """
    folder = Path(data).expanduser()
    steps: Iterator[tuple[Transition, tuple[str, ...]]]
    if leandojo.is_export(folder):
        steps = leandojo.read_steps_after(folder, valid)
    else:
        steps = leantree.read_steps_after(transitions_path(data), valid)
    rows = []
    for step, tactics_before in steps:
        text = ""
        if prefix:
            text = "\n".join(tactics_before)
        # A depth counts the tactic itself, what remains after it does not.
        row = {"goal": step.state, "prefix": text, "tactic": step.tactic, "steps_remaining": step.depth - 1}
        rows.append(row)
    if not rows and valid:
        raise UserError(f"--data {data} holds no proofs to validate")
    if not rows:
        raise UserError(f"--data {data} holds no proofs to train on")
    return rows


# -- Training --------------------------------------------------------------------------------------------------------


def split_rows(count: int, ratio: float, seed: int) -> tuple[list[int], list[int]]:
    """Split the numbers of rows into those to train on and those held out, ceil(ratio * count) of them."""
    held_out = math.ceil(round(ratio * count, 9))  # 0.07 * 100 is 7.000000000000001
    if held_out >= count:
        raise UserError(f"--eval-ratio {ratio:g} of {count} rows leaves none to train on")
    order = np.random.default_rng(seed).permutation(count).tolist()
    return order[held_out:], order[:held_out]


def scratch_model(library: Any, texts: Sequence[str], settings: ProgressSettings) -> tuple[Any, Any]:
    """Make a small encoder with fresh weights, and a byte-level BPE tokenizer of the texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SCRATCH_VOCABULARY,
        special_tokens=["[PAD]", "[CLS]"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    # BERT's classification head reads the first token.
    bpe.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 1)])
    tokenizer = library.PreTrainedTokenizerFast(tokenizer_object=bpe, pad_token="[PAD]", cls_token="[CLS]")
    torch.manual_seed(settings.seed)
    config = library.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=SCRATCH_WIDTH,
        intermediate_size=4 * SCRATCH_WIDTH,
        num_hidden_layers=SCRATCH_LAYERS,
        num_attention_heads=4,
        max_position_embeddings=settings.max_length,
        pad_token_id=0,
        num_labels=1,
        problem_type="regression",
    )
    return library.BertForSequenceClassification(config), tokenizer


def load_start(library: Any, texts: Sequence[str], settings: ProgressSettings) -> tuple[Any, Any]:
    """Load the model to start from, with one number on top, and its tokenizer. Raises UserError where there is none."""
    if settings.model_name == SCRATCH:
        return scratch_model(library, texts, settings)
    source = local_or_id(settings.model_name)
    torch.manual_seed(settings.seed)
    name = f"--model-name {settings.model_name}"
    with loading(name, folder=source):
        load_whole_settings(library, source)
        kind = library.AutoModelForSequenceClassification
        model = load_weights(kind, source, "fresh", name, num_labels=1, problem_type="regression")
        tokenizer = load_tokenizer(library, source, name)
    # Decoders often have none. Their number is read at the last token before the padding: no text ends with this one.
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.pad_token_id is None:
        raise UserError(f"--model-name {settings.model_name}: its tokenizer has no token that pads or ends a text")
    model.config.pad_token_id = tokenizer.pad_token_id
    return model, tokenizer


class _Rows(torch.utils.data.Dataset[dict[str, Any]]):
    """Tokenized rows with their numbers."""

    def __init__(self, tokenizer: Any, rows: Sequence[ProgressRow], max_length: int) -> None:
        texts = [row.text for row in rows]
        self._tokens = tokenizer(texts, truncation=True, max_length=max_length)["input_ids"]
        self._labels = [float(row.steps_remaining) for row in rows]

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: int) -> dict[str, Any]:
        tokens = self._tokens[index]
        return {"input_ids": tokens, "attention_mask": [1] * len(tokens), "labels": self._labels[index]}


def errors_of(predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Compute the mean squared and the mean absolute error."""
    difference = np.asarray(predictions, np.float64).reshape(-1) - np.asarray(labels, np.float64)
    return {"mse": float((difference**2).mean()), "mae": float(np.abs(difference).mean())}


def train_progress(data: Path, output: Path, settings: ProgressSettings, use_cpu: bool = False) -> dict[str, Any]:
    """Train on the rows of a file, and write model, tokenizer and `progress.json` to a folder.

    Returns the errors of the kept epoch on the held-out rows, beside those of always saying the mean of the training
    rows. A call with the same settings goes on after the last epoch of one that was killed. Raises UserError for rows
    and models that cannot be used, and where the folder cannot be written.
    """
    library = transformers_library()
    rows, skipped = read_rows(data)
    train_numbers, held_out_numbers = split_rows(len(rows), settings.eval_ratio, settings.seed)
    train = [rows[number] for number in train_numbers]
    held_out = [rows[number] for number in held_out_numbers]
    model, tokenizer = load_start(library, [row.text for row in train], settings)
    tokenizer.truncation_side = "left"  # goal's target and tactic are at the end
    tokenizer.model_max_length = room_of(model, tokenizer, settings.max_length)
    train_set = _Rows(tokenizer, train, tokenizer.model_max_length)
    held_out_set = _Rows(tokenizer, held_out, tokenizer.model_max_length)
    epochs = output / EPOCHS_FOLDER
    try:
        resumed = _begun(epochs, {**vars(settings), "rows": _digest(rows)})
        trainer = library.Trainer(
            model=model,
            args=_arguments(library, epochs, settings, use_cpu),
            train_dataset=train_set,
            eval_dataset=held_out_set,
            data_collator=library.DataCollatorWithPadding(tokenizer),
            compute_metrics=lambda result: errors_of(result.predictions, result.label_ids),
            preprocess_logits_for_metrics=lambda outputs, labels: outputs[0] if isinstance(outputs, tuple) else outputs,
        )
        checkpoint: str | None = None
        if resumed:
            checkpoint = str(resumed)
        trainer.train(resume_from_checkpoint=checkpoint)
        mean = sum(row.steps_remaining for row in train) / len(train)
        labels = np.array([row.steps_remaining for row in held_out], np.float64)
        errors = trainer.evaluate()  # of the best epoch, which is loaded at the end
        if not math.isfinite(errors["eval_mse"]):
            raise UserError(f"the output is not finite: try a smaller --learning-rate ({settings.learning_rate:g})")
        baseline = errors_of(np.full(len(labels), mean), labels)
        epoch_errors = [round(record["eval_mse"], 6) for record in trainer.state.log_history if "eval_mse" in record]
        summary = {
            "mse": errors["eval_mse"],
            "mae": errors["eval_mae"],
            "mean_mse": baseline["mse"],
            "mean_mae": baseline["mae"],
            "epochs": epoch_errors[:-1],  # the last is that of `trainer.evaluate()` above
            "rows": {"train": len(train), "held_out": len(held_out), "skipped": skipped},
        }
        trainer.save_model(str(output))
        tokenizer.save_pretrained(output)
        atomic_write_json(output / SUMMARY, summary)
        shutil.rmtree(epochs, ignore_errors=True)
    except OSError as error:
        raise UserError(f"--output-dir {output} cannot be written: {error.strerror or first_line(error)}") from error
    log.info("to use it in search: --progress-model %s, or %s=%s", output, MODEL_VARIABLE, output)
    return summary


def _arguments(library: Any, epochs: Path, settings: ProgressSettings, use_cpu: bool) -> Any:
    return library.TrainingArguments(
        output_dir=str(epochs),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=max(8, settings.batch_size),
        learning_rate=settings.learning_rate,
        weight_decay=0.01,
        lr_scheduler_type="linear",
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model="mse",
        greater_is_better=False,
        seed=settings.seed,
        report_to="none",
        use_cpu=use_cpu,
        disable_tqdm=True,
    )


def _begun(epochs: Path, settings: dict[str, Any]) -> Path | None:
    """Return the last whole epoch of a call with the same settings; what others left is removed."""
    steps = [int(folder.name.rpartition("-")[2]) for folder in epochs.glob("checkpoint-*") if folder.is_dir()]
    if steps and read_object(epochs / SETTINGS) == settings:
        return epochs / f"checkpoint-{max(steps)}"
    shutil.rmtree(epochs, ignore_errors=True)
    epochs.mkdir(parents=True)
    atomic_write_json(epochs / SETTINGS, settings)
    return None


def _digest(rows: Sequence[ProgressRow]) -> str:
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()[:16]
