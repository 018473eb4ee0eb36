"""Trainers with the constructors that LeanDojo's users know.

from nanoproof.compat.trainers import RetrievalTrainer, SFTTrainer
SFTTrainer(model_name="FOLDER", output_dir="outputs").train(repos, database, "raid/data/merged")
RetrievalTrainer({"model_name": "FOLDER"}).train(repos, database, "raid/data/merged")
"""

import os
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from nanoproof.common.distributed import choose_device, init_distributed
from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write_json, cut_name, read_json, read_jsonl, read_object
from nanoproof.common.run_dir import FINISHED, RunDir
from nanoproof.compat.configs import TrainingConfig, flat, refuse_unread
from nanoproof.compat.prover import default_format
from nanoproof.inference.hf_loading import ADAPTER_FILE, load_tokenizer, transformers_library
from nanoproof.model.network_options import LoraOptions
from nanoproof.repos.leandojo import CORPUS
from nanoproof.repos.premise_data import read_source
from nanoproof.retrieval.encoders import open_encoder
from nanoproof.retrieval.folders import ENCODER_FOLDER, RETRIEVER_FILE, retriever_folder
from nanoproof.retrieval.index import INDEX_FOLDER
from nanoproof.retrieval.retrieve_options import TrainOptions
from nanoproof.retrieval.scores import EncoderRanks, evaluate
from nanoproof.retrieval.training import train_retriever
from nanoproof.training.hub_examples import load_data
from nanoproof.training.hub_finetuning import train_hub
from nanoproof.training.hub_grpo import HubGRPO
from nanoproof.training.hub_network import OPTIMIZER_FILE, checkpoint_steps, last_checkpoint, trainable_network
from nanoproof.training.options import HubGRPOOptions, ProgressSettings
from nanoproof.training.progress import load_start, train_progress
from nanoproof.training.setup import PREFIX, parse_hub_sft

PASSES = "passes"
"""Folder of the output that has a run directory for each repository of the curriculum."""
SETTINGS = "settings.json"
"""File among them: which trainer makes them, and how."""


class Database(Protocol):
    """What a trainer asks of a database of repositories."""

    def export_merged_data(self, repositories: list[Any], output_path: Path) -> object:
        """Write the data of these repositories to a folder, in place of what is there."""
        ...


def begin_passes(passes: Path, settings: dict[str, Any]) -> None:
    """Let a folder of passes be those of a trainer with these settings: what another one made there is deleted.

    LeanDojo-v2's examples train several ways into one `output_dir`; the passes of one are not done for the other.
    """
    file = passes / SETTINGS
    earlier = read_object(file)
    if earlier is not None and earlier != settings:
        print(f"{passes} has the passes of a trainer with other settings: they are made anew")
        shutil.rmtree(passes)
    with cannot(f"write {file}"):
        atomic_write_json(file, settings)


def _curriculum(
    repos: Sequence[Any],
    database: Database | None,
    data_path: str | Path,
    source: str,
    output_dir: Path,
    train_pass: Callable[[str, Path, Path], None],
) -> dict[str, float]:
    """Make the passes that are not finished, each from the last one's checkpoint; returns the metrics of the last.

    `train_pass(source, run, data)` trains `source` on the export in `data` and leaves checkpoints in `run`.
    """
    data = Path(data_path).expanduser()
    if database is not None and not repos:
        raise UserError("there are no repositories to train on: set one up first")
    run = output_dir
    for number, name in enumerate(_pass_names(repos, database)):
        run = output_dir / PASSES / name
        if not (run / FINISHED).exists():
            # All repositories so far: what was learned of the earlier ones is not to be forgotten.
            if database is not None:
                database.export_merged_data(list(repos[: number + 1]), data)
            train_pass(source, run, data)
        if not (run / FINISHED).exists():
            raise UserError(f"{run}: stopped before its end; call train again to go on")
        checkpoint = last_checkpoint(run)
        publish(checkpoint, output_dir)
        source = str(checkpoint)
    return _last_metrics(run)


@dataclass(frozen=True)
class TrainerConfig:
    """The options of a trainer by the names of transformers and trl. Frozen: what a script changed in a copy of trl's
    configs would count nowhere. To change one: `trainer.config = dataclasses.replace(trainer.config, ...)`.
    """

    output_dir: str
    num_train_epochs: float
    per_device_train_batch_size: int
    learning_rate: float


