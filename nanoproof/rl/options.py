"""All options of reinforcement learning: the flags of its command line, and one object that holds their values.

Nothing here needs torch, which is slow to import.
"""

import argparse
import os
import sys
from dataclasses import dataclass, replace
from typing import Any, Self

from nanoproof.actors.fleet import EARLIER_FLAGS, EARLIER_FLAGS_OF_CLUSTERS, FleetOptions
from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, preset_values, validated
from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import MonitorAddress, PolicyEndpointOptions
from nanoproof.data.theorems.theorem_sets import FIXED, parse_set_names
from nanoproof.inference.model_options import EngineLimits
from nanoproof.lean.solvers import AUTO
from nanoproof.model.network_options import LoraOptions
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.prover import ProverOptions
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.rl.matchmaker import MatchmakerConfig
from nanoproof.rl.recorder import RecordOptions
from nanoproof.search.config import NOT_FLAGS, SearchConfig, SolverOption
from nanoproof.training import options
from nanoproof.training.setup import parse_resumable


class EvalStart(argparse.Action):
    """`--eval-start` (before the first step), `--eval-start 100steps`, `--no-eval-start`."""

    def __init__(self, option_strings: list[str], dest: str, **declared: Any) -> None:
        super().__init__(option_strings, dest, nargs="?", **declared)

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        if option_string == "--no-eval-start":
            if values is not None:
                parser.error(f"argument --no-eval-start takes no value, got {values}")
            values = "never"
        if values is not None and values.isdigit():  # steps, as users know it
            values = f"{values}steps" if int(values) else None
        setattr(namespace, self.dest, values or "now")


@validated("rl")
class RLOptions:
    """Reinforcement learning."""

    load_buffer: str | None = opt(
        None, "Run directory whose attempts fill buffers and matchmaker at the start.", advanced=True
    )
    datasets: tuple[str, ...] = opt(
        (AUTO,),
        "Data sets or files of theorems to prove (space- or comma-separated); auto: leanworkbook, numinamath and "
        "deepseek_prover if --lean-servers run real Lean, else nanolean.",
    )
    start_states: str | None = opt(
        None,
        "Begin attempts also inside of reference proofs, near their ends first: `nanolean-hard` (the classics of its "
        "train split), `nanolean`, `leantree`, `repo:NAME`, or a file of LeanTree JSONL.",
        metavar="DATA",
    )
    start_fraction: float = opt(
        0.3, "With --start-states: the part of the attempts that begin there.", min=0, max=1, advanced=True
    )
    sft_data: str = opt(
        AUTO,
        "Transitions mixed in: `nanolean`, `leantree`, `repo:NAME`, or a file of LeanTree JSONL; auto: leantree if "
        "--lean-servers run real Lean, else nanolean.",
    )
    num_steps: int = opt(1_000_000, "Collect-and-train steps to do in all.", min=0)
    max_time: str = opt("never", "Stop after H:M:S (counted over all parts of a resumed run).")
    collect_transitions: int = opt(
        100, "New transitions to collect for a step, over all ranks (0: collect none).", min=0
    )
    collect_every: int = opt(1, "Collect in each step whose number is a multiple of this.", min=1, advanced=True)
    collect_max_time: str = opt(
        "1:00:00", "A collection ends after H:M:S even if it has too few transitions.", advanced=True
    )
    num_updates_per_step: int = opt(2, "Optimizer updates in a step.", min=1)
    fraction_sft: float = opt(0.1, "Part of each batch that comes from the SFT data.", min=0, max=1)
    learning: options.LearningOptions = group(options.LearningOptions)
    replay_buffer_window_size: int = opt(250_000, "Newest transitions of proofs that are kept.", min=1, advanced=True)
    negative_buffer_window_size: int = opt(
        250_000, "Newest failed tactics that are kept, if any are used.", min=0, advanced=True
    )
    negative_fraction: float = opt(
        0.0, "Probability that a slot not from SFT data is a failed tactic.", min=0, max=1, advanced=True
    )
    unlikelihood_weight: float = opt(0.5, "Factor on -log(1 - p) of failed tactics (0: off).", min=0, advanced=True)
    replay_logprob_min: float | None = opt(
        None, "Replay no tactic that the network gives a lower log-probability (a lucky guess).", max=0, advanced=True
    )
    replay_logprob_max: float | None = opt(
        None,
        "Replay no tactic that the network gives a higher log-probability (it has learned that).",
        max=0,
        advanced=True,
    )
    prover: ProverOptions = group(
        ProverOptions,
        without=("simplification_tactics", "keep_tree"),
        proof_simplification=change(help="Simplify proofs during collection."),
        disprove_fraction=change(
            help="Fraction of attempts at theorems without a proof that try to prove the negation."
        ),
    )
    asynchronous: bool = opt(
        False,
        "Go on proving while the network trains: attempts may then begin with weights that are up to --max-staleness "
        "steps old when they end.",
        advanced=True,
    )
    inference_gpus: int = opt(
        0,
        "With --asynchronous, under torchrun: the last so many ranks only prove, the others only learn (0: every rank "
        "does both).",
        min=0,
        advanced=True,
    )
    solvers: SolverOption = group(
        SolverOption,
        disable_solvers=change(
            help="Leave out what the policy says if it uses a solver (--search-solver-tactics), and data that do; "
            "collection tries --search-finishers (without any, `grind`) on new leaves, which teaches nothing."
        ),
    )
    eval_start: str = opt(
        "now",
        "First evaluation: before the first step if nothing follows, else after Nsteps or H:M:S.",
        action=EvalStart,
        also=("--no-eval-start",),
        metavar="WHEN",
    )
    eval_datasets: tuple[str, ...] = opt(
        (AUTO,),
        "Benchmarks (their valid split) or files of theorems to evaluate on; auto: minif2f if --lean-servers run real "
        "Lean, else nanolean.",
    )
    num_simulations_eval: int = opt(64, "Simulations for each theorem in an evaluation.", min=1)
    max_eval_theorems: int | None = opt(None, "Evaluate on the first so many theorems only.", min=1, advanced=True)
    memory_profile: str | None = opt(
        None,
        "Directory for a snapshot of a GPU's memory when a batch does not fit for the first time.",
        metavar="DIR",
        advanced=True,
    )
    check_ranks: bool = opt(
        False, "After each step, compare the weights of all ranks and note their digest.", advanced=True
    )
    monitor: MonitorAddress = group(MonitorAddress, "monitor-")

    @property
    def negative_window(self) -> int:
        """How many failed tactics are kept: none where training has no use for them."""
        used = self.negative_fraction > 0 and self.unlikelihood_weight > 0
        return self.negative_buffer_window_size if used else 0

    def __post_init__(self) -> None:
        low, high = self.replay_logprob_min, self.replay_logprob_max
        check(
            low is None or high is None or low < high,
            f"rl.replay_logprob_min must be less than rl.replay_logprob_max, got {low} and {high}",
            "rl",
        )
        check(
            self.asynchronous or not self.inference_gpus,
            "rl.inference_gpus needs --asynchronous: those ranks go on proving while the others learn",
            "rl",
        )
        check(
            self.collect_transitions > 0 or self.fraction_sft == 1 or self.load_buffer is not None,
            "rl.collect_transitions = 0 collects nothing to train on; it needs --load-buffer or --fraction-sft 1",
            "rl",
        )


