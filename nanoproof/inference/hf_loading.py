"""Loading networks and tokenizers of transformers, with or without adapters of peft: every weight, or one line.

transformers draws at random what a folder lacks, and peft leaves adapters as they were made (at zero): both with a
warning. A score of such a network says nothing, so here every weight comes from the files, and a UserError names those
that do not. All that loads a network of transformers does it here.
"""

import logging
import pickle
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import safetensors
import torch

from nanoproof.common.distributed import is_out_of_memory
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_object
from nanoproof.inference.hf_folders import (
    ADAPTER_FILE,
    GENERATION_FILE,
    TOKENIZER_FILE,
    damaged_file,
    refuse_no_model,
    refuse_other_forms,
    refuse_out_of_reach,
)
from nanoproof.inference.model_options import HFOptions

log = logging.getLogger(__name__)

LINE = 300
"""Most characters of another library's message that are shown."""
NAMES_SHOWN = 2
"""So many weights are named; of the others their number."""
Head = Literal["own", "fresh", "none"]
"""What becomes of the layers on top of a body: they are the files' like all others; training begins with fresh ones; or
there are none, and those of other tasks in the files do not matter."""


def transformers_library() -> Any:
    """Import transformers. Raises UserError where it is not installed."""
    if find_spec("transformers") is None:
        raise UserError("models hf: need transformers, which is not installed: pip install 'nanoproof[hf]'")
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def peft_library() -> Any:
    """Import peft. Raises UserError where it is not installed."""
    if find_spec("peft") is None:
        raise UserError("adapters of models hf: need peft, which is not installed: pip install 'nanoproof[hf]'")
    import peft

    return peft


_TERMINAL = re.compile(r"\x1b\[[0-9;]*m")


