"""Loading of networks of transformers: every weight comes from the files, or one line names those that do not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from nanoproof.common.errors import UserError
from nanoproof.inference.hf_loading import load_adapters, load_network, load_tokenizer, transformers_library
from nanoproof.inference.model_options import HFOptions
from nanoproof.policy.steps_remaining import Scorer
from nanoproof.retrieval.encoders import open_encoder
from nanoproof.training.options import ProgressSettings
from nanoproof.training.progress import load_start
from tests.fakes.hf_models import save_decoder, save_encoder_decoder, save_other_decoder
from tests.helpers import NIGHTLY, Later

transformers: Any = Later("transformers")
peft: Any = Later("peft")

CPU = torch.device("cpu")
LAYER, HEAD = "model.layers.1.mlp.up_proj.weight", "lm_head.weight"
UNMERGED = "base_model.model.model.layers.0.mlp.up_proj.lora_A.default.weight"
Weights = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_decoder(tmp_path_factory.mktemp("decoder"))


@pytest.fixture
def copy(decoder: Path, tmp_path: Path) -> Path:
    shutil.copytree(decoder, tmp_path / "copy")
    return tmp_path / "copy"


def rewrite(folder: Path, change: Callable[[Weights], Weights], name: str = "model.safetensors") -> Path:
    save_file(change(load_file(folder / name)), folder / name, metadata={"format": "pt"})
    return folder


def renamed(rename: Callable[[str], str]) -> Callable[[Weights], Weights]:
    return lambda weights: {rename(name): weight for name, weight in weights.items()}


def without(part: str) -> Callable[[Weights], Weights]:
    return lambda weights: {name: weight for name, weight in weights.items() if part not in name}


def as_shards(folder: Path, suffix: str) -> None:
    """Split the weights of a folder into two files and their index."""
    weights, where = load_file(folder / "model.safetensors"), {}
    (folder / "model.safetensors").unlink()
    stem = "model" if suffix == ".safetensors" else "pytorch_model"
    for number, part in enumerate((list(weights)[:9], list(weights)[9:])):
        file = folder / f"{stem}-0000{number + 1}-of-00002{suffix}"
        some = {name: weights[name] for name in part}
        where |= dict.fromkeys(part, file.name)
        save_file(some, file, metadata={"format": "pt"}) if suffix == ".safetensors" else torch.save(some, file)
    (folder / f"{stem}{suffix}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))


def network_of(folder: Path, prefix: str = "") -> Any:
    return load_network(transformers_library(), f"{prefix}{folder}", HFOptions(), CPU)[0]


def equal(first: Any, second: Any) -> bool:
    weights = second.state_dict()
    return all(torch.equal(value, weights[name]) for name, value in first.state_dict().items())


def set_config(folder: Path, file: str = "config.json", **values: Any) -> Path:
    settings_ = json.loads((folder / file).read_text()) | values
    (folder / file).write_text(json.dumps(settings_))
    return folder


@pytest.mark.parametrize(
    "rename",
    [
        lambda name: f"module.{name}",
        lambda name: f"_orig_mod.module.{name}",
        lambda name: f"module._orig_mod.{name}",
        lambda name: f"model.{name}",
        lambda name: f"module.model.{name}",
        lambda name: f"base_model.model.{name}".replace("q_proj.", "q_proj.base_layer."),
        lambda name: name.replace("layers.0.", "layers.0._orig_mod."),
        lambda name: "module." + name.removeprefix("model."),
        lambda name: f"policy.{name}",
    ],
)
def test_known_prefixes_are_taken_off(
    decoder: Path, copy: Path, rename: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    rewrite(copy, renamed(rename))
    assert equal(network_of(decoder), network_of(copy))
    said = [record.message for record in caplog.records if "names were read without" in record.message]
    assert len(said) == (0 if rename("x") == "model.x" else 1)  # transformers reads those as they are


@pytest.mark.parametrize("suffix", [".safetensors", ".bin"])
def test_shards_with_prefixes_are_read_and_without_a_shard_refused(decoder: Path, copy: Path, suffix: str) -> None:
    rewrite(copy, renamed(lambda name: f"module.{name}"))
    as_shards(copy, suffix)
    assert equal(network_of(decoder), network_of(copy))
    last = next(copy.glob(f"*-00002-of-00002{suffix}"))
    last.write_bytes(last.read_bytes()[:-300])
    with pytest.raises(UserError, match=f"cannot be loaded: {last.name} is damaged"):
        network_of(copy)
    last.unlink()
    with pytest.raises(UserError, match=last.name):
        network_of(copy)
    index = next(copy.glob("*.index.json"))
    index.write_text("{}")
    with pytest.raises(UserError, match=rf"{index.name} is damaged"):
        network_of(copy)
    index.unlink()
    with pytest.raises(UserError, match=r"-00001-of-00002\S+ is a part, and \w+\S+\.index\.json, .* is missing"):
        network_of(copy)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (renamed(lambda name: f"net{len(name) % 2}.{name}"), rf"missing: {HEAD}, .* 19 more; nothing asks for: net"),
        (without(LAYER), rf"missing: {LAYER}$"),
        (without(HEAD), rf"missing: {HEAD}$"),
        (lambda weights: weights | {"v_head.weight": torch.zeros(1)}, r"nothing asks for: v_head\.weight$"),
        (lambda weights: weights | {LAYER: torch.zeros(9, 4)}, rf"sizes: {LAYER} is \(9, 4\), expected \(64, 32\)$"),
        (lambda weights: weights | {LAYER: weights[LAYER] * torch.nan}, rf"weight {LAYER} has values .* not finite"),
        (lambda weights: weights | {UNMERGED: torch.ones(1)}, "never merged"),
        (lambda weights: weights | {LAYER: weights[LAYER].to(torch.int8)}, rf"{LAYER} is quantized \(I8\), .* config"),
        (lambda weights: weights | {LAYER: weights[LAYER].to(torch.uint32)}, rf"{LAYER} is quantized \(U32\), .*MLX"),
    ],
)
def test_weights_that_do_not_fit_are_refused_by_name(
    copy: Path, change: Callable[[Weights], Weights], message: str
) -> None:
    rewrite(copy, change)
    with pytest.raises(UserError, match=message) as caught:
        network_of(copy)
    assert str(caught.value).startswith(f"hf:{copy}: ") and "\n" not in str(caught.value)


def test_a_head_that_is_tied_to_the_embeddings_is_not_missing(decoder: Path, copy: Path) -> None:
    set_config(copy, tie_word_embeddings=True)
    rewrite(copy, without(HEAD))
    network = network_of(copy)
    assert torch.equal(network.lm_head.weight, network_of(decoder).model.embed_tokens.weight)
    rewrite(copy, renamed(lambda name: f"policy.{name}"))
    assert equal(network, network_of(copy))


def test_masks_that_older_versions_saved_beside_the_weights_are_none(tmp_path: Path) -> None:
    save_other_decoder(tmp_path, "gpt2")
    network, mask = network_of(tmp_path), torch.ones(1, 1, 4, 4)
    masks = {f"transformer.h.0.attn.{name}": mask.clone() for name in ("bias", "masked_bias")}
    rewrite(tmp_path, lambda weights: weights | masks)
    assert equal(network, network_of(tmp_path))


def test_an_encoder_needs_its_layers_and_not_the_heads_of_others(tmp_path: Path) -> None:
    whole = save_encoder_decoder(tmp_path / "whole")
    open_encoder(f"hf:{whole}")
    rewrite(whole, without("encoder.block.1"))
    with pytest.raises(UserError, match=r"missing: encoder\.block\.1"):
        open_encoder(f"hf:{whole}")


def test_a_model_of_steps_remaining_needs_its_head_and_training_begins_without(tmp_path: Path, decoder: Path) -> None:
    config = transformers.BertConfig(
        vocab_size=301, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2, num_labels=1
    )
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(decoder)
    tokenizer.pad_token = "</s>"
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"the progress model .*missing: bert\.pooler.* and 2 more"):
        Scorer(tmp_path)
    start = ProgressSettings(str(tmp_path))
    model, _ = load_start(transformers_library(), [], start)
    assert model.config.num_labels == 1
    rewrite(tmp_path, without(".layer.1."))
    with pytest.raises(UserError, match=r"--model-name .*missing: bert\.encoder\.layer\.1"):
        load_start(transformers_library(), [], start)


# -- adapters ----------------------------------------------------------------------------------------------------------


def save_adapters(base: Path, folder: Path, new_tokens: int = 0, **how: Any) -> torch.Tensor:
    """Save adapters that change something, with their tokenizer; returns the logits with them."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    tokenizer.add_tokens([f"<new {number}>" for number in range(new_tokens)])
    network = transformers.AutoModelForCausalLM.from_pretrained(base)
    if new_tokens:
        network.resize_token_embeddings(len(tokenizer))
    torch.manual_seed(1)
    how = {"target_modules": ["q_proj"], "init_lora_weights": False, **how}
    adapted = peft.get_peft_model(network, peft.LoraConfig(r=4, task_type="CAUSAL_LM", **how)).eval()
    adapted.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    set_config(folder, "adapter_config.json", base_model_name_or_path=str(base))
    with torch.no_grad():
        logits: torch.Tensor = adapted(input_ids=torch.tensor([[5, 6, len(tokenizer) - 1]])).logits
    return logits