@validated("cluster")
class ClusterOptions:
    """Cluster."""

    cluster: str | None = opt(
        None,
        "Ray cluster whose nodes make the attempts of rank 0: its address HOST:PORT, or auto (docs/scaling.md).",
        metavar="ADDRESS",
        advanced=True,
    )
    policy_replicas: int = opt(
        0,
        "With --cluster: copies of the network that answer its hosts and write texts (0: the command's own does).",
        min=0,
        advanced=True,
    )
    prover_cpus: int = opt(
        8,
        "With --cluster: processors of a node that its host takes at most, with an attempt under way for each.",
        min=1,
        advanced=True,
    )
    max_staleness: int = opt(
        8,
        "With --cluster or --asynchronous: attempts begun more than so many steps ago are dropped and made again.",
        min=0,
        advanced=True,
    )

    def __post_init__(self) -> None:
        check(self.cluster is not None or not self.policy_replicas, "--policy-replicas are made on a --cluster")


@validated("model")
class HubModelOptions(PolicyEndpointOptions):
    """Models of transformers (hf:)."""

    prompt_format: str | None = opt(
        None, "How a state is asked for a tactic (none: as the model was trained, or `chat`).", advanced=True
    )
    model_tactic_tokens: int = opt(
        128,
        "Tokens that a tactic of such a model may have; --max-gen-tokens is for networks of ours.",
        min=1,
        advanced=True,
    )
    model_lr: float = opt(
        0.001,
        "Learning rate of a whole model (AdamW), before --init-lr-frac; adapters have --lora-lr.",
        min=0,
        advanced=True,
    )
    shard: bool = opt(
        False,
        "Under torchrun: weights, gradients and optimizer of a model hf: over the ranks (FSDP2), beside a whole copy "
        "in bf16 on each that writes the samples.",
        advanced=True,
    )
    dry_run: bool = opt(False, "Print how much memory of a GPU training a model hf: takes, and stop.", advanced=True)
    model_load_4bit: bool = opt(
        False, "With --lora: hold the base in 4 bits (needs bitsandbytes and a GPU).", advanced=True
    )

    def refuse_for_ours(self) -> None:
        """Raise UserError for what networks of ours do not heed, as whoever asks for it expects something of it."""
        given = {
            "--policy-endpoint": bool(self.policy_endpoint),
            "--shard": self.shard,
            "--model-load-4bit": self.model_load_4bit,
            "--prompt-format": self.prompt_format is not None,
        }
        for flag, is_given in given.items():
            if is_given:
                raise UserError(f"{flag} is for models of transformers: --model-path hf:FOLDER_OR_ID")

    def sampling(self, sampling: SamplingConfig) -> SamplingConfig:
        """Return how tactics are sampled, with this model's longest one."""
        return replace(sampling, max_gen_tokens=self.model_tactic_tokens)