def first_line(error: BaseException) -> str:
    """Return what an error says in one line: the first of its message, with the next where that one only announces it.

    torch's "Error(s) in loading state_dict for X:" says what is wrong on the lines below.
    """
    if isinstance(error, pickle.UnpicklingError):
        return "its pickled weights are damaged, or hold more than numbers, which is not read"
    lines = [_TERMINAL.sub("", line).strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    text = lines[0]
    for line in lines[1:]:
        if not text.endswith(":"):
            break
        text = f"{text} {line}"
    if isinstance(error, LookupError | AttributeError | TypeError | AssertionError):
        text = f"{type(error).__name__}: {text}"  # alone they are a name, or words about Python
    return text[:LINE]


@contextmanager
def loading(name: str, problem: str = "cannot be loaded", folder: str | Path = "") -> Iterator[None]:
    """Turn whatever fails while files of a model are read into a UserError of one line that begins with `name`.

    It names the file of `folder` that is damaged, if there is one. What damage makes transformers, peft, tokenizers,
    safetensors, jinja and pickle raise has no common class: tokenizers raises bare Exceptions, and its Rust code a
    PanicException, which is none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if folder:
                refuse_out_of_reach(str(folder))
            yield
    except UserError:
        raise
    except BaseException as error:
        if is_out_of_memory(error):
            raise UserError(
                f"{name} does not fit into the memory that is free ({first_line(error)}); with --dry-run "
                "python -m nanoproof.rl says what training it takes"
            ) from error
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = first_line(error)
        if "contains custom code" in reason:
            reason = "it needs code that comes with it, which never runs here; give one that transformers has code for"
        if folder:
            damaged = damaged_file(Path(folder))
            if damaged:
                reason = f"{damaged}: {reason}"
        raise UserError(f"{name} {problem}: {reason}") from error


# -- Weights ---------------------------------------------------------------------------------------------------------

_WRAPPER = re.compile(r"^(?:(?:module|_orig_mod|_fsdp_wrapped_module|base_model\.model|pretrained_model)\.)+")
"""What distributed training, torch.compile, FSDP, peft and trl put before the names of weights."""
_INNER_WRAPPER = re.compile(r"(?:_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")
"""What they put before the names inside of a part that was wrapped by itself."""
_ADAPTED = re.compile(r"\.base_layer\.")
"""What peft puts between a layer with adapters and its own weights."""
_UNMERGED = re.compile(r"\.lora_[AB]\.\w+\.weight$")
"""Adapters as they are in a network: a file of adapters leaves the part with their name out."""
_ADAPTER_NAME = re.compile(r"(?<=\.lora_[AB])\.default(?=\.weight$)")
"""What a state dict has in the names of adapters, and peft's own files leave out."""
_TWICE = re.compile(r"^model\.")
"""What a trainer's own module puts before the names, as Lightning's does."""

_TABLE = re.compile(r"\.(?:attn|attention)\.(?:bias|masked_bias|causal_mask)$|\.rotary_emb\.(?:inv_freq|\w+_cached)$")
"""Masks and tables of positions that older versions of transformers saved beside the weights, of GPT-2's kind say."""


def load_weights(kind: Any, source: str, head: Head = "own", name: str | None = None, **how: Any) -> Any:
    """Return `kind.from_pretrained(source, **how)`, each weight of which is of the files; code of theirs never runs.

    Known prefixes of names are taken off, which is logged. Raises UserError, which begins with `name`, for weights that
    are missing, that nothing asks for, of other sizes, or not finite; and what transformers raises.
    """
    # Mismatched sizes are ignored by transformers, and refused below: its own error does not say all of them.
    how = {**how, "trust_remote_code": False, "output_loading_info": True, "ignore_mismatched_sizes": True}
    name = name or f"hf:{source}"
    network, report = kind.from_pretrained(source, **how)
    renaming = _renaming(report["unexpected_keys"], report["missing_keys"])
    if renaming:
        taken_off: set[str] = set()
        for weight in report["unexpected_keys"]:
            taken_off.update(part for pattern in renaming for part in _parts(pattern, weight))
        network, report = kind.from_pretrained(source, key_mapping=renaming, **how)
        log.warning("%s: its weights' names were read without %s", name, ", ".join(sorted(taken_off)))
    # What is missing transformers draws at random, with a line in a log: "hf:" once evaluated random weights so.
    missing = [weight for weight in report["missing_keys"] if head == "own" or _of_body(network, weight)]
    unexpected = []
    for weight in report["unexpected_keys"]:
        if _TABLE.search(weight) is None and (head == "own" or _of_body(network, weight)):
            unexpected.append(weight)
    mismatched = {}
    for weight, there, wanted in report["mismatched_keys"]:
        if head != "fresh" or _of_body(network, weight):
            mismatched[weight] = (tuple(there), tuple(wanted))
    refuse_others(f"{name}: its weights are not those of a {type(network).__name__}", missing, unexpected, mismatched)
    refuse_not_finite(name, dict(network.named_parameters()))
    return network


def _renaming(unexpected: Collection[str], missing: Collection[str]) -> dict[str, str]:
    """Return patterns and what replaces them, in order, that make names known which nothing asks for; {} for none."""
    renaming: dict[str, str] = {}
    names = list(unexpected)
    for pattern, replacement in ((_WRAPPER, ""), (_INNER_WRAPPER, ""), (_ADAPTED, ".")):
        renamed = [pattern.sub(replacement, name) for name in names]
        if renamed != names:
            renaming[pattern.pattern] = replacement
        names = renamed
    if any(_TWICE.sub("", name) in missing and name not in missing for name in names):
        renaming[_TWICE.pattern] = ""
    # Any other prefix, such as `policy.`, without which all that nothing asks for is missing.
    for dot in re.finditer(r"\.", "".join(names[:1])):
        prefix = names[0][: dot.end()]
        if not renaming and {name.removeprefix(prefix) for name in names} <= set(missing):
            renaming[f"^{re.escape(prefix)}"] = ""
    return renaming


def _parts(pattern: str, name: str) -> list[str]:
    """Return the parts of a name that a pattern takes off, for a person."""
    return [f"`{match[0].strip('.')}.`" for match in re.finditer(pattern, name)]


def _of_body(network: Any, name: str) -> bool:
    """Tell whether a weight belongs to a network's body, and not to a head.

    BERT's pooler counts as a head: means of hidden states do not read it, and many files of encoders lack it.
    """
    body = network.base_model
    first = name.removeprefix(f"{network.base_model_prefix}.").partition(".")[0]
    return first != "pooler" and first in dict(body.named_children())


def refuse_others(
    message: str,
    missing: Collection[str],
    unexpected: Collection[str],
    mismatched: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]],
) -> None:
    """Raise UserError for weights that do not fit, by name; `mismatched` has sizes in the files and those expected."""
    problems = []
    if missing:
        problems.append(f"missing: {_listed(missing)}")
    if unexpected:
        problems.append(f"nothing asks for: {_listed(unexpected)}")
        if any(_UNMERGED.search(name) for name in unexpected):
            problems.append("adapters that were never merged (merge_and_unload())")
    if mismatched:
        sizes = [f"{name} is {there}, expected {wanted}" for name, (there, wanted) in mismatched.items()]
        problems.append(f"of other sizes: {_listed(sizes)}")
    if problems:
        raise UserError(f"{message}; {'; '.join(problems)}")


