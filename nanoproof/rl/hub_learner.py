"""The learner of models of transformers (`hf:`), whole or with adapters, and the policy in its process.

An example is a prompt and its continuations, as for networks of ours: each continuation begins with the last token of
the prompt, where the answer's first token is predicted and the value is read; the second token of a value is the number
of tactics. Checkpoints are folders `checkpoint-<step>` that transformers or peft loads.
"""

import hashlib
import logging
import random
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from nanoproof.common.distributed import DistInfo, all_reduce_sum, on_all_ranks
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import is_foreign, resolve_run_dir
from nanoproof.data.transitions.packing import Continuation, Example
from nanoproof.inference.hf_model import HFModel, Loaded
from nanoproof.inference.model_options import HFOptions
from nanoproof.inference.value_head import VALUE_FILE
from nanoproof.lean.types import Transition
from nanoproof.policy.tactic_policy import PolicyLoad
from nanoproof.policy.text_policy import TextPolicy
from nanoproof.rl.endpoint_policy import EndpointPolicy, ServedWeights
from nanoproof.rl.learner import BEST, PolicyLearner, RLState, TrainedPolicy, is_hub_run
from nanoproof.rl.options import RLConfig
from nanoproof.training.hub_examples import TokenizedExample, answer_logits, choose_format, depth_of, encode_transition
from nanoproof.training.hub_loss import by_tokens, example_loss, normalizers
from nanoproof.training.hub_network import HubNetwork, last_checkpoint, prune_folders, read_about, source_of
from nanoproof.training.loss import LossWeights, token_unlikelihood
from nanoproof.training.options import ComputeOptions
from nanoproof.training.setup import PREFIX
from nanoproof.training.step import MicroBatches

log = logging.getLogger(__name__)


def trains_hub_model(config: RLConfig) -> bool:
    """Tell whether a run trains a model of transformers: `--model-path` or the run to resume says so.

    Raises UserError for an endpoint, whose weights nobody here can train.
    """
    if config.start.resume_from is not None:
        return is_hub_run(resolve_run_dir(config.start.resume_from, "--resume-from"))
    spec = config.start.checkpoint.model_path
    if not is_foreign(spec):
        return False
    assert spec is not None
    if not spec.startswith(PREFIX):
        raise UserError(
            "--model-path openai:...: the weights of an endpoint cannot be trained from here; give hf:FOLDER, the "
            "model that it serves, and --policy-endpoint"
        )
    return True


class HubPolicy(TextPolicy):
    """The policy of a model that is trained in this process: its weights are there once, and change during pauses."""

    model: HFModel

    def pause(self, release: bool = False) -> None:
        """Begin nothing more; returns when nothing is computed."""
        self.model.pause()

    def resume(self) -> None:
        """Go on, with the network's present weights."""
        self.model.resume()

    def renew(self) -> None:
        """Do nothing: the weights that answer are those that are trained."""

    def load(self) -> PolicyLoad:
        """Report the batches so far, and the states that wait."""
        stats = self.stats
        return PolicyLoad(stats.steps, stats.busy_seconds, 0, 0, self.num_open)

    def close(self, drain_seconds: float = 0.0) -> None:
        """End; who waits is answered, the next one gets PolicyClosed."""
        super().close(drain_seconds)
        self.model.close()