@dataclass(frozen=True)
class SpreadOptions:
    """Where attempts are made."""

    cluster: ClusterOptions = group(ClusterOptions, without=("max_staleness",))


OWN_DEFAULTS = {
    **{"embedding_lr": 0.2, "init_lr_frac": 0.02, "warmdown_frac": 0.0},
    **{"eval_every": "2:00:00", "save_every": "2:00:00"},
}


@dataclass(frozen=True)
class RLConfig:
    """One instance of each group of options."""

    run: options.RunOptions = group(options.RunOptions)
    start: options.StartOptions = group(options.StartOptions)
    triggers: options.TriggerOptions = group(options.TriggerOptions)
    rl: RLOptions = group(RLOptions)
    fleet: FleetOptions = group(FleetOptions)
    cluster: ClusterOptions = group(ClusterOptions)
    sampling: SamplingConfig = group(SamplingConfig, temperature=change(advanced=True))
    batch: options.BatchOptions = group(options.BatchOptions)
    lora: LoraOptions = group(LoraOptions)
    hub: HubModelOptions = group(HubModelOptions)
    optim: options.OptimizerOptions = group(
        options.OptimizerOptions,
        # Those of pretraining, where they were measured; no run of RL ever set them.
        without=("scalar_lr", "momentum", "momentum_warmup_steps", "warmup_frac", "final_lr_frac", "max_grad_norm"),
        weight_decay=change(advanced=True),
        warmdown_frac=change(advanced=True),
    )
    compute: options.ComputeOptions = group(options.ComputeOptions, compile=change(advanced=True))
    engine: EngineLimits = group(
        EngineLimits,
        "engine-",
        without=("batch_invariant", "reuse_share", "kernels"),
        cache_mbytes=change(advanced=True),
        max_rows=change(advanced=True),
    )
    records: RecordOptions = group(RecordOptions, without=("timeline_minutes", "samples_per_step"))
    search: SearchConfig = group(
        SearchConfig,
        "search-",
        without=("disable_solvers", "value_weight", *NOT_FLAGS),  # --disable-solvers does that and more
        finishers=change(default=(AUTO,), advanced=True),
        finisher_use=change(
            help="In collection (evaluations always use candidate), leaf: a new leaf that a finisher closes is solved, "
            "outside the training data; candidate: finishers are offered at every node like tactics of the policy."
        ),
    )
    matchmaker: MatchmakerConfig = group(MatchmakerConfig, "mm-")
    retrieving: RetrieveOptions = group(
        RetrieveOptions, without=("retrieve", "retrieve_tokens"), retriever=change(advanced=True)
    )

    def __post_init__(self) -> None:
        clustered = self.cluster.cluster is not None
        for flag, count in (
            ("--premise-tactics", self.retrieving.premise_tactics),
            ("--step-tactics", self.retrieving.step_tactics),
        ):
            message = f"give either --cluster or {flag}: the learning process itself adds tactics"
            check(not (clustered and count), message)
        check(not (clustered and self.rl.inference_gpus), "give either --inference-gpus or --cluster")

    @classmethod
    def from_args(cls, args: argparse.Namespace) -> Self:
        """Read the values of parsed flags. Raises UserError for those that cannot be."""
        config = from_args(cls, args)
        for names in (config.rl.datasets, config.rl.eval_datasets):
            if names != (AUTO,):
                parse_set_names(names)
        return replace(config, search=config.search.without_solvers()) if config.leaves_out_solvers else config

    @property
    def leaves_out_solvers(self) -> bool:
        """Whether the policy may use no solver."""
        return self.rl.solvers.disable_solvers

    @property
    def solvers_left_out(self) -> tuple[str, ...]:
        """The tactics that the policy neither may use nor learns."""
        return self.search.solver_tactics if self.leaves_out_solvers else ()

    @property
    def most_stale(self) -> int | None:
        """By how many steps the weights of an attempt may be too old; None where training pauses all that ask them."""
        return self.cluster.max_staleness if self.rl.asynchronous or self.cluster.cluster is not None else None

    def of_nanolean(self) -> list[str]:
        """List the flags that name data of the embedded prover."""
        datasets, benchmarks = parse_set_names(self.rl.datasets), parse_set_names(self.rl.eval_datasets)
        named = {"--datasets": datasets, "--sft-data": [self.rl.sft_data], "--eval-datasets": benchmarks}
        return [flag for flag, names in named.items() if any(name in ("nanolean", *FIXED) for name in names)]