def _refuse_unscaled_integers(folder: Path, config: Any) -> None:
    """Raise UserError for weights in whole numbers where nothing says how they are scaled.

    transformers takes files without `quantization_config` for the weights themselves, and scores are of noise.
    """
    if getattr(config, "quantization_config", None) is not None:
        return
    for file in sorted(folder.glob("*.safetensors")):
        with safetensors.safe_open(file, "pt") as weights:
            names = weights.keys()
            for name in names:
                kind = weights.get_slice(name).get_dtype()
                # Tables of positions may be whole numbers.
                if kind[0] in "IU" and name.endswith("weight"):
                    raise UserError(
                        f"hf:{folder}: {name} is quantized ({kind}), and config.json has no quantization_config that "
                        "says how (MLX's is not read): give the model as its tool wrote it, or in floating point"
                    )


def _listed(names: Collection[str]) -> str:
    shown = sorted(names)[:NAMES_SHOWN]
    text, others = ", ".join(shown), len(names) - len(shown)
    if others:
        text += f" and {others} more"
    return text


def refuse_not_finite(name: str, weights: Mapping[str, torch.Tensor]) -> None:
    """Raise UserError if a weight has NaN or infinity, as those of a run that diverged have."""
    for weight, parameter in weights.items():
        if parameter.is_meta or not parameter.is_floating_point() or parameter.element_size() == 1:
            continue  # left on disk by accelerate, or quantized
        if not bool(torch.isfinite(parameter).all()):
            raise UserError(f"{name}: the weight {weight} has values that are not finite (NaN or infinity)")


# -- Models ----------------------------------------------------------------------------------------------------------


def load_tokenizer(library: Any, source: str, name: str | None = None) -> Any:
    """Load the tokenizer of a model; adapters without one have that of their base.

    Raises UserError, which begins with `name`.
    """
    name = name or f"hf:{source}"
    with loading(name, "has no tokenizer that can be loaded", source):
        base = adapter_base(source)
        if base is not None and not (Path(source) / TOKENIZER_FILE).is_file():
            return load_tokenizer(library, base)
        folder = Path(source)
        settings = (TOKENIZER_FILE, "special_tokens_map.json", "added_tokens.json")
        kinds = ("*token*", "*vocab*", "*.model", "*.tiktoken")
        files = {file.name for kind in kinds for file in folder.glob(kind)}
        # ByT5's kind has settings alone.
        named = (read_object(folder / TOKENIZER_FILE) or {}).get("tokenizer_class")
        if folder.is_dir() and files <= {*settings} and not (files and named in _WITHOUT_FILE):
            # The library's own message lists all that it could have been made from.
            raise UserError(f"{name} has no tokenizer (tokenizer.json, say): copy that of the model it came from")
        tokenizer = library.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        return _as_in_file(library, tokenizer, source)


_WITHOUT_FILE = ("ByT5Tokenizer", "PerceiverTokenizer", "CanineTokenizer")
_PROBE = "theorem t (a b : ℕ) : a + b = b + a := by\n  rw [add_comm, h.2] -- 12\n\n\t⟨x, hx⟩ don't"


def _as_in_file(library: Any, tokenizer: Any, source: str) -> Any:
    """Return a tokenizer that cuts texts as its tokenizer.json says, which is what its network was trained with.

    Some classes of transformers 5 put a way of their own in its place: that which DeepSeek-Prover's files name lost all
    blanks in the first versions (huggingface/transformers#45488), others cut digits or signs otherwise.
    """
    file = Path(source) / "tokenizer.json"
    if not Path(source).is_dir():
        from huggingface_hub import try_to_load_from_cache

        file = Path(str(try_to_load_from_cache(source, "tokenizer.json")))  # no file for "None" either
    if not file.is_file() or not tokenizer.is_fast:
        return tokenizer
    plain = library.PreTrainedTokenizerFast.from_pretrained(source, trust_remote_code=False)
    if _reading(tokenizer) == _reading(plain):
        return tokenizer
    log.warning("hf:%s: texts are cut as its tokenizer.json says, not as a %s does", source, type(tokenizer).__name__)
    return plain


