"""Options of who suggests tactics. Nothing here needs torch, which takes a second or two to import."""

import os
from pathlib import Path
from typing import Any, Literal

from nanoproof.common.config import check, group, opt, validated
from nanoproof.common.errors import UserError
from nanoproof.common.files import file_sha256
from nanoproof.common.option_groups import CheckpointOption, DeviceOption, PolicyServerOptions
from nanoproof.common.run_dir import is_foreign, resolve_model_path
from nanoproof.inference.model_options import LanguageModelOptions
from nanoproof.model.checkpoint_files import find_checkpoint, weights_sha256
from nanoproof.policy.prompt_formats import FORMATS, Kind, PromptFormat, find_format, formats_of, known_format
from nanoproof.retrieval.retrieve_options import RetrieveOptions

PolicyName = Literal["model", "uniform", "solver-only"]
OWN_FORMAT, OWN_PROOF_FORMAT = "nanoproof", "nanoproof-proof"
MODEL_VARIABLE, DEVICE_VARIABLE, TEMPLATE_VARIABLE = (
    "LEANPROGRESS_MODEL",
    "LEANPROGRESS_DEVICE",
    "LEANPROGRESS_TEMPLATE",
)
TEMPLATE = "Goal:\n{goal}\n\nPrefix:\n{prefix}\n\nCandidate tactic:\n{tactic}"
"""The text that such a model reads, in training and later."""
MAX_LENGTH = 512
WEIGHTS_FILES = ("model.safetensors", "pytorch_model.bin")


@validated("progress")
class ProgressOptions:
    """Steps remaining."""

    progress_model: str | None = opt(
        None,
        "Model of the steps remaining after each candidate tactic, which orders them (default: LEANPROGRESS_MODEL).",
        metavar="PATH_OR_ID",
        advanced=True,
    )
    progress_weight: float = opt(
        0.5,
        "What a step remaining takes from the log-probability of a candidate, in nats, with such a model.",
        min=0,
        constant=True,
    )

    @property
    def source(self) -> str | None:
        """The model that counts: of the option, else of the environment, where an empty one is none."""
        return self.progress_model or os.environ.get(MODEL_VARIABLE, "").strip() or None

    def settings(self) -> dict[str, Any]:
        """Return what of this changes results, for the record of an evaluation; empty without a model."""
        if self.source is None:
            return {}
        settings: dict[str, Any] = {"progress_model": _identity(self.source), "progress_weight": self.progress_weight}
        template = os.environ.get(TEMPLATE_VARIABLE) or TEMPLATE
        if template != TEMPLATE:
            settings["progress_template"] = template
        return settings


def _identity(source: str) -> str:
    """Return a digest of the weights where they are in a folder, else the id."""
    folder = Path(source).expanduser()
    for name in WEIGHTS_FILES:
        if (folder / name).is_file():
            return file_sha256(folder / name)
    return source