@dataclass(frozen=True)
class GRPOTrainerConfig(TrainerConfig):
    """`TrainerConfig`, and how completions are drawn."""

    num_generations: int = 8
    max_completion_length: int = 256


class _HubTrainer:
    """What the trainers of models of transformers share: a model to begin with, and what is trained."""

    config: TrainerConfig

    def __init__(
        self, model_name: str, output_dir: str | Path, lora_config: Any, prompt_format: str | None, seed: int = 0
    ) -> None:
        self.model_name, self.output_dir = model_name, Path(output_dir).expanduser()
        self.lora_config, self.prompt_format, self.seed = lora_config, prompt_format, seed
        self.use_lora = lora_config is not None
        self._model: Any = None

    @property
    def model(self) -> Any:
        """The network as it is trained so far, loaded at the first access: a copy, which `train` does not look at.

        With adapters it is peft's. Raises UserError for what cannot be loaded.
        """
        if self._model is None:
            lora = _lora_options(self.lora_config, self.config.learning_rate)
            device = choose_device()[0]
            self._model = trainable_network(transformers_library(), self._present(), lora, self.seed, device)
        return self._model

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the model; one that pads with nothing pads with its end. A copy, as `model`."""
        tokenizer = load_tokenizer(transformers_library(), self._present())
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    def _present(self) -> str:
        """Where the model is: what was trained, else what training begins with."""
        for name in ("config.json", ADAPTER_FILE):
            if (self.output_dir / name).is_file():
                return str(self.output_dir)
        return str(Path(self.model_name).expanduser())

    def _format(self, source: str) -> str:
        """The prompt format of a pass: as asked for, as the model was trained with, or LeanDojo-v2's."""
        return self.prompt_format or default_format(f"{PREFIX}{source}").name

    def _curriculum(
        self,
        repos: Sequence[Any],
        database: Database | None,
        data_path: str | Path,
        train_pass: Callable[[str, Path, Path], None],
    ) -> dict[str, float]:
        self._model = None
        # Whatever makes the passes others than those that are there.
        settings = {
            "trainer": type(self).__name__,
            "model": self.model_name,
            "config": asdict(self.config),
            "lora": asdict(_lora_options(self.lora_config, self.config.learning_rate)),
            "prompt_format": self.prompt_format,
            "seed": self.seed,
        }
        begin_passes(self.output_dir / PASSES, settings)
        return _curriculum(repos, database, data_path, self.model_name, self.output_dir, train_pass)


class SFTTrainer(_HubTrainer):
    """Finetunes a model of transformers on the tactics of repositories, one more repository in each pass."""

    def __init__(
        self,
        model_name: str,
        output_dir: str | Path = "outputs",
        epochs_per_repo: float = 1,
        batch_size: int = 1,
        lr: float = 2e-5,
        lora_config: Any = None,
        prompt_format: str | None = None,
    ) -> None:
        """`model_name` is a folder or an id of the hub; `lora_config` a `peft.LoraConfig`, whose r, lora_alpha,
        target_modules and lora_dropout count, or `LoraOptions`. `prompt_format` is as of `--prompt-format`; without it
        a model that was not trained here learns `leandojo`, or `leandojo-text` if it has no chat template.
        """
        super().__init__(model_name, output_dir, lora_config, prompt_format)
        self.config = TrainerConfig(str(self.output_dir), epochs_per_repo, batch_size, lr)

    def train(self, repos: Sequence[Any], database: Database | None, data_path: str | Path) -> dict[str, float]:
        """Train on the repositories in their order: in each pass on all so far, exported to `data_path`.

        Without a database a single pass is made on the export that is there. What is trained is in `output_dir` after
        each pass, as transformers (or peft) loads it; returns the metrics of the last one. A call that was killed goes
        on where it was. Raises UserError for data and models that cannot be used, and if a signal ended a pass.
        """

        def train_pass(source: str, run: Path, data: Path) -> None:
            train_hub(parse_hub_sft(self._options(source, run, data), "Finetune a model of transformers."))

        return self._curriculum(repos, database, data_path, train_pass)

    def _options(self, source: str, run: Path, data: Path) -> dict[str, Any]:
        """The options of a pass by name: of a new one, or of the rest of one that was killed."""
        if run.is_dir() and checkpoint_steps(run):
            return {"resume_from": str(run.absolute())}
        shutil.rmtree(run, ignore_errors=True)  # killed before its first checkpoint: nothing is lost
        config = self.config
        values: dict[str, Any] = {
            "model_path": PREFIX + source,
            "data": str(data),
            "run_dir": str(run.absolute()),
            "epochs": float(config.num_train_epochs),
            "lr": float(config.learning_rate),
            # trl takes a step with each batch.
            "target_examples_per_step": int(config.per_device_train_batch_size),
            "device_batch_size": int(config.per_device_train_batch_size),
            "prompt_format": self._format(source),
        }
        lora = _lora_options(self.lora_config, config.learning_rate)
        if lora.lora is not None:
            values |= asdict(lora)
        return values