def _reading(tokenizer: Any) -> Any:
    """Return what a tokenizer makes of a text, and of that again."""
    try:
        tokens = tokenizer(_PROBE)["input_ids"]
        return tokens, tokenizer.decode(tokens, clean_up_tokenization_spaces=False)
    except Exception as error:  # those of Rust are bare
        return str(error)


def load_settings(library: Any, source: str) -> Any:
    """Load the settings of a network, of adapters those of their base: the first moment of loading it.

    Raises UserError for what is no folder or id of a model.
    """
    with loading(f"hf:{source}", folder=source):
        refuse_no_model(source)
        _refuse_circle(source)
        base = adapter_base(source)
        if base is not None:
            return load_settings(library, base)
        return library.AutoConfig.from_pretrained(source, trust_remote_code=False)


def load_whole_settings(library: Any, source: str) -> Any:
    """Load the settings of a network as `load_settings` does; raises UserError for adapters, which are of another."""
    if adapter_base(source) is not None:
        raise UserError(
            f"hf:{source} holds adapters, which are read for models that write texts; give a whole model "
            "(merge_and_unload() of peft, then save_pretrained())"
        )
    return load_settings(library, source)


def load_network(library: Any, source: str, options: HFOptions, device: torch.device) -> tuple[Any, bool]:
    """Load a network, ready for inference, adapters merged into it; also returns whether it writes texts.

    Raises UserError for what cannot be loaded.
    """
    config = load_settings(library, source)
    with loading(f"hf:{source}", folder=source):
        base = adapter_base(source)
        if base is not None:
            network, writes = load_network(library, base, options, device)
            network = load_adapters(library, network, source)
            # Merged, a step has no products more; into weights of 4 bits they would be rounded away.
            if not options.load_4bit:
                network = _merged(network)
            return network.eval(), writes
        return _load_whole(library, source, config, options, device)


def _load_whole(library: Any, source: str, config: Any, options: HFOptions, device: torch.device) -> tuple[Any, bool]:
    refuse_other_forms(Path(source))
    _refuse_unscaled_integers(Path(source), config)
    names = " ".join(config.architectures or ())
    writes = "ForCausalLM" in names or "LMHead" in names or "ForConditionalGeneration" in names
    head: Head = "own"
    if not writes:
        kind, head = encoder_class(library, config), "none"
    elif config.is_encoder_decoder:
        kind = library.AutoModelForSeq2SeqLM
    else:
        kind = library.AutoModelForCausalLM
    dtype: Any = "auto"
    if options.dtype != "auto":
        dtype = getattr(torch, options.dtype)
    elif device.type == "cpu" and options.device_map is None:
        dtype = torch.float32  # what files hold is mostly bf16, which few CPUs compute in
    how: dict[str, Any] = {"dtype": dtype}
    if options.device_map is not None:
        how["device_map"] = options.device_map
    if options.load_4bit:
        if find_spec("bitsandbytes") is None or device.type != "cuda":
            raise UserError("--model-load-4bit needs a GPU and the package bitsandbytes")
        compute = dtype
        if dtype == "auto":
            compute = torch.bfloat16
        how["quantization_config"] = library.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=compute)
        how.setdefault("device_map", {"": device})
    network = load_weights(kind, source, head, config=config, **how)
    if "device_map" not in how:
        network = network.to(device)
    return network.eval(), writes


def writes_nothing(network: Any) -> str:
    """Say of a network that it writes no texts, by what its settings call it."""
    names = ", ".join(network.config.architectures or ()) or "of no kind that its config.json names (architectures)"
    return f"is {names}, which writes no texts: give a model with a language-model head (...ForCausalLM)"


def encoder_class(library: Any, config: Any) -> Any:
    """Return the class of transformers that loads the body of a network alone, or its encoder where that is one."""
    # Of T5, say, the encoder alone: ReProver's retriever is one, and has no decoder's weights.
    if type(config) in library.AutoModelForTextEncoding._model_mapping:
        return library.AutoModelForTextEncoding
    return library.AutoModel


# -- Adapters --------------------------------------------------------------------------------------------------------

_PEFT_PREFIX = "base_model.model."
"""What all names in a file of adapters begin with."""