@pytest.mark.parametrize(
    "how",
    [
        {"modules_to_save": ["embed_tokens", "lm_head"]},
        {"target_modules": ["q_proj", "embed_tokens"]},
        {"trainable_token_indices": [301, 302]},
    ],
)
def test_a_base_gets_the_vocabulary_of_its_adapters(decoder: Path, tmp_path: Path, how: dict[str, Any]) -> None:
    wanted = save_adapters(decoder, tmp_path, 2, **how)
    network = network_of(tmp_path)
    assert network.get_input_embeddings().weight.shape[0] == len(load_tokenizer(transformers_library(), str(tmp_path)))
    with torch.no_grad():
        logits = network(input_ids=torch.tensor([[5, 6, 302]])).logits
    torch.testing.assert_close(logits, wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("part", ["lm_head", "embed_tokens"])
def test_adapters_of_one_of_two_tied_tables_leave_the_other_alone(copy: Path, tmp_path: Path, part: str) -> None:
    set_config(copy, tie_word_embeddings=True)
    rewrite(copy, without(HEAD))
    wanted = save_adapters(copy, tmp_path / "adapters", target_modules=["q_proj", part])
    network = network_of(tmp_path / "adapters")
    network.save_pretrained(tmp_path / "merged")
    for loaded in (network, network_of(tmp_path / "merged")):
        with torch.no_grad():
            logits = loaded(input_ids=torch.tensor([[5, 6, 300]])).logits
        torch.testing.assert_close(logits, wanted, atol=1e-4, rtol=1e-4)
    assert not network.config.tie_word_embeddings


@pytest.mark.parametrize("how", [{"layer_replication": [[0, 2], [1, 2]]}, {"lora_bias": True}])
def test_adapters_that_cannot_be_merged_count_all_the_same(decoder: Path, tmp_path: Path, how: dict[str, Any]) -> None:
    wanted = save_adapters(decoder, tmp_path, **how)
    with torch.no_grad():
        logits = network_of(tmp_path)(input_ids=torch.tensor([[5, 6, 300]])).logits
    torch.testing.assert_close(logits, wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"init_lora_weights": "pissa_niter_2"}, "began as pissa_niter_2, which changed their base"),
        ({"alora_invocation_tokens": [5]}, r"aLoRA.*not read here"),
    ],
)
def test_adapters_whose_base_is_lost_are_refused(
    decoder: Path, tmp_path: Path, how: dict[str, Any], message: str
) -> None:
    save_adapters(decoder, tmp_path, **how)
    with pytest.raises(UserError, match=message):
        network_of(tmp_path)


