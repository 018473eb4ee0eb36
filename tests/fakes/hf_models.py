"""Tiny random models of transformers with tokenizers of their own, as the hub has them in folders."""

import logging
from pathlib import Path
from typing import Any

import torch

from tests.helpers import Later

transformers: Any = Later("transformers", lambda: logging.getLogger("transformers").setLevel(logging.ERROR))

TEXTS = [
    "rw [h]",
    "exact h",
    "simp",
    "intro x",
    "Nat.add_comm",
    "theorem t (p : Prop) (h : p) : p := by",
    "⊢ ∀ x, x = x",
]
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def byte_level_tokenizer(chat: bool = False) -> Any:
    """A byte-level BPE tokenizer as GPT-2's, with an end of text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, special_tokens=["</s>"], show_progress=False
    )
    made.train_from_iterator(TEXTS * 3, trainer)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>")
    if chat:
        fast.chat_template = CHAT_TEMPLATE
    return fast


def save_decoder(folder: Path, chat: bool = False, seed: int = 0, positions: int = 128) -> Path:
    """A decoder with rotary positions. Its logits are sharp, so that greedy texts have no ties."""
    tokenizer = byte_level_tokenizer(chat)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        initializer_range=0.4,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=None,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_other_decoder(folder: Path, kind: str) -> Path:
    """A decoder of another kind: learned positions, a sliding window with capped logits, states that are no keys,
    positions that depend on the longest text, states beside keys."""
    tokenizer = byte_level_tokenizer()
    torch.manual_seed(0)
    ends = {"bos_token_id": None, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": None}
    shape = {"vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 2, "initializer_range": 0.4, **ends}
    heads = {"num_attention_heads": 4, "max_position_embeddings": 128}
    if kind == "gpt2":
        config = transformers.GPT2Config(**shape, **heads)
    elif kind == "gemma2":
        more = {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 8, "intermediate_size": 64}
        config = transformers.Gemma2Config(**shape, **heads, **more)
    elif kind == "phi3":
        rope = {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [3.0] * 4}
        more = {"num_key_value_heads": 2, "intermediate_size": 64, "original_max_position_embeddings": 24}
        config = transformers.Phi3Config(**{**shape, **heads, **more, "rope_scaling": rope, "pad_token_id": 0})
    elif kind == "minimax":
        more = {"num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 64, "num_local_experts": 2}
        layers = {"layer_types": ["linear_attention", "full_attention"], "num_experts_per_tok": 1}
        config = transformers.MiniMaxConfig(**shape, **heads, **more, **layers)
    else:
        config = transformers.MambaConfig(**shape)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_encoder_decoder(folder: Path, seed: int = 0) -> Path:
    """A byte-level encoder-decoder, as ReProver's networks."""
    tokenizer = transformers.ByT5Tokenizer(extra_ids=8)
    torch.manual_seed(seed)
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_decoder_layers=2,
        num_heads=4,
        initializer_factor=1.0,
        decoder_start_token_id=0,
        eos_token_id=1,
        pad_token_id=0,
    )
    model = transformers.T5ForConditionalGeneration(config)
    with torch.no_grad():
        model.lm_head.weight.normal_(std=1.0)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_encoder(folder: Path, seed: int = 0) -> Path:
    """The encoder alone, as ReProver's retriever."""
    tokenizer = transformers.ByT5Tokenizer(extra_ids=8)
    torch.manual_seed(seed)
    config = transformers.T5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, pad_token_id=0
    )
    transformers.T5EncoderModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