def adapter_base(source: str) -> str | None:
    """Return the base of the adapters in a folder, a folder or an id of the hub; None if it holds no adapters.

    A relative path is one from the adapters' folder, else from here. Raises UserError if there is none.
    """
    file = Path(source) / ADAPTER_FILE
    if not file.is_file():
        return None
    about, base = read_json(file), None
    if isinstance(about, dict):
        base = about.get("base_model_name_or_path")
    if not isinstance(base, str) or not base:
        raise UserError(f"{file} names no base_model_name_or_path, the model that its adapters are for")
    path = Path(base.removeprefix("hf:")).expanduser()
    for folder in (Path(source) / path, path):
        if folder.resolve() == Path(source).resolve():
            raise UserError(f"{file} names itself as the base; correct its base_model_name_or_path")
        if folder.is_dir():
            return str(folder)
    if base.startswith((".", "/", "~")) or base.count("/") > 1:
        raise UserError(f"{file} names the base {base}, which is not there; correct its base_model_name_or_path")
    return str(path)


def _refuse_circle(source: str) -> None:
    """Raise UserError for adapters whose base has adapters, and so on, back to a folder that was seen."""
    seen: list[Path] = []
    base: str | None = source
    while base is not None:
        folder = Path(base).resolve()
        if folder in seen:
            raise UserError(f"hf:{source}: the adapters in {folder} are, over their bases, for themselves")
        seen.append(folder)
        base = adapter_base(base)


def load_adapters(library: Any, network: Any, source: str, trainable: bool = False) -> Any:
    """Put the adapters of a folder into their base, whose vocabulary grows to theirs; returns peft's network.

    Raises UserError for adapters that are missing, damaged, or of another base.
    """
    peft = peft_library()
    if not any((Path(source) / f"adapter_model{suffix}").is_file() for suffix in (".safetensors", ".bin")):
        raise UserError(f"hf:{source} has an {ADAPTER_FILE}, and no adapter_model.safetensors with the adapters")
    with loading(f"hf:{source}", folder=source):
        weights = _without_wrappers(source, peft.load_peft_weights(source, device="cpu"))
        tables = _fit_vocabulary(library, network, source, weights)
    with loading(f"hf:{source}", f"has adapters that do not go into their base as its {ADAPTER_FILE} says"):
        config = peft.PeftConfig.from_pretrained(source)
        if config.is_prompt_learning:
            raise UserError(f"hf:{source} holds {config.peft_type.value}: tokens of no text, which are not read here")
        _refuse_lost_base(source, config)
        config.inference_mode = not trainable
        adapted = peft.get_peft_model(network, config)
    with loading(f"hf:{source}"):
        wanted = peft.get_peft_model_state_dict(adapted, save_embedding_layers=False)
        mismatched = {}
        for name in wanted.keys() & weights.keys():
            if wanted[name].shape != weights[name].shape:
                mismatched[name] = (tuple(weights[name].shape), tuple(wanted[name].shape))
        # peft saves the embeddings of a vocabulary that grew, trained or not, under several names.
        of_tables = {name for name in weights if name.startswith(tables)}
        unexpected = weights.keys() - wanted.keys() - of_tables
        message = f"hf:{source}: these adapters are not for the base {network.name_or_path}"
        refuse_others(message, wanted.keys() - weights.keys(), unexpected, mismatched)
        peft.set_peft_model_state_dict(adapted, weights)
        if (Path(source) / GENERATION_FILE).is_file():  # what ends a text of these adapters
            network.generation_config = library.GenerationConfig.from_pretrained(source)
    refuse_not_finite(f"hf:{source}", dict(adapted.named_parameters()))
    return adapted


def _refuse_lost_base(source: str, config: Any) -> None:
    """Raise UserError for adapters whose base nobody can make again, or that must know where in a text they begin."""
    start = getattr(config, "init_lora_weights", None)
    if isinstance(start, str) and start.startswith(("pissa_niter", "lora_ga")):
        raise UserError(
            f"hf:{source}: its adapters began as {start}, which changed their base in a way that is not saved: save "
            "them as adapters of the base itself (path_initial_model_for_weight_conversion of peft's save_pretrained)"
        )
    if getattr(config, "alora_invocation_tokens", None):
        raise UserError(
            f"hf:{source} holds adapters that begin behind a text of theirs (aLoRA), which are not read here"
        )