class GRPOTrainer(_HubTrainer):
    """Trains a model of transformers with a reward function on the states of repositories, one more in each pass."""

    config: GRPOTrainerConfig

    def __init__(
        self,
        model_name: str,
        reward_func: Callable[..., Any],
        output_dir: str | Path = "outputs",
        epochs_per_repo: float = 1,
        batch_size: int = 8,
        lr: float = 2e-5,
        lora_config: Any = None,
        num_generations: int = 8,
        max_completion_length: int = 256,
        prompt_format: str | None = None,
        seed: int = 0,
    ) -> None:
        """`reward_func(completions, **context)` gets texts, with `prompts`, `states` and the data's column `problem`
        (the states again) as many, and returns a number for each (None: no reward). `batch_size` counts completions,
        and is rounded up to whole groups of `num_generations`. The other arguments are as of `SFTTrainer`.
        """
        super().__init__(model_name, output_dir, lora_config, prompt_format, seed)
        self.reward_func = reward_func
        self.config = GRPOTrainerConfig(
            str(self.output_dir), epochs_per_repo, batch_size, lr, num_generations, max_completion_length
        )

    def train(self, repos: Sequence[Any], database: Database | None, data_path: str | Path) -> dict[str, float]:
        """Train as `SFTTrainer.train` does; returns the metrics of the last pass. A pass that was killed begins anew.

        Raises UserError for data, models and rewards that cannot be used.
        """
        return self._curriculum(repos, database, data_path, self._pass)

    def _pass(self, source: str, run: Path, data: Path) -> None:
        shutil.rmtree(run, ignore_errors=True)
        config = self.config
        options = HubGRPOOptions(
            data=str(data),
            prompt_format=self._format(source),
            num_generations=config.num_generations,
            batch_size=config.per_device_train_batch_size,
            epochs=config.num_train_epochs,
            lr=config.learning_rate,
            max_completion_length=config.max_completion_length,
        )
        transitions, _ = load_data(str(data))
        with closing(RunDir(run)) as record:
            reward = partial(_as_tensorless, self.reward_func)
            lora = _lora_options(self.lora_config, config.learning_rate)
            work = HubGRPO(source, transitions, reward, options, lora, init_distributed(), self.seed)
            record.finish(work.train(run, record.metrics))


def _as_tensorless(reward: Callable[..., Any], completions: list[str], **context: Any) -> list[Any]:
    """Ask a reward function that may return a tensor or an array."""
    # trl hands the columns of the data on to rewards; LeanDojo-v2's is called `problem`.
    rewards = reward(completions, problem=context["states"], **context)
    return rewards.tolist() if hasattr(rewards, "tolist") else list(rewards)


