"""An exported network is the one of the checkpoint, read with the plain libraries."""

import json
from pathlib import Path

import pytest
import safetensors.torch
import tokenizers
import torch

from nanoproof.common.errors import UserError
from nanoproof.model.checkpoint import load_weights, save_checkpoint
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer
from scripts import export_model


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_exported_network_reads_back(
    model: GPT, tokenizer: Tokenizer, tmp_path: Path, dtype: str, capsys: pytest.CaptureFixture[str]
) -> None:
    save_checkpoint(tmp_path, 7, model, tokenizer, extra={"stage": "sft"})
    assert export_model.main(["--model-path", str(tmp_path), "--dtype", dtype]) == 0
    directory = tmp_path / "export_7"
    assert str(directory) in capsys.readouterr().out
    config = json.loads((directory / "config.json").read_text())
    assert (config["step"], config["stage"], config["dtype"]) == (7, "sft", dtype)
    weights = safetensors.torch.load_file(directory / "model.safetensors")
    assert {str(tensor.dtype) for tensor in weights.values()} == {f"torch.{dtype}"}
    exported = GPT.allocate(GPTConfig(**config["config"]))
    load_weights(exported, weights, "model.safetensors")
    words = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokens = torch.tensor([tokenizer.encode("intro h")])
    assert words.encode("intro h").ids == tokens[0].tolist()
    torch.testing.assert_close(exported(tokens), model(tokens), atol=0 if dtype == "float32" else 0.1, rtol=0)


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no checkpoint"):
        export_model.main(["--model-path", str(tmp_path)])
    with pytest.raises(UserError, match="give --model-path"):
        export_model.main([])
