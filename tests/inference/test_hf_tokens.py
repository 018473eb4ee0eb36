"""Texts as tokens of models of transformers: what ends a text, chat templates, and texts that have no tokens."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from nanoproof import sft
from nanoproof.common.errors import UserError
from nanoproof.data.weighted_rows import Row, write_rows
from nanoproof.inference.hf_model import HFModel, Loaded
from nanoproof.inference.hf_tokens import PromptCodec, end_of_turn, record_end, special_tokens, trained_end
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.search.policy import BadState
from tests.fakes.hf_models import CHAT_TEMPLATE, byte_level_tokenizer, save_decoder
from tests.helpers import Later

transformers: Any = Later("transformers")

TURNS = "<turn>", "<of the settings>", "<of the tokenizer>"
PROMPT = "theorem a : True := by\n"


def save_disagreeing(folder: Path) -> Path:
    """A decoder whose settings, tokenizer and chat template each end a text with another token."""
    save_decoder(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": list(TURNS)})
    tokenizer.eos_token = TURNS[2]
    tokenizer.chat_template = CHAT_TEMPLATE.replace("\n{% endfor", TURNS[0] + "\n{% endfor")
    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    network.resize_token_embeddings(len(tokenizer))
    with torch.no_grad():  # as sharp as the others, so that adapters below the head can reach them
        network.lm_head.weight[-3:].normal_(std=0.4)
    network.generation_config.eos_token_id = tokenizer.convert_tokens_to_ids(TURNS[1])
    network.config.eos_token_id = 0
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_disagreeing(tmp_path_factory.mktemp("disagreeing"))


def loaded(folder: Path) -> tuple[Any, Any]:
    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    return network, transformers.AutoTokenizer.from_pretrained(folder)


def test_a_text_ends_with_any_token_that_settings_tokenizer_or_template_end_one_with(folder: Path) -> None:
    network, tokenizer = loaded(folder)
    numbers = tokenizer.convert_tokens_to_ids([TURNS[1], "</s>", TURNS[2], TURNS[0]])
    assert special_tokens(network, tokenizer)[0] == numbers
    network.generation_config.eos_token_id = [*numbers[:1], 7]  # a letter, as the default of a kind of network may be
    assert special_tokens(network, tokenizer)[0] == numbers
    network.generation_config.eos_token_id = "</s>"
    with pytest.raises(UserError, match="eos_token_id is '</s>'"):
        special_tokens(network, tokenizer)


def test_a_network_that_no_token_ends_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    network, tokenizer = loaded(save_decoder(tmp_path))
    for settings in (network.config, network.generation_config):
        settings.eos_token_id = None
    tokenizer.eos_token = "<beyond>"  # of which it has no embedding
    HFModel("tiny", loaded=Loaded(network, tokenizer, "tiny")).close()
    assert caplog.text.count("no token of the network ends a text") == 1


def test_what_is_trained_as_the_end_is_the_templates_for_chats_and_the_tokenizers_for_texts(folder: Path) -> None:
    network, tokenizer = loaded(folder)
    assert tokenizer.convert_ids_to_tokens(trained_end(network, tokenizer, chat=True)) == TURNS[0]
    assert tokenizer.convert_ids_to_tokens(trained_end(network, tokenizer, chat=False)) == TURNS[2]
    ends = record_end(network, tokenizer, trained_end(network, tokenizer, chat=True))
    assert network.generation_config.eos_token_id == network.config.eos_token_id == ends
    assert tokenizer.convert_ids_to_tokens(ends[0]) == TURNS[0] and len(ends) == 4
    tokenizer.add_tokens(["<beyond>"])
    tokenizer.eos_token = "<beyond>"  # which the network has no output for
    assert trained_end(network, tokenizer, chat=False) == ends[0]


def test_settings_that_transformers_refuses_to_save_are_replaced(folder: Path, tmp_path: Path) -> None:
    network, tokenizer = loaded(folder)
    network.generation_config.pad_token_id = -1  # as the first Llamas of the hub have it
    record_end(network, tokenizer, trained_end(network, tokenizer, chat=False))
    network.save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "generation_config.json").read_text())
    assert settings["pad_token_id"] in settings["eos_token_id"]


def test_a_templates_end_is_a_control_token_behind_the_answer_or_there_is_none() -> None:
    tokenizer = byte_level_tokenizer(chat=True)
    assert end_of_turn(tokenizer) is None  # a line break ends its turns
    tokenizer.chat_template = CHAT_TEMPLATE.replace("\n{% endfor", "{{ eos_token }}{% endfor")
    assert end_of_turn(tokenizer) == tokenizer.eos_token_id
    tokenizer.chat_template = "{{ raise_exception('no') }}"
    assert end_of_turn(tokenizer) is None


@pytest.mark.nightly
@pytest.mark.parametrize("flags", [[], ["--lora", "8", "--lora-lr", "3e-2", "--lora-targets", "all-linear"]])
def test_what_was_finetuned_ends_where_it_was_taught_to(folder: Path, tmp_path: Path, flags: list[str]) -> None:
    write_rows(tmp_path / "rows.json", [Row(PROMPT, "trivial")] * 16)
    arguments = ["--model-path", f"hf:{folder}", "--data", str(tmp_path / "rows.json"), "--prompt-format", "stp"]
    arguments += ["--lr", "3e-2", "--epochs", "40", "--target-examples-per-step", "16", "--max-length", "64"]
    assert sft.main([*arguments, *flags, "--device-type", "cpu", "--run-dir", str(tmp_path / "run")]) == 0
    saved = tmp_path / "run" / "checkpoint-40"
    settings = json.loads((saved / "generation_config.json").read_text())
    model = HFModel(str(saved))
    assert settings["eos_token_id"][0] == model._tokenizer.eos_token_id
    samples = model.generate([PROMPT], GenerationOptions(num_samples=8, max_new_tokens=32), [0])[0]
    assert [(sample.text, sample.finished) for sample in samples] == [("trivial", True)] * 8
    model.close()


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ raise_exception('no users here') }}", "fails: no users here"),
        ("{{ ''.__class__.__mro__ }}", "fails: access to attribute"),
        ("{% for", "fails: "),
        ("{{ messages[7].content }}", "fails: "),
        ("{{ 1 / 0 }}", "fails: division by zero"),
        ("{% for part in messages[0].content %}{{ part.text }}{% endfor %}", "leaves out messages that are plain"),
    ],
)
def test_a_chat_template_that_fails_is_one_line(tmp_path: Path, template: str, message: str) -> None:
    save_decoder(tmp_path, chat=True)
    (tmp_path / "chat_template.jinja").write_text(template)
    with pytest.raises(UserError, match="the chat template of .*" + message) as caught:
        HFModel(str(tmp_path), chat=True)
    assert "\n" not in str(caught.value)
    HFModel(str(tmp_path)).close()  # other formats do not need it


def test_texts_that_are_no_unicode_and_tokens_beyond_the_embeddings_are_refused(tmp_path: Path) -> None:
    tokenizer = byte_level_tokenizer()
    codec = PromptCodec(tokenizer, False, False, [], len(tokenizer))
    for call in (lambda: codec.prompt("h \ud83d"), lambda: codec.continuation("h", "\ud83d")):
        with pytest.raises(UserError, match="the text is not Unicode: lone surrogate at character"):
            call()
    tokenizer.add_tokens(["<new>"])
    with pytest.raises(UserError, match=r"the token '<new>' is number 301 of the tokenizer, .* 301 embeddings"):
        codec.prompt("a <new> b")
    save_decoder(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = HFModel(str(tmp_path))
    with pytest.raises(BadState, match="'<new>'"):
        model.generate(["a <new> b"], GenerationOptions(), [0])
    model.close()
