"""`TrainingConfig` and `ProverConfig` with the fields and defaults of LeanDojo-v2, from and to YAML and JSON.

from nanoproof.compat.configs import ProverConfig, TrainingConfig
"""

import importlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, atomic_write_text, parse_json

YEAR_SECONDS = 52 * 7 * 24 * 3600
"""Of 52 weeks, as in LeanDojo-v2, whose files have this number."""
SECTIONS = {"TrainingConfig": "training", "ProverConfig": "prover"}
"""Where `save_configs_to_file` writes each."""
GROUPS = ("early_stopping", "checkpoint")
"""What files of earlier versions hold as mappings: `early_stopping: {patience: 5}` is `early_stopping_patience: 5`."""


def _yaml() -> Any:
    return importlib.import_module("yaml")


class _Config:
    """Reading and writing of configs."""

    @classmethod
    def from_dict(cls, data: Any, where: str = "the config") -> Self:
        """Make a config of its fields by name; what is missing has its default.

        Raises UserError for other fields, and for values of another type.
        """
        if not isinstance(data, dict):
            raise UserError(f"{where}: expected fields and values, got {type(data).__name__}")
        # A file of both configs, or of this one alone.
        data = flat(data.get(SECTIONS[cls.__name__], data))
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        for name, value in data.items():
            if name not in names:
                raise UserError(f"{where}: {cls.__name__} has no field {name}; it has {', '.join(names)}")
            default = getattr(cls(), name)
            if not _fits(value, default):
                raise UserError(f"{where}: {name} must be like {default!r}, got {value!r}")
        return cls(**data)

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Read a YAML file. Raises UserError for one that cannot be read or holds something else."""
        text = _read(path)
        try:
            data = _yaml().safe_load(text)
        except _yaml().YAMLError as error:
            raise UserError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
        return cls.from_dict({} if data is None else data, str(path))

    @classmethod
    def from_json(cls, path: str | Path) -> Self:
        """Read a JSON file. Raises UserError for one that cannot be read or holds something else."""
        try:
            data = parse_json(_read(path))
        except ValueError as error:
            raise UserError(f"{path} is not JSON: {error}") from error
        return cls.from_dict(data, str(path))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return asdict(self)  # type: ignore[call-overload]

    def to_yaml(self, path: str | Path) -> None:
        """Write a YAML file, whole or not at all."""
        atomic_write_text(Path(path), _yaml().safe_dump(self.to_dict(), sort_keys=False))

    def to_json(self, path: str | Path) -> None:
        """Write a JSON file, whole or not at all."""
        atomic_write_json(Path(path), self.to_dict())


def _read(path: str | Path) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error


def _fits(value: Any, default: Any) -> bool:
    """Tell whether a value may stand where a default stands: of its type, a whole number for a fraction; where the
    default is none, a number or none."""
    # Python has true and false for numbers: `lr: true` is a mistake.
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if default is None:
        return value is None or isinstance(value, int)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))


def flat(data: Any) -> Any:
    """Return fields with those of `GROUPS` by their own names."""
    if not isinstance(data, dict):
        return data
    settings: dict[str, Any] = {}
    for name, value in data.items():
        if name in GROUPS and isinstance(value, dict):
            for inner, setting in value.items():
                settings[f"{name}_{inner}"] = setting
        else:
            settings[name] = value
    return settings


@dataclass
class TrainingConfig(_Config):
    """How a retriever is trained over repositories.

    Fields that nothing here reads are in `NOT_READ`; a trainer refuses them with another value than they have here.
    """

    run_progressive_training: bool = True
    single_repo: bool = True
    num_repos: int = 1
    max_epochs: int = 1
    model_name: str = "kaiyuy/leandojo-lean4-retriever-byt5-small"
    lr: float = 1e-3
    warmup_steps: int = 1000
    max_seq_len: int = 512
    num_retrieved: int = 100
    batch_size: int = 1
    eval_batch_size: int = 64
    accumulate_grad_batches: int = 4
    num_gpus: int = 1
    num_workers: int = 4
    precision: str = "bf16-mixed"
    gradient_clip_val: float = 1.0
    num_negatives: int = 3
    num_in_file_negatives: int = 1
    data_max_seq_len: int = 1024
    tokenizer_model_name: str = "google/byt5-small"
    lambda_value: float = 0.1
    timeout_seconds: int = YEAR_SECONDS
    early_stopping_patience: int = 5
    early_stopping_monitor: str = "Recall@10_val"
    early_stopping_mode: str = "max"
    checkpoint_save_top_k: int = -1
    checkpoint_every_n_epochs: int = 1
    checkpoint_monitor: str = "Recall@10_val"
    checkpoint_mode: str = "max"
    log_every_n_steps: int = 1
    num_sanity_val_steps: int = 0
    seed: int = 3407


NOT_READ = {
    "single_repo": "training is on the repositories that were set up",
    "num_repos": "training is on the repositories that were set up",
    "num_retrieved": "scores are of the first 100 premises",
    "eval_batch_size": "the batches of evaluation are chosen by memory",
    "num_gpus": "one process trains",
    "num_workers": "no processes load data",
    "precision": "weights and products are in fp32",
    "data_max_seq_len": "texts are cut at max_seq_len in training as in queries",
    "tokenizer_model_name": "texts are read with the model's own tokenizer",
    "lambda_value": "nothing holds weights to those of earlier repositories, which is lambda_value 0",
    "timeout_seconds": "training has no deadline",
    "early_stopping_monitor": "epochs are compared by R@10",
    "early_stopping_mode": "epochs are compared by R@10, the greater the better",
    "checkpoint_save_top_k": "the best epoch of each repository is kept",
    "checkpoint_every_n_epochs": "the best epoch of each repository is kept",
    "checkpoint_monitor": "epochs are compared by R@10",
    "checkpoint_mode": "epochs are compared by R@10, the greater the better",
    "log_every_n_steps": "there is a record of each epoch",
    "num_sanity_val_steps": "there is no validation before training",
}
"""Fields of `TrainingConfig` that nothing reads, and what holds whatever they say."""


def refuse_unread(config: Any) -> None:
    """Raise UserError, by name, for a field of `NOT_READ` that asks for something else than what is done.

    `config` is an object or a mapping; what it lacks is not asked for.
    """
    values = config if isinstance(config, dict) else vars(config)
    values = flat(values)
    same = {
        "lambda_value": (0,),  # upstream never has the weights that it multiplies, so 0.1 is 0 there, too
        "precision": ("32", "32-true"),
        "timeout_seconds": (365 * 24 * 3600,),  # the default of earlier versions
        "data_max_seq_len": (values.get("max_seq_len"),),
        "tokenizer_model_name": (values.get("model_name"),),
    }
    plain = TrainingConfig()
    for name, instead in NOT_READ.items():
        value = values.get(name)
        if value is not None and value not in (getattr(plain, name), *same.get(name, ())):
            raise UserError(f"TrainingConfig.{name} = {value!r} cannot be heeded: {instead}; leave it out")


@dataclass
class ProverConfig(_Config):
    """How theorems are searched: `timeout` in seconds, `max_expansions` nodes at most, `num_sampled_tactics` each.

    `num_workers` is how many processes an agent's embedded Lean server has. `use_vllm`, `debug` and `batch_size` are
    read and kept, and change nothing here.
    """

    use_vllm: bool = False
    num_workers: int = 4
    timeout: int = 600
    max_expansions: int | None = None
    num_sampled_tactics: int = 64
    debug: bool = False
    batch_size: int = 12


def save_configs_to_file(training_config: TrainingConfig, prover_config: ProverConfig, config_file: str | Path) -> None:
    """Write both to a YAML file, each as a section; `from_yaml` of either class reads its own."""
    sections = {"training": training_config.to_dict(), "prover": prover_config.to_dict()}
    atomic_write_text(Path(config_file), _yaml().safe_dump(sections, sort_keys=False))