def _preset(name: str, disprove_fraction: float) -> dict[str, Any]:
    search, matchmaker = (preset_values(cls, name) for cls in (SearchConfig, MatchmakerConfig))
    return {
        **{f"search_{option}": value for option, value in search.items()},
        **{f"mm_{option}": value for option, value in matchmaker.items()},
        "disprove_fraction": disprove_fraction,
    }


SMALL = {
    # Not all that NanoLean has: `nanolean` alone is two thirds solved by a finetuned network, which has no room there.
    **{"datasets": ("nanolean", "nanolean-hard"), "eval_datasets": ("nanolean-hard",)},
    **{"num_sampled_tactics": 6, "lean_processes": 16},
    **{"collect_transitions": 150, "num_updates_per_step": 8, "target_examples_per_step": 128, "fraction_sft": 0.25},
    # Rows that hold 99% of the steps of human proofs on NanoLean; of 128 tokens they held 73%, for as much time.
    **{"row_length": 320, "device_batch_size": 12, "value_weight": 0.1},
    # A small network learns at fifteen times the rate that large ones keep, and gains from its decay at the end.
    **{"init_lr_frac": 0.3, "warmdown_frac": 0.5, "max_time": "0:30:00"},
    # No evaluation holds up the first step; a checkpoint of a million parameters costs nothing.
    **{"num_simulations_eval": 32, "eval_start": "never", "save_every": "0:02:00", "keep_checkpoints": 16},
}
"""What the preset `small` has besides constants of search and matchmaker: the recipe of the quickstart."""
PRESETS: dict[str, dict[str, Any]] = {
    "auto": {},
    "default": _preset("default", 0.0),
    "alphaproof": _preset("alphaproof", 0.5),
    "alphaproof-pseudocode": _preset("alphaproof-pseudocode", 0.5),
    "small": {**_preset("small", 0.0), **SMALL},
}
"""Of search, matchmaker and disproof together; `auto` stands for `small` or `default`."""


def parse_args(argv: list[str] | None, description: str = "") -> argparse.Namespace:
    """Parse the command line; a resumed run keeps the options that are not given."""
    parser = Parser(prog="python -m nanoproof.rl", description=description)
    add_flags(parser, RLConfig)
    parser.add_earlier({**EARLIER_FLAGS, **EARLIER_FLAGS_OF_CLUSTERS})
    parser.add_preset_flag(
        "--preset",
        PRESETS,
        "Constants of search and matchmaker, and how much to disprove; small: the whole recipe of a small network "
        "on NanoLean, for which auto stands where none of --datasets, --lean-servers, --cluster is given. Given flags "
        "win",
    )
    parser.set_defaults(**OWN_DEFAULTS)
    args = parse_resumable(parser, argv)
    if args.preset != "auto" or args.resume_from is not None:
        return args
    reason = why_small(args)
    if reason is None:
        args.preset = "default"
        return args
    # Before the ranks know each other: torchrun tells each its number.
    if os.environ.get("RANK", "0") == "0":
        print(f"preset small: {reason} (--preset default for none; flags that are given win)", flush=True)
    return parse_resumable(parser, [*(sys.argv[1:] if argv is None else argv), "--preset", "small"])


def why_small(args: argparse.Namespace) -> str | None:
    """Return why a run without a preset has `small`; None where it does not: it names data, or its network is large."""
    names_data = tuple(args.datasets) != (AUTO,) or bool(args.lean_servers) or args.cluster is not None
    if names_data or args.model_path is None:
        return None
    from nanoproof.model.checkpoint import small_network  # imports torch, which other options do without

    parameters = small_network(args.model_path)
    if parameters is None:
        return None
    return f"{parameters:,} parameters, on NanoLean"