@validated("model")
class TextModelOptions:
    """Models of others."""

    prompt_format: str | None = opt(
        None,
        f"How states are written for a model of others: {', '.join(formats_of('tactic'))}; and statements, for whole "
        f"proofs: {', '.join(formats_of('proof'))} (none: known by its name).",
        metavar="NAME",
    )
    value_model: str | None = opt(
        None,
        "Checkpoint, or hf:FOLDER, whose value head tells how far states are from a proof (none: its own).",
        advanced=True,
    )
    model_tactic_tokens: int = opt(
        128,
        "Tokens that a tactic of such a model may have; --max-gen-tokens is for checkpoints.",
        min=1,
        advanced=True,
    )
    backend: LanguageModelOptions = group(LanguageModelOptions, "model-")
    progress: ProgressOptions = group(ProgressOptions)

    def __post_init__(self) -> None:
        if self.prompt_format is not None and self.prompt_format not in formats_of("proof"):
            find_format(self.prompt_format, "tactic")

    def format_for(self, spec: str, kind: Kind = "tactic") -> PromptFormat:
        """Return the format to ask a model for tactics or proofs with, by `--prompt-format` or its SPEC.

        Raises UserError without one.
        """
        if self.prompt_format is not None:
            return find_format(self.prompt_format, kind)
        own, wanted = OWN_FORMAT, "a tactic"
        if kind == "proof":
            own, wanted = OWN_PROOF_FORMAT, "a proof"
        if not is_foreign(spec):
            return FORMATS[own]
        # No default for models of others: in a language that it was not trained on, a model answers nonsense, which
        # would be a score like any other.
        prompt_format = known_format(spec, kind)
        if prompt_format is None:
            names = ", ".join(name for name in formats_of(kind) if name != own)
            scheme = spec.partition(":")[0]
            raise UserError(
                f"--model-path {scheme}:...: say how this model is asked for {wanted}, by --prompt-format: {names}"
            )
        return prompt_format

    def settings(self, spec: str | None, whole: bool = False) -> dict[str, Any] | None:
        """Return what these options change of what a model suggests (or with `whole`, of the proofs that it writes),
        for the record of an evaluation; None if nothing.

        Raises UserError for a model that cannot be asked this way.
        """
        if spec is None:
            return None
        how = self.format_for(spec, "proof" if whole else "tactic")
        # A network of ours in its own format: none of these options has a say.
        own_way = not is_foreign(spec) and how.name in (OWN_FORMAT, OWN_PROOF_FORMAT)
        if own_way and (self.value_model is None or whole):
            return None
        settings: dict[str, Any] = {"prompt_format": how.name}
        if is_foreign(spec):
            settings["spec"] = spec
            if not whole:
                settings["tactic_tokens"] = self.model_tactic_tokens
            settings |= {"dtype": self.backend.hf.dtype, "load_4bit": self.backend.hf.load_4bit}
        if self.value_model is not None and not whole:
            if is_foreign(self.value_model):
                settings["value_model"] = self.value_model
            else:
                settings["value_sha256"] = weights_sha256(find_checkpoint(resolve_model_path(self.value_model)))
        return settings

    def record(self, spec: str | None, whole: bool = False) -> dict[str, Any] | None:
        """Return `settings` with those of the model of steps remaining, for the record of an evaluation."""
        settings = self.settings(spec, whole) or {}
        if not whole:  # whole proofs have no candidates to weigh
            settings |= self.progress.settings()
        return settings or None


@validated("policy")
class PolicyOptions:
    """Policy."""

    checkpoint: CheckpointOption = group(CheckpointOption)
    policy: PolicyName | None = opt(None, "Who suggests tactics; without it the model of --model-path, else uniform.")
    server: PolicyServerOptions = group(PolicyServerOptions, "policy-")
    device: DeviceOption = group(DeviceOption)
    texts: TextModelOptions = group(TextModelOptions)
    retrieving: RetrieveOptions = group(RetrieveOptions, without=("step_decay",))

    def __post_init__(self) -> None:
        if self.retrieving.retrieve:
            check(self.server.server is None, "--retrieve works on a model in this process, not on a --policy-server")
            check(self.name == "model", f"--retrieve has no use for --policy {self.name}")
        check(self.policy != "model" or self.checkpoint.model_path is not None, "--policy model needs --model-path")
        check(
            self.policy in (None, "model") or self.checkpoint.model_path is None,
            f"--policy {self.policy} has no use for a model: leave out --model-path, or --policy",
        )
        check(
            self.server.server is None or (self.policy or self.checkpoint.model_path) is None,
            "--policy-server suggests tactics in place of --policy and --model-path",
        )

    @property
    def name(self) -> PolicyName:
        """The chosen policy, or the default: the model where there is one, else uniform."""
        if self.policy is not None:
            return self.policy
        if self.checkpoint.model_path is None:
            return "uniform"
        return "model"


def short_name(spec: str) -> str:
    """Return the name of a model that was given none: the last word of its SPEC, without folders of this machine."""
    kind, _, rest = spec.partition(":")
    if kind == "openai":
        return rest.partition("#")[2] or rest
    if kind == "hf" and not Path(rest).expanduser().is_dir():
        return rest
    path = Path(rest if kind == "hf" else spec)
    # Files of checkpoints are called after their step: the run's name is that of the folder.
    if path.suffix in (".pt", ".json"):
        return f"{path.parent.name}/{path.stem}".lstrip("/")
    return path.name or spec
