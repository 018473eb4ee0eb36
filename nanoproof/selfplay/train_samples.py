"""A few of the examples that are trained on, with the loss of each token, for the records of a run."""

import random
import time

import torch

from nanoproof.data.packing import Example
from nanoproof.gpt.model import GPT
from nanoproof.gpt.tokenizer import Tokenizer
from nanoproof.selfplay.mixing import Batch
from nanoproof.selfplay.records.recorder import Recorder
from nanoproof.training.options import BatchOptions
from nanoproof.training.token_losses import token_losses


def record_training(
    recorder: Recorder,
    model: GPT,
    tokenizer: Tokenizer,
    options: BatchOptions,
    batch: Batch,
    step: int,
) -> None:
    """Tell the recorder of some of the examples of an update, if it wants to know; before the weights change."""
    examples = batch.examples
    if not recorder.wants_training or not examples:
        return
    began = time.monotonic()
    count = min(recorder.samples_per_step, options.device_batch_size, len(examples))
    chosen = random.Random(step).sample(range(len(examples)), count)
    kinds = [_kind(examples[number], number < batch.num_sft) for number in chosen]
    try:
        losses = token_losses(model, tokenizer, [examples[number] for number in chosen], options)
    except torch.OutOfMemoryError:  # training has ways to do with less; this is not worth them
        recorder.trained([], float("inf"))
        return
    about = {"step": step, "time": round(time.time(), 3)}
    recorder.trained(
        [{**about, "kind": kind, **shown} for kind, shown in zip(kinds, losses, strict=True)], time.monotonic() - began
    )


def _kind(example: Example, sft: bool) -> str:
    if sft:
        return "sft"
    return "negative" if example.continuations[0].kind == "negative" else "replay"