class ProgressTrainer:
    """Trains a model of the steps remaining (LeanProgress) on a JSONL of rows."""

    def __init__(
        self,
        data_path: str | Path,
        model_name: str = "bert-base-uncased",
        output_dir: str | Path = "outputs",
        max_length: int = 512,
        batch_size: int = 8,
        epochs: float = 3.0,
        learning_rate: float = 1e-5,
        eval_ratio: float = 0.2,
        seed: int = 42,
    ) -> None:
        """`model_name` is a folder or an id of the hub; "scratch" is a small encoder with fresh weights."""
        self.model_name = model_name
        self.data_path, self.output_dir = Path(data_path).expanduser(), Path(output_dir).expanduser()
        self.settings = ProgressSettings(
            model_name, max_length, batch_size, float(epochs), learning_rate, eval_ratio, seed
        )

    @property
    def model(self) -> Any:
        """The network that was trained, else the one that training begins with; loaded at each access."""
        return self._load()[0]

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the model."""
        return self._load()[1]

    def _load(self) -> tuple[Any, Any]:
        settings = self.settings
        if (self.output_dir / "config.json").is_file():
            settings = replace(settings, model_name=str(self.output_dir))
        return load_start(transformers_library(), [], settings)

    def train(self) -> dict[str, Any]:
        """Train, write model and tokenizer to the output folder, and say how to use them; returns the errors."""
        errors = train_progress(self.data_path, self.output_dir, self.settings)
        print(f"written to {self.output_dir}; to use it: export LEANPROGRESS_MODEL={self.output_dir}")
        return errors


def _lora_options(config: Any, lr: float) -> LoraOptions:
    """Return the adapters that a `peft.LoraConfig` or `LoraOptions` ask for; none without."""
    if config is None:
        return LoraOptions()
    if isinstance(config, LoraOptions):
        return replace(config, lora_lr=lr)
    # peft makes a set of a list; sorted, the settings of the passes are the same in each run.
    modules = config.target_modules or "q,k,v,o"
    if not isinstance(modules, str):
        modules = ",".join(sorted(modules))
    return LoraOptions(config.r, float(config.lora_alpha), modules, float(config.lora_dropout), lr)


def _last_metrics(run: Path) -> dict[str, float]:
    """Return the last value of each metric of a run."""
    metrics: dict[str, float] = {}
    for record in read_jsonl(run / "metrics.jsonl"):
        metrics |= {name: value for name, value in record.items() if isinstance(value, int | float)}
    return metrics


def _pass_names(repos: Sequence[Any], database: Database | None) -> list[str]:
    """Return the folders of the passes in their order; without a database there is one, over the export that is there.

    Numbered, as a pass goes on from the one before: in another order they are others.
    """
    if database is None:
        return ["000_data"]
    return [f"{number:03d}_{_name(repo)}" for number, repo in enumerate(repos)]


def _name(repo: Any) -> str:
    """Return a name for a folder: of a repository's name, or of its URL."""
    if isinstance(repo, dict):
        name = repo.get("name") or repo.get("url")
    else:
        name = getattr(repo, "name", None) or getattr(repo, "url", None)
    return cut_name(re.sub(r"[^\w.-]+", "_", str(name or repo)).strip("._"), from_end=True) or "repository"


def publish(checkpoint: Path, output_dir: Path) -> None:
    """Copy a checkpoint to the output folder without the optimizer's state, each file whole or not at all."""
    output_dir.mkdir(parents=True, exist_ok=True)
    for file in sorted(checkpoint.iterdir()):
        if file.is_file() and file.name != OPTIMIZER_FILE:
            # A prover may be loading the folder.
            fresh = output_dir / f".{file.name}.tmp"
            shutil.copyfile(file, fresh)
            os.replace(fresh, output_dir / file.name)