class HubLearner(PolicyLearner):
    """Trains a model of transformers: that of `--model-path`, or of the last checkpoint of `--resume-from`."""

    memory_advice = "a single example does not fit: try --lora, --model-load-4bit, or a smaller --row-length"

    def __init__(self, config: RLConfig, dist: DistInfo, stage_name: str) -> None:
        """Load the network. Raises UserError if it cannot be loaded, or trained this way."""
        self.stage_name = stage_name  # type: ignore[misc]
        self._config = config
        _refuse_options_of_ours(config)
        if config.hub.shard:  # ranks meet in each forward pass: none may begin anew with half as many rows
            self.memory_advice = "try a smaller --device-batch-size or --row-length"  # type: ignore[misc]
        state, folder, spec = RLState(), None, config.start.checkpoint.model_path
        if config.start.resume_from is not None:
            run_path = resolve_run_dir(config.start.resume_from, "--resume-from")
            folder = last_checkpoint(run_path)
            state, spec = _state_of(folder, stage_name), f"{PREFIX}{folder}"
        super().__init__(config.start, config.optim, dist, state)
        assert spec is not None
        self.network = HubNetwork(
            source_of(spec),
            spec,
            config.lora,
            config.run.seed,
            dist.device,
            choose=choose_format,
            prompt_format=config.hub.prompt_format,
            learns_values=config.batch.value_weight > 0,
            how=_how_to_load(config, dist.device),
            sharded=config.hub.shard,
        )
        if self.network.encoder_decoder:
            raise UserError(f"--model-path {spec} is an encoder-decoder: reinforcement learning takes decoders")
        positions, longest_tactic = self.network.positions, config.hub.model_tactic_tokens
        if positions is not None and longest_tactic >= positions:
            raise UserError(
                f"--model-tactic-tokens {longest_tactic} leaves no room for states: {spec} has {positions} positions"
            )
        self.model, self.tokenizer = self.network.model, self.network.tokenizer
        self.longest = min(config.batch.row_length, self.network.positions or config.batch.row_length)
        self.longest_tactic = longest_tactic
        lr = config.hub.model_lr
        if config.lora.lora is not None:
            lr = config.lora.lora_lr
        self.network.make_optimizer(lr, config.lora.lora_lr, weight_decay=config.optim.weight_decay)
        self._weights = LossWeights(config.batch.value_weight, config.rl.unlikelihood_weight)
        self._micro_batches = MicroBatches(config.batch.device_batch_size)
        self._reader: HFModel | None = None
        """What reads values while the network trains: it waits while an update is made."""
        if folder is not None:
            self.saved_step = state.step
            self.take_best(folder.parent / BEST)
            if not config.start.resume_fresh_optimizer:
                self.network.load_optimizer(folder)

    def decisions(self) -> dict[str, str]:
        """Describe the network, its adapters, prompts and value head, for the log."""
        return self.network.decisions(self._config.lora)

    def compute_with(self, options: ComputeOptions) -> dict[str, str]:
        """Do nothing: transformers chooses how it computes."""
        return {}

    # -- examples ------------------------------------------------------------------------------------------------------

    def encode(
        self,
        transitions: Sequence[Transition],
        depth_weights: Sequence[float] | None = None,
        negative: bool = False,
    ) -> list[Example | None]:
        """Make examples in the model's prompt format, its chat template included."""
        network = self.network
        examples: list[Example | None] = []
        for item in transitions:
            prompt, answer = encode_transition(item, network.format, network.codec, network.end)
            # Left out and not cut: a search that meets such a state sees its end, but learns nothing wrong.
            if not prompt or len(prompt) + len(answer) > self.longest:
                examples.append(None)
                continue
            # The prompt's last token begins both continuations: what is predicted there is their first target.
            last, depth = prompt[-1], depth_of(item)
            continuations = [Continuation([last, *answer], "negative" if negative else "tactic")]
            if not negative:
                weight = 1.0
                if depth_weights is not None:
                    weight = depth_weights[depth - 1]
                continuations.append(Continuation([last, depth], "value", weight))
            examples.append(Example(prompt[:-1], continuations))
        return examples

    def update(self, examples: Sequence[Example], progress: float) -> dict[str, float]:
        """Make one optimizer step. Losses are means over the examples of all ranks; gradients add up over batches and
        ranks."""
        if self._reader is None:
            return self._update(examples, progress)
        # Else a value would be of weights half updated, and of a network with dropout.
        self._reader.pause()
        try:
            return self._update(examples, progress)
        finally:
            self._reader.resume()

    def _update(self, examples: Sequence[Example], progress: float) -> dict[str, float]:
        config = self._config
        tokenized = [tokenized_example(example) for example in examples]
        norms = normalizers(tokenized)
        names = self._weights.part_names()
        seed = random.Random(f"{config.run.seed} {self.network.steps_done} {self.dist.rank}").getrandbits(63)
        # Dropout is for training alone; the same network answers actors between updates.
        self.model.train()

        # Called again from its beginning where memory runs out: gradients start from zero, and dropout is the same.
        def accumulate(rows: int) -> list[float]:
            torch.manual_seed(seed)
            self.network.zero_grad()
            sums = torch.zeros(1 + len(names), device=self.dist.device)
            for batch in self.network.in_step(list(by_tokens(tokenized, rows * config.batch.row_length))):
                with self._autocast():
                    loss, parts = self._loss(batch, norms)
                loss.backward()
                sums += torch.stack([loss.detach(), *(parts[name] for name in names)])
            return sums.tolist()

        loss, *values = all_reduce_sum(self.network.accumulate(self._micro_batches, accumulate))
        # Every rank has the same gradients after this, and so makes the same step: weights never travel.
        factor = self.lr_factor_at(progress)
        norm = self.network.update(loss, factor, config.optim.max_grad_norm)
        self.model.eval()
        return {"loss": loss, **dict(zip(names, values)), "grad_norm": norm, "lr_factor": factor}

    def _loss(self, batch: Sequence[TokenizedExample], norms: Any) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        network = self.network
        return example_loss(self.model, network.head, batch, self._weights, norms, network.pad, network.begin)

    def _autocast(self) -> AbstractContextManager[Any]:
        if self.dist.device.type != "cuda":
            return nullcontext()
        return torch.autocast("cuda", torch.bfloat16)

    @torch.no_grad()
    def tactic_logprobs(self, examples: Sequence[Example]) -> list[float]:
        """Score the tactics of examples by the present weights, in smaller pieces where memory is short (nats)."""
        self.network.reader.eval()
        tokenized = [tokenized_example(example) for example in examples]

        def compute(rows: int) -> list[float]:
            logprobs: dict[int, float] = {}
            for batch in by_tokens(tokenized, rows * self._config.batch.row_length):
                for example, losses in zip(batch, self._answer_losses(batch), strict=True):
                    logprobs[id(example)] = -sum(losses)
            return [logprobs[id(example)] for example in tokenized]

        return self._micro_batches.run(compute)

    def _answer_losses(self, batch: Sequence[TokenizedExample]) -> list[list[float]]:
        """Return -log p of the tokens of each answer."""
        with self._autocast():
            outputs = answer_logits(self.network.reader, batch, self.network.pad, self.network.begin)
        nll_N = F.cross_entropy(outputs.logits_NV, outputs.targets_N, reduction="none")
        losses: list[list[float]] = [[] for _ in batch]
        for row, value in zip(outputs.rows_N.tolist(), nll_N.tolist()):
            losses[row].append(value)
        return losses

    @torch.no_grad()
    def token_losses(self, examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return what training makes of examples, token by token; of failed tactics the unlikelihood."""
        self.network.reader.eval()
        shown = []
        for example in map(tokenized_example, examples):
            losses = self._answer_losses([example])[0]
            if example.negative:
                losses = token_unlikelihood(torch.tensor(losses)).tolist()
            tokens = [*example.prompt.tolist(), *example.answer.tolist()]
            padded = [*([None] * len(example.prompt)), *(round(loss, 4) for loss in losses)]
            mean = None
            if losses:
                mean = round(sum(losses) / len(losses), 4)
            shown.append({"tokens": self.tokenizer.convert_ids_to_tokens(tokens), "losses": padded, "loss": mean})
        return shown

    # -- the policy ----------------------------------------------------------------------------------------------------

    def make_policy(self, run_path: Path) -> TrainedPolicy:
        """Open the policy over the network itself: adapters change in place, and no weights are there twice. With
        `--policy-endpoint` samples come from there, and values from the network itself (a collective)."""
        network, hub = self.network, self._config.hub
        # Its name is that of the model that training began with: a checkpoint has another one at each step.
        how = network.format
        loaded = Loaded(network.reader, self.tokenizer, network.source, network.head)
        model = HFModel(network.source, chat=how.chat, system=how.system, loaded=loaded)
        sampling = hub.sampling(self._config.sampling)
        if not hub.policy_endpoint:
            return HubPolicy(model, how, sampling)
        served = ServedWeights(self._config, self.network, self.dist, run_path, self.state.step)
        policy = EndpointPolicy(served, model, how, sampling)
        if self._config.rl.asynchronous:
            self._reader = model
        return policy

    # -- checkpoints ---------------------------------------------------------------------------------------------------

    def write_checkpoint(self, run_path: Path, keep: int | None, protect: Collection[int] = ()) -> Path:
        """Save a checkpoint and prune all but the newest `keep` and those of the steps `protect` (a collective)."""
        self.saved_step = self.state.step
        folder = run_path / f"checkpoint-{self.state.step}"
        about = {"step": self.state.step, "stage": self.stage_name, "loop": asdict(self.state)}

        gathered = self.network.gather(self.dist.is_main)

        def write() -> None:
            if self.dist.is_main:
                self.network.write(folder, about, gathered)
                prune_folders(run_path, keep, protect)

        on_all_ranks(write)
        return folder

    def keep_checkpoints(self) -> int | None:
        """Return how many checkpoints are kept."""
        return self._config.triggers.keep_checkpoints

    def weights_digest(self, run_path: Path) -> str:
        """Hash the files of weights of the present step's checkpoint: of adapters, these alone."""
        digest = hashlib.sha256()
        folder = run_path / f"checkpoint-{self.state.step}"
        for file in sorted([*folder.glob("*.safetensors"), *folder.glob(VALUE_FILE)]):
            digest.update(f"{file.name} ".encode() + file.read_bytes())
        return digest.hexdigest()

    def evaluation_settings(self) -> dict[str, Any] | None:
        """Return how evaluations ask the model, as `prover_eval` records it."""
        return {"prompt_format": self.network.format.name, "tactic_tokens": self._config.hub.model_tactic_tokens}

    def parameters(self) -> Iterable[torch.Tensor]:
        """Yield the parameters of the network and of its value head."""
        yield from self.network.reader.parameters()
        if self.network.head is not None:
            yield from self.network.head.parameters()


def _refuse_options_of_ours(config: RLConfig) -> None:
    """Raise UserError for options that models of transformers do not heed."""
    wrong = {
        "--asynchronous": config.rl.asynchronous and not config.hub.policy_endpoint,
        "--inference-gpus": config.rl.inference_gpus > 0,
        "--cluster": config.cluster.cluster is not None,
    }
    for flag, given in wrong.items():
        # Refused and not passed over: who asks for them expects attempts while the network trains.
        if given:
            raise UserError(
                f"{flag} is for networks of ours: a model hf: has its weights once, and answers while it does not "
                "train; with --policy-endpoint servers answer, also with --asynchronous"
            )
    if config.hub.policy_endpoint and config.lora.lora is None and config.hub.policy_restart is None:
        raise UserError(
            "--policy-endpoint without --lora: servers load adapters while they run, and no whole models; give --lora, "
            "or --policy-restart COMMAND"
        )


def _how_to_load(config: RLConfig, device: torch.device) -> HFOptions | None:
    """Choose how weights are loaded that stay as they are: on a GPU in the type that their files have."""
    if config.hub.model_load_4bit and config.hub.shard:
        raise UserError("give either --model-load-4bit or --shard: packed weights of 4 bits are not divided over ranks")
    if device.type != "cuda" or config.lora.lora is None:
        if config.hub.model_load_4bit:
            raise UserError("--model-load-4bit needs a GPU, and --lora: weights of 4 bits cannot be trained themselves")
        return None
    # They get no updates that bf16 could lose, and as fp32 would take twice the memory.
    return HFOptions(dtype="bfloat16", load_4bit=config.hub.model_load_4bit)


def _state_of(folder: Path, stage_name: str) -> RLState:
    about = read_about(folder)
    if about.get("stage") != stage_name:
        raise UserError(f"--resume-from {folder.parent} is a run of {about.get('stage')}, not of {stage_name}")
    try:
        return RLState(**about["loop"])
    except (KeyError, TypeError) as error:
        raise UserError(f"--resume-from {folder.parent}: {folder.name} does not say where the loop was") from error


def tokenized_example(example: Example) -> TokenizedExample:
    """Return an example of prompt and continuations as one of prompt and answer."""
    prompt = np.array([*example.prefix, example.continuations[0].tokens[0]], np.int32)
    answer: list[int] = []
    depth, weight, value_weight, negative = 0, 1.0, 1.0, False
    for item in example.continuations:
        if item.kind == "value":
            depth, value_weight = item.tokens[1], item.weight
        else:
            answer, weight, negative = item.tokens[1:], item.weight, item.kind == "negative"
    return TokenizedExample(prompt, np.array(answer, np.int32), weight, negative, depth, value_weight)