def test_virtual_tokens_are_refused_by_their_name(decoder: Path, tmp_path: Path) -> None:
    network = transformers.AutoModelForCausalLM.from_pretrained(decoder)
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    peft.get_peft_model(network, config).save_pretrained(tmp_path)
    set_config(tmp_path, "adapter_config.json", base_model_name_or_path=str(decoder))
    with pytest.raises(UserError, match=r"holds PROMPT_TUNING: tokens of no text"):
        network_of(tmp_path)


def test_tokens_that_nothing_was_trained_for_get_the_mean_and_that_is_said(
    decoder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save_adapters(decoder, tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tokenizer.add_tokens(["<a>", "<b>"])
    tokenizer.save_pretrained(tmp_path)
    table = network_of(tmp_path).get_input_embeddings().weight
    torch.testing.assert_close(table[301:], table[:301].mean(dim=0).expand(2, -1))
    assert "has 2 tokens that nothing was trained for" in caplog.text


def test_a_model_for_which_memory_does_not_suffice_is_one_line(decoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 14.00 GiB")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", too_large)
    with pytest.raises(UserError, match=r"hf:.* does not fit into the memory that is free \(CUDA .*14\.00 GiB\); with"):
        network_of(decoder)


def test_a_model_with_code_of_its_own_is_refused_in_one_line(copy: Path) -> None:
    code = {"AutoConfig": "configuration_x.Config", "AutoModelForCausalLM": "modeling_x.Model"}
    set_config(copy, "config.json", model_type="of_its_own", auto_map=code)
    with pytest.raises(UserError, match=r"hf:.* cannot be loaded: it needs code that comes with it, which never runs"):
        network_of(copy)


def test_a_base_with_more_tokens_than_embeddings_is_as_its_adapters_were_trained(copy: Path, tmp_path: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(copy)
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    tokenizer.save_pretrained(copy)
    network = transformers.AutoModelForCausalLM.from_pretrained(copy)
    adapted = peft.get_peft_model(network, peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM"))
    adapted.save_pretrained(tmp_path / "adapters")
    tokenizer.save_pretrained(tmp_path / "adapters")
    table = network_of(tmp_path / "adapters").get_input_embeddings().weight
    assert torch.equal(table, network.get_input_embeddings().weight) and len(tokenizer) > len(table)


def test_a_relative_base_is_sought_beside_the_adapters_and_then_here(
    decoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(decoder, tmp_path / "base")
    adapters = tmp_path / "adapters"
    save_adapters(tmp_path / "base", adapters)
    set_config(adapters, "adapter_config.json", base_model_name_or_path="../base")
    network_of(adapters)
    set_config(adapters, "adapter_config.json", base_model_name_or_path="base")
    monkeypatch.chdir(tmp_path)
    network_of(adapters)
    for base, message in (("../gone", "which is not there"), (".", "itself"), (None, "names no base_model")):
        set_config(adapters, "adapter_config.json", base_model_name_or_path=base)
        with pytest.raises(UserError, match=message):
            network_of(adapters)


def test_adapters_of_adapters_load_and_a_circle_of_them_is_refused(decoder: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    save_adapters(decoder, first)
    save_adapters(decoder, second)
    set_config(second, "adapter_config.json", base_model_name_or_path=str(first))
    assert not equal(network_of(first), network_of(second))
    set_config(first, "adapter_config.json", base_model_name_or_path="../second")
    with pytest.raises(UserError, match="over their bases, for themselves"):
        network_of(second)


def test_adapters_that_do_not_fit_are_refused_by_name(decoder: Path, tmp_path: Path) -> None:
    save_adapters(decoder, tmp_path)
    name, good = "adapter_model.safetensors", (tmp_path / "adapter_model.safetensors").read_bytes()
    for rename in (lambda weight: f"module.{weight}", lambda weight: weight.replace(".weight", ".default.weight")):
        rewrite(tmp_path, renamed(rename), name)
        network_of(tmp_path)
        (tmp_path / name).write_bytes(good)
    cases: list[tuple[Callable[[Weights], Weights], str]] = [
        (without("layers.1."), r"missing: .*layers\.1\..*lora_A"),
        (renamed(lambda weight: weight.replace("q_proj", "z_proj")), r"nothing asks for: .*z_proj\.lora_A"),
        (lambda weights: {n: w[:, :2].clone() for n, w in weights.items()}, r"sizes: .*lora_A\.weight is \(4, 2\)"),
    ]
    for change, message in cases:
        (tmp_path / name).write_bytes(good)
        rewrite(tmp_path, change, name)
        with pytest.raises(UserError, match=message):
            network_of(tmp_path)
        with pytest.raises(UserError, match=message):
            load_adapters(transformers_library(), network_of(decoder), str(tmp_path), trainable=True)
    (tmp_path / name).unlink()
    with pytest.raises(UserError, match="no adapter_model"):
        network_of(tmp_path)


def test_folders_that_hold_no_model_say_what_they_are(copy: Path) -> None:
    weights = copy / "model.safetensors"
    with pytest.raises(UserError, match=r"hf:\./no-such: there is no such folder"):
        network_of(Path("no-such"), prefix="./")
    with pytest.raises(UserError, match=r"hf download a/b --revision v1 --local-dir DIR, then hf:DIR"):
        network_of(Path("a/b@v1"))
    with pytest.raises(UserError, match="is a file; give the folder"):
        network_of(weights)
    weights.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4932\n")
    with pytest.raises(UserError, match=r"model\.safetensors only points to a file of git LFS"):
        network_of(copy)
    settings = (copy / "config.json").read_bytes()
    (copy / "config.json").write_text(weights.read_text())
    with pytest.raises(UserError, match=r"config\.json only points to a file of git LFS"):
        network_of(copy)
    for name in ("checkpoint-100", "snapshots/0123abc"):
        inner = copy / name
        inner.mkdir(parents=True)
        (copy / "config.json").unlink(missing_ok=True)
        (inner / "config.json").write_bytes(settings)
        with pytest.raises(UserError, match=f"its models are in {name}: give one of these"):
            network_of(copy)
        shutil.rmtree(inner)
    (copy / "tokenizer.json").unlink()  # settings of a tokenizer are none
    with pytest.raises(UserError, match=r"has no tokenizer \(tokenizer\.json, say\)"):
        load_tokenizer(transformers_library(), str(copy))


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("prover-q4.gguf", r"GGUF, which is not read here: serve it \(llama-server -m FILE\) and give openai:"),
        ("zero_to_fp32.py", r"DeepSpeed: python zero_to_fp32\.py \. \. makes"),
        ("pytorch_model_fsdp_0/__0_0.distcp", r"FSDP: accelerate merge-weights"),
        ("consolidated.00.pth", r"give them in that of transformers"),
        ("weights.npz", r"weights of MLX"),
    ],
)
@pytest.mark.parametrize("has_config", [True, False])
def test_models_in_another_form_say_in_which(copy: Path, file: str, message: str, has_config: bool) -> None:
    (copy / "model.safetensors").unlink()
    if not has_config:
        (copy / "config.json").unlink()
    (copy / file).parent.mkdir(exist_ok=True)
    (copy / file).write_bytes(b"GGUF")
    with pytest.raises(UserError, match=message):
        network_of(copy)
    if file.endswith(".gguf"):
        with pytest.raises(UserError, match=message):
            network_of(copy / file)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("https://huggingface.co/owner/name/tree/main", "is a page; give hf:owner/name$"),
        ("owner/name:Q4_K_M", "there is no such folder, and it is no id of the hub, which are OWNER/NAME"),
        ("runs/sft/last", "there is no such folder, and it is no id of the hub"),
    ],
)
def test_what_is_neither_folder_nor_id_is_said(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_network(transformers_library(), spec, HFOptions(), CPU)


@pytest.mark.parametrize("named", ["Qwen2Tokenizer", "LlamaTokenizerFast"])
def test_texts_are_cut_as_the_file_of_a_tokenizer_says_and_not_as_its_class_does(
    copy: Path, named: str, caplog: pytest.LogCaptureFixture
) -> None:
    from tokenizers import Tokenizer, pre_tokenizers

    cut = Tokenizer.from_file(str(copy / "tokenizer.json"))
    pieces = [pre_tokenizers.Split(" ", "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    cut.pre_tokenizer = pre_tokenizers.Sequence(pieces)
    cut.save(str(copy / "tokenizer.json"))
    set_config(copy, "tokenizer_config.json", tokenizer_class=named)
    text = "theorem t (a : ℕ) : a + 12 = a\n  := by rw [h]"
    tokenizer = load_tokenizer(transformers_library(), str(copy))
    assert tokenizer(text)["input_ids"] == cut.encode(text).ids and tokenizer.eos_token == "</s>"
    assert tokenizer.decode(cut.encode(text).ids) == text
    theirs = transformers.AutoTokenizer.from_pretrained(copy)(text)["input_ids"]
    assert ("as its tokenizer.json says" in caplog.text) == (theirs != cut.encode(text).ids)


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adapters(decoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adapters")
    save_adapters(decoder, folder)
    return folder


FILES = ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"]
ADAPTER_FILES = ["adapter_config.json", "adapter_model.safetensors", "pytorch_model.bin"]
WRONG = [b"[" * 3000, b"[]", b"null", b'{"a": 1}', b"\xff\xfe", b"-1", b'"x"']
JUNK = st.one_of(st.binary(max_size=8), st.sampled_from(WRONG))


@given(st.sampled_from(FILES + ADAPTER_FILES), st.integers(0, 10**6), JUNK, st.booleans())
@settings(max_examples=25 * NIGHTLY, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_folder_loads_or_is_refused_in_one_line(
    decoder: Path, adapters: Path, tmp_path: Path, file: str, at: int, junk: bytes, insert: bool
) -> None:
    source, folder = adapters if file.startswith("adapter") else decoder, tmp_path / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    if file == "pytorch_model.bin":
        torch.save(load_file(folder / "model.safetensors"), folder / file)
        (folder / "model.safetensors").unlink()
    content = (folder / file).read_bytes()
    at %= len(content)
    (folder / file).write_bytes(content[:at] + junk + content[at:] if insert else content[:at] + junk)
    try:
        network_of(folder)
        load_tokenizer(transformers_library(), str(folder))
    except UserError as error:
        assert "\n" not in str(error) and len(str(error)) < 900