class RetrievalTrainer:
    """Trains a premise retriever on repositories, one more repository in each pass, each from the last one's result."""

    def __init__(self, config: Any = None, output_dir: str | Path = "raid/retriever") -> None:
        """`config` is a TrainingConfig (by default a plain one), or any object or dict with such fields: `model_name`,
        `lr`, `warmup_steps`, `max_seq_len`, `batch_size`, `accumulate_grad_batches`, `gradient_clip_val`,
        `num_negatives`, `num_in_file_negatives`, `max_epochs`, `early_stopping_patience`, `seed`; what is missing is as
        of `python -m nanoproof.retrieval train`. `model_name` is an id of the hub or a folder of transformers, or what
        `--encoder` takes. Raises UserError for fields that cannot be heeded.
        """
        self.config = TrainingConfig() if config is None else flat(config)
        self.output_dir = Path(output_dir).expanduser()
        refuse_unread(self.config)
        self.data_path: Path | None = None

    def train(
        self,
        repos: Sequence[Any],
        database: Database | None,
        data_path: str | Path = "raid/data/merged",
        model_checkpoint_path: str | Path | None = None,
    ) -> dict[str, float]:
        """Train on the repositories in their order: in each pass on all so far, exported to `data_path`.

        Without a database a single pass is made on the export that is there. The first pass starts from
        `model_checkpoint_path`, or from the config's model. `output_dir` has the retriever after each pass; returns
        the scores on `val` of the last one. A call that was killed goes on with the pass that was not over. Raises
        UserError for data and models that cannot be used.
        """
        if database is not None and not repos:
            raise UserError("there are no repositories to train on: set one up first")
        self.data_path = data = Path(data_path).expanduser()
        refuse_unread(self.config)  # once more: scripts change fields between
        source = str(model_checkpoint_path or self._encoder())
        settings = {"from": source, "options": asdict(self._options()), "max_tokens": self._field("max_seq_len", None)}
        begin_passes(self.output_dir / PASSES, settings)
        scores: dict[str, float] = {}
        for number, name in enumerate(_pass_names(repos, database)):
            run = self.output_dir / PASSES / name
            if not (run / FINISHED).exists():
                if database is not None:
                    database.export_merged_data(list(repos[: number + 1]), data)
                shutil.rmtree(run, ignore_errors=True)  # what a killed pass left: it begins anew, from `source`
                encoder = open_encoder(source, self._field("max_seq_len", None), choose_device()[0])
                part = read_source(str(data)).data("random")
                best = train_retriever(encoder, [part], self._options(), run, {"encoder": source})
                # A repository may have nothing for validation; the pass is over all the same.
                scores = {} if best is None or best.scores is None else asdict(best.scores)
                atomic_write_json(run / FINISHED, scores)
            scores = read_json(run / FINISHED)
            for folder in (ENCODER_FOLDER, INDEX_FOLDER):
                shutil.copytree(run / folder, self.output_dir / folder, dirs_exist_ok=True)
            shutil.copyfile(run / RETRIEVER_FILE, self.output_dir / RETRIEVER_FILE)
            source = str(run)
        return scores

    def evaluate(self, dataset_path: str | Path | None = None) -> dict[str, float]:
        """Return R@1 and R@10 (percent) and MRR on `random/test.json` of a data set, by default the one trained on.

        A folder of several data sets gives the scores of the last one; each is printed.
        """
        path = self.data_path if dataset_path is None else Path(dataset_path).expanduser()
        if path is None:
            raise UserError("evaluate needs a data set: train first, or name one")
        folders = [path]
        if path.is_dir() and not (path / CORPUS).is_file():
            # Where there is none, `read_source` says what is missing.
            folders = sorted(file.parent for file in path.glob(f"*/{CORPUS}")) or folders
        ranks = EncoderRanks(open_encoder(str(self.output_dir), None, choose_device()[0]))
        by_name: dict[str, float] = {}
        for folder in folders:
            source = read_source(str(folder))
            scores, _ = evaluate(ranks, source.corpus, source.queries("random", "test"))
            print(f"{folder}: {scores}")
            by_name = {"R@1": scores.recall_at_1, "R@10": scores.recall_at_10, "MRR": scores.mrr}
        return by_name

    def _field(self, name: str, default: Any) -> Any:
        if isinstance(self.config, dict):
            value = self.config.get(name)
        else:
            value = getattr(self.config, name, None)
        return default if value is None else value

    def _encoder(self) -> str:
        name = self._field("model_name", None)
        if name is None:
            raise UserError("name what to start from: model_name of the config, or model_checkpoint_path")
        ours = retriever_folder(str(name)) is not None or str(name).startswith(PREFIX)
        # A checkpoint of a policy of ours: its network makes an encoder too.
        ours = ours or bool(sorted(Path(str(name)).expanduser().glob("model_*.json")))
        return str(name) if ours else f"{PREFIX}{name}"

    def _options(self) -> TrainOptions:
        plain = TrainOptions()
        return TrainOptions(
            epochs=self._field("max_epochs", plain.epochs),
            batch_size=self._field("batch_size", plain.batch_size),
            accumulate=self._field("accumulate_grad_batches", plain.accumulate),
            lr=self._field("lr", plain.lr),
            warmup_steps=self._field("warmup_steps", plain.warmup_steps),
            max_grad_norm=self._field("gradient_clip_val", plain.max_grad_norm),
            num_negatives=self._field("num_negatives", plain.num_negatives),
            num_in_file_negatives=self._field("num_in_file_negatives", plain.num_in_file_negatives),
            patience=self._field("early_stopping_patience", plain.patience),
            seed=self._field("seed", plain.seed),
        )
