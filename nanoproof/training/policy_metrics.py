"""Metrics of policy and value over held-out transitions: accuracy, perplexity, entropy, calibration.

Tactics are judged over what can be sampled (text tokens and EOS), values over the bins; the losses are those of
training, over the whole vocabulary. Sums are added over all ranks before anything is divided, so the result does not
depend on how many ranks there are.

A greedy decoder writes the reference tactic exactly if the most likely token is the right one at each position,
EOS included, given the right ones before. So exact matches are counted in the same forward pass as everything else, and
equal what decoding one token after the other would give.

Shapes: N positions at which something is to be predicted, M values among them, V vocabulary, K value bins.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from nanoproof.common.distributed import DistInfo, all_reduce_sum
from nanoproof.data.transitions.packing import KIND_CODES, PackedBatch, to_device
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import NUM_VALUE_BINS, Tokenizer
from nanoproof.training.batches import ExampleSet, Pick, pack_for, shard, split_for
from nanoproof.training.loss import position_losses
from nanoproof.training.options import BatchOptions

PACKED_AT_ONCE = 1024
TOTALS = (
    *("transitions", "tactic_tokens", "tactic_nll", "token_hits", "first_hits", "exact", "first_entropy"),
    *("value_nll", "square_argmax", "square_expectation", "value_entropy"),
)
BY_DEPTH = ("count", "predicted", "square", "absolute", "count_here", "predicted_here", "true_here")


@dataclass(frozen=True)
class DepthRow:
    """Values for transitions of one depth, and how right the model is where it predicts this depth.

    `count` transitions have the depth; on them `mean_predicted` is the mean expected value, `mean_error` that minus the
    depth, `mean_absolute_error` and `mse` the means of its absolute and squared distance from the depth. On
    `num_predicted` transitions the expected value rounds to the depth; there it is `mean_value` on average, and the
    truth `mean_depth`.
    """

    depth: int
    count: int
    mean_predicted: float
    mean_error: float
    mean_absolute_error: float
    mse: float
    num_predicted: int
    mean_value: float
    mean_depth: float


@dataclass(frozen=True)
class PolicyMetrics:
    """Means over transitions (`tactic_loss` and `tactic_token_accuracy`: over tactic tokens). Entropies are in nats.

    `value_calibration_error` is the expected calibration error in tactics. Let v_i be the value of transition i (the
    mean of its distribution over 1 to 64 tactics still needed), d_i its true depth, and B_k the transitions whose v_i
    rounds to k (halves to even). Then it is

        ECE = sum over k of |B_k| / n * |mean of v over B_k - mean of d over B_k|

    It is 0 if the states to which the model gives a value are on average that far from a proof, however much they
    differ. The definition is that of Naeini, Cooper and Hauskrecht 2015, *Obtaining well calibrated probabilities using
    Bayesian binning*, with numbers of tactics in place of probabilities.
    """

    transitions: int
    tactic_loss: float
    tactic_perplexity: float
    tactic_token_accuracy: float
    tactic_first_token_accuracy: float
    tactic_exact_match: float
    tactic_first_token_entropy: float
    value_loss: float
    value_mse_argmax: float
    value_mse_expectation: float
    value_entropy: float
    value_calibration_error: float
    depths: tuple[DepthRow, ...]

    def scalars(self) -> dict[str, float]:
        """Return all metrics but the table by depth."""
        return {name: float(value) for name, value in vars(self).items() if name != "depths"}

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {**asdict(self), "depths": [asdict(row) for row in self.depths]}


def never() -> bool:
    """Return False: nobody asks to stop."""
    return False


@torch.no_grad()
def policy_metrics(
    model: GPT,
    tokenizer: Tokenizer,
    transitions: ExampleSet,
    batch: BatchOptions,
    dist: DistInfo,
    stopped: Callable[[], bool] = never,
) -> PolicyMetrics | None:
    """Compute the metrics of the model on all the transitions; all ranks call it together, each works on its share.

    `stopped` is asked now and then, by all ranks together; None is returned once it is true, and without transitions.
    """
    model.eval()
    sums = _Sums()
    # The same rounds on all ranks, which are asked together whether to stop.
    at_once = PACKED_AT_ONCE * dist.world_size
    for start in range(0, len(transitions), at_once):
        if stopped():
            return None
        picks = [Pick(0, index) for index in range(start, min(start + at_once, len(transitions)))]
        examples = transitions.examples(list(shard(picks, dist)))
        for rows in split_for(model, pack_for(model, examples, batch, tokenizer.pad), batch):
            chosen_N, micro_batch = to_device(rows.chosen(), dist.device), rows.to(dist.device)
            logits_NV = model(micro_batch.tokens, micro_batch.layout(model.config.prefix_lm, rows), chosen_N)
            sums.add_tactics(logits_NV, micro_batch, chosen_N, tokenizer)
            sums.add_values(logits_NV, micro_batch, chosen_N, tokenizer)
    return sums.metrics()


def entropy(logits: torch.Tensor) -> torch.Tensor:
    """Compute the entropy in nats of the distributions over the last dimension."""
    logprobs = logits.log_softmax(dim=-1)
    return -(logprobs.exp() * logprobs).sum(dim=-1)


class _Sums:
    """Sums over the transitions of this rank, in double precision."""

    def __init__(self) -> None:
        self.totals = dict.fromkeys(TOTALS, 0.0)
        self.by_depth = {name: np.zeros(NUM_VALUE_BINS) for name in BY_DEPTH}

    def add_tactics(
        self, logits_NV: torch.Tensor, batch: PackedBatch, chosen_N: torch.Tensor, tokenizer: Tokenizer
    ) -> None:
        """Add the sums over the tactics of a batch; `logits_NV` are those at the positions `chosen_N`."""
        of_tactics_N = batch.kinds.flatten()[chosen_N] == KIND_CODES["tactic"]
        logits_NV, chosen_N = logits_NV[of_tactics_N], chosen_N[of_tactics_N]
        targets_N = batch.targets.flatten()[chosen_N]
        sampled_NV = logits_NV[:, : tokenizer.eos + 1]
        hits_N = sampled_NV.argmax(dim=-1) == targets_N
        # The first token of a tactic is predicted at the marker, which is read there.
        tokens_N = batch.tokens.flatten()[chosen_N]
        is_first_N = (tokens_N == tokenizer.tactic) | (tokens_N == tokenizer.proof) | (tokens_N == tokenizer.conjecture)
        _, sequence_N = batch.sequences.flatten()[chosen_N].unique(return_inverse=True)
        misses_S = torch.bincount(sequence_N, weights=(~hits_N).float())
        self._add(
            transitions=is_first_N.sum(),
            tactic_tokens=len(targets_N),
            tactic_nll=position_losses(logits_NV, targets_N, batch.kinds.flatten()[chosen_N], "sum"),
            token_hits=hits_N.sum(),
            first_hits=(hits_N & is_first_N).sum(),
            exact=(misses_S == 0).sum(),
            first_entropy=entropy(sampled_NV[is_first_N]).sum(),
        )

    def add_values(
        self, logits_NV: torch.Tensor, batch: PackedBatch, chosen_N: torch.Tensor, tokenizer: Tokenizer
    ) -> None:
        """Add the sums over the values of a batch; `logits_NV` are those at the positions `chosen_N`."""
        of_values_N = batch.kinds.flatten()[chosen_N] == KIND_CODES["value"]
        logits_MV, chosen_M = logits_NV[of_values_N], chosen_N[of_values_N]
        targets_M = batch.targets.flatten()[chosen_M]
        bins_MK = logits_MV[:, tokenizer.bins[0] : tokenizer.bins[-1] + 1]
        depths_K = torch.arange(1, NUM_VALUE_BINS + 1, device=bins_MK.device)
        expected = (bins_MK.softmax(dim=-1) * depths_K).sum(dim=-1).cpu().double().numpy()
        likeliest = bins_MK.argmax(dim=-1).cpu().numpy() + 1
        truth = (targets_M - tokenizer.bins[0]).cpu().numpy() + 1
        self._add(
            value_nll=position_losses(logits_MV, targets_M, batch.kinds.flatten()[chosen_M], "sum"),
            square_argmax=np.square(likeliest - truth).sum(),
            square_expectation=np.square(expected - truth).sum(),
            value_entropy=entropy(bins_MK).sum(),
        )
        # By their true depth, and by the depth that is predicted, for the calibration.
        predicted = np.clip(np.rint(expected), 1, NUM_VALUE_BINS).astype(np.int64)
        self._add_by_depth("count", truth, None)
        self._add_by_depth("predicted", truth, expected)
        self._add_by_depth("square", truth, np.square(expected - truth))
        self._add_by_depth("absolute", truth, np.abs(expected - truth))
        self._add_by_depth("count_here", predicted, None)
        self._add_by_depth("predicted_here", predicted, expected)
        self._add_by_depth("true_here", predicted, truth)

    def _add_by_depth(self, name: str, depths: np.ndarray, values: np.ndarray | None) -> None:
        """Add values to the sums of their depths (from 1 on); without values, 1 for each."""
        self.by_depth[name] += np.bincount(depths - 1, weights=values, minlength=NUM_VALUE_BINS)

    def _add(self, **values: float | torch.Tensor | np.ndarray) -> None:
        for name, value in values.items():
            self.totals[name] += float(value)

    def metrics(self) -> PolicyMetrics | None:
        """Compute the means over all ranks (a collective); None if there were no transitions."""
        flat = list(self.totals.values())
        for sums in self.by_depth.values():
            flat += sums.tolist()
        summed = all_reduce_sum(flat)  # in one call: each waits for the slowest rank
        totals = dict(zip(TOTALS, summed))
        tables = np.array(summed[len(TOTALS) :]).reshape(len(BY_DEPTH), NUM_VALUE_BINS)
        count, tokens = totals["transitions"], totals["tactic_tokens"]
        if count == 0:
            return None
        by_depth = dict(zip(BY_DEPTH, tables))
        misplaced = np.abs(by_depth["predicted_here"] - by_depth["true_here"]).sum()
        return PolicyMetrics(
            transitions=int(count),
            tactic_loss=totals["tactic_nll"] / tokens,
            tactic_perplexity=float(np.exp(totals["tactic_nll"] / tokens)),
            tactic_token_accuracy=totals["token_hits"] / tokens,
            tactic_first_token_accuracy=totals["first_hits"] / count,
            tactic_exact_match=totals["exact"] / count,
            tactic_first_token_entropy=totals["first_entropy"] / count,
            value_loss=totals["value_nll"] / count,
            value_mse_argmax=totals["square_argmax"] / count,
            value_mse_expectation=totals["square_expectation"] / count,
            value_entropy=totals["value_entropy"] / count,
            value_calibration_error=float(misplaced / count),
            depths=tuple(_depth_rows(by_depth)),
        )


def _depth_rows(sums: dict[str, np.ndarray]) -> Iterator[DepthRow]:
    """Yield a row for each depth that occurs or is predicted; means of nothing are 0."""
    for index in np.flatnonzero(sums["count"] + sums["count_here"]):
        at_depth = {name: float(values[index]) for name, values in sums.items()}
        depth = int(index) + 1
        count, count_here = max(at_depth["count"], 1.0), max(at_depth["count_here"], 1.0)
        yield DepthRow(
            depth=depth,
            count=int(at_depth["count"]),
            mean_predicted=at_depth["predicted"] / count,
            mean_error=(at_depth["predicted"] - at_depth["count"] * depth) / count,
            mean_absolute_error=at_depth["absolute"] / count,
            mse=at_depth["square"] / count,
            num_predicted=int(at_depth["count_here"]),
            mean_value=at_depth["predicted_here"] / count_here,
            mean_depth=at_depth["true_here"] / count_here,
        )