def _can_be_merged(adapted: Any) -> bool:
    """Tell whether adapters can be merged: not where layers share weights, as copies of one do, or lack a bias."""
    network = adapted.get_base_model()
    tables = {_own_layer(network.get_input_embeddings()), _own_layer(network.get_output_embeddings())}
    layers = {_own_layer(module) for module in network.modules() if hasattr(module, "get_base_layer")} - tables
    weights = [id(layer.weight) for layer in layers if hasattr(layer, "weight")]
    if len(set(weights)) < len(weights):
        return False
    brings_bias = getattr(adapted.active_peft_config, "lora_bias", False)
    return not brings_bias or all(getattr(layer, "bias", None) is not None for layer in layers)


def _own_layer(module: Any) -> Any:
    """Return a layer without the adapters around it."""
    return module.get_base_layer() if hasattr(module, "get_base_layer") else module


def _merged(adapted: Any) -> Any:
    """Merge adapters into their base. Those of embeddings or head alone would change both where they share a weight:
    the head gets one of its own.
    """
    if not _can_be_merged(adapted):
        return adapted
    network = adapted.get_base_model()
    tables = [network.get_input_embeddings(), network.get_output_embeddings()]
    layers = [_own_layer(table) for table in tables]
    embeddings, head = layers
    if layers != tables and head is not None and head.weight is embeddings.weight:
        head.weight = torch.nn.Parameter(head.weight.detach().clone())
    network = adapted.merge_and_unload()
    head = network.get_output_embeddings()
    # T5's kind also scales by this setting what its head reads.
    if head is not None and not network.config.is_encoder_decoder:
        network.config.tie_word_embeddings = head.weight is network.get_input_embeddings().weight
    return network


def _without_wrappers(source: str, weights: dict[str, Any]) -> dict[str, Any]:
    """Return adapters under the names that peft gives them."""
    renamed = {}
    for name, weight in weights.items():
        rest = _ADAPTER_NAME.sub("", _WRAPPER.sub("", _INNER_WRAPPER.sub("", name)))
        # Peft's own prefix is one that `_WRAPPER` takes off; a name without any is left as it is, and refused.
        if name.startswith(_PEFT_PREFIX) or rest != name:
            name = _PEFT_PREFIX + rest
        renamed[name] = weight
    if renamed.keys() != weights.keys():
        log.warning("hf:%s: its adapters' names were read without prefixes of distributed training", source)
    return renamed


def _tokens_of_base(library: Any, source: str) -> int:
    """Count the tokens of the tokenizer that comes with the base of adapters; 0 where none does."""
    base = adapter_base(source)
    try:
        return len(load_tokenizer(library, str(base)))
    except UserError:
        return 0


def _fit_vocabulary(library: Any, network: Any, source: str, weights: Mapping[str, Any]) -> tuple[str, ...]:
    """Give a base the vocabulary that its adapters were trained with: theirs, else at least that of their tokenizer.

    A token whose embedding they do not bring gets the mean of all, where transformers draws one at random. Returns what
    the names of adapters of embeddings and head begin with.
    """
    modules = [network.get_input_embeddings(), network.get_output_embeddings()]
    tables = tuple(f"{_PEFT_PREFIX}{name}." for name, module in network.named_modules() if module in modules)
    rows = modules[0].weight.shape[0]
    brought = []
    for name, weight in weights.items():
        if name.endswith(".lora_embedding_A"):
            brought.append(weight.shape[1])
        elif name.startswith(tables) and name.endswith(".weight") and ".lora_" not in name:
            brought.append(weight.shape[0])
    wanted = max(brought, default=rows)
    if not brought and (Path(source) / TOKENIZER_FILE).is_file():
        tokens = len(load_tokenizer(library, source))
        # Not where the base itself has more tokens than embeddings, one that pads say: they were trained beside it.
        if tokens > _tokens_of_base(library, source):
            wanted = max(rows, tokens)
    if wanted == rows:
        return tables
    network.resize_token_embeddings(wanted, mean_resizing=False)
    with torch.no_grad():
        for module in (network.get_input_embeddings(), network.get_output_embeddings()):
            if module is not None and wanted > rows:
                module.weight[rows:] = module.weight[:rows].mean(dim=0)
    if not brought and not any("trainable_tokens" in name for name in weights):
        new = wanted - rows
        log.warning("hf:%s: its tokenizer has %d tokens that nothing was trained for; they get the mean", source, new)
    return tables
