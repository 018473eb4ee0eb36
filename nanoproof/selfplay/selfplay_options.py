"""All options of self-play. Nothing here needs torch, which is slow to import."""

from dataclasses import dataclass
from typing import Any, Literal

from nanoproof.common.config import check, opt, validated
from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import PolicyEndpointOptions
from nanoproof.data.theorems.held_out import AUTO
from nanoproof.inference.language_model import WHOLE_PROOF_TOKENS
from nanoproof.selfplay import formulas


@validated("selfplay")
class SelfPlayOptions:
    """Self-play."""

    model_path: str | None = opt(None, "Model to begin with: a checkpoint of ours, or hf:PATH_OR_ID.", metavar="SPEC")
    dataset_config: str | None = opt(
        None, 'Statements: JSON, a list of {"dataset_path": FILE, "weight": N}.', metavar="FILE"
    )
    exp_dir: str | None = opt(None, "Directory of the experiment; one that was cut off goes on.", metavar="DIR")
    rounds: int = opt(12, "Rounds.", min=1)
    samples_first: int = opt(64, "Proofs of each statement in the first round.", min=1)
    samples: int = opt(32, "Proofs of each statement in later rounds.", min=1)
    temperature: float = opt(1.0, "Temperature of proofs and conjectures.", min=0)
    sampler: Literal["selfplay", "expert", "parallel"] = opt(
        "selfplay",
        "selfplay; expert: no conjectures, trained anew from the first model on all rounds; parallel: no training.",
    )
    conjecture_multiplier: int = opt(1, "Conjectures for each pair of theorem and lemma, at least.", min=1)
    statements_per_round: int = opt(0, "So many statements in a round, at random (0: all).", min=0)
    theorem_dict: str | None = opt(
        None, "Lemmas: JSON that `python -m nanoproof.data.stp theorem-dict` writes.", metavar="FILE"
    )
    held_out: tuple[str, ...] = opt(
        (AUTO,),
        "Theorems that no conjecture may be: data sets or files; auto: the benchmarks that are here; none.",
        metavar="SET",
    )
    max_tokens: int = opt(
        WHOLE_PROOF_TOKENS,
        "Tokens of a proof or a conjecture; by default of a network of ours at most half of what it reads.",
        min=1,
    )
    prompt_format: str | None = opt(None, "How a model of others is asked for proofs (default: stp).", metavar="NAME")
    legacy_prompts: bool = opt(
        False, "Ask a model of others for conjectures without a header, as STP's program does.", advanced=True
    )
    epochs: float = opt(1.0, "How often each row of a round is trained on.", above=0)
    lr: float | None = opt(
        None, "Learning rate of models of others (default: 5e-5, in the final training 1e-4), after a warmup.", min=0
    )
    lr_frac: float = opt(0.1, "Fraction of the learning rates of networks of ours.", min=0)
    batch: int = opt(2048, "Rows in one optimizer step.", min=1)
    device_batch_size: int = opt(8, "Rows in one forward pass.", min=1)
    max_length: int = opt(2048, "Most tokens of a row; of a longer one the end is kept.", min=16)
    lora: int | None = opt(None, "Train adapters of this rank alone.", min=1)
    time_decay: float = opt(
        formulas.PER_SECOND,
        "How much less a proof weighs, as an exponent, for each second of its verification; with 0 no clock counts.",
        min=0,
        advanced=True,
    )
    sft: str | None = opt(None, "Rows that are trained on as well.", metavar="FILE.json")
    final: bool = opt(False, "Train --base once on what --merge has found.")
    merge: tuple[str, ...] = opt((), "Experiments for --final, each with how many of its rounds.", metavar="DIR:N")
    include_conjectures: bool = opt(False, "In --final learn from proofs of conjectures, too.")
    base: str | None = opt(None, "Model that --final trains (as --model-path).", metavar="SPEC")
    device_type: str = opt("", "Where the network runs: cuda, cpu or mps; empty for the best there is.")
    lean_servers: tuple[str, ...] = opt((), "Addresses host:port of Lean servers; without any, NanoLean.")
    lean_token: str | None = opt(None, "Token that the Lean servers ask for.")
    lean_processes: int = opt(8, "Processes of NanoLean, without Lean servers.", min=1)
    timeout: float = opt(200.0, "Seconds for the verification of a proof.", above=0)
    lean_patience: float = opt(
        300.0, "Seconds without any Lean process after which a round ends.", above=0, advanced=True
    )

    def __post_init__(self) -> None:
        check(self.exp_dir is not None, "give --exp-dir, the directory of the experiment")
        check(self.dataset_config is not None, "give --dataset-config, the statements to prove")
        if self.final:
            check(bool(self.merge) and self.base is not None, "--final needs --merge DIR:N and --base SPEC")
            check(self.model_path is None, "--final trains --base; leave out --model-path")
        else:
            check(self.model_path is not None, "give --model-path, the model to begin with (or --final)")
            check(not self.merge and self.base is None, "--merge and --base go with --final")
        start = self.model_path or self.base or ""
        check(
            self.sampler == "parallel" or not start.startswith("openai:"),
            f"{start}: a model behind an endpoint cannot be trained; it goes with --sampler parallel only",
        )

    def decisive(self) -> dict[str, Any]:
        """Return the options that decide what comes of an experiment, with whose change it cannot go on."""
        others = (
            *("rounds", "exp_dir", "final", "merge", "include_conjectures", "base", "device_type", "device_batch_size"),
            *("lean_servers", "lean_token", "lean_processes", "lean_patience"),
        )
        decisive: dict[str, Any] = {}
        for name, value in vars(self).items():
            if name not in others:
                # Tuples as lists: these are compared with what is read from the experiment's JSON.
                decisive[name] = list(value) if isinstance(value, tuple) else value
        return decisive


@dataclass(frozen=True)
class RoundEndpointOptions(PolicyEndpointOptions):
    """Who writes the texts of rounds."""

    def check_model(self, spec: str, trains_whole: bool) -> None:
        """Raise UserError if the servers cannot be given the weights of a model that is trained this way."""
        if not self.policy_endpoint:
            return
        if not spec.startswith("hf:"):
            raise UserError(f"--policy-endpoint is for models of transformers (hf:), and --model-path is {spec}")
        if trains_whole and self.policy_restart is None:
            raise UserError(
                "--policy-endpoint without --lora: servers load adapters while they run, and no whole models; give "
                "--lora, or --policy-restart COMMAND"
            )
