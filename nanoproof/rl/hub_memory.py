"""How much memory of a GPU training a model of transformers takes, before anything is loaded: `--dry-run`.

Weights, adapters, gradients and moments are counted. What a forward pass keeps for the backward pass is measured on
tensors without memory (torch's `meta` device), so that it is that of the very network, for one batch of
`--device-batch-size` times `--row-length` tokens.
"""

from typing import Any

import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.hf_loading import adapter_base, loading, peft_library, transformers_library
from nanoproof.inference.model_options import HFOptions
from nanoproof.rl.hub_learner import trains_hub_model
from nanoproof.rl.options import RLConfig
from nanoproof.training.hub_network import source_of, target_modules
from nanoproof.training.setup import PREFIX

GIGABYTE = 10**9
BYTES_OF_4_BITS = 0.56
"""Of a weight in 4 bits, with its share of the scales of a block of 64 (bitsandbytes, nf4)."""


def memory_lines(config: RLConfig, ranks: int) -> list[str]:
    """Return what a GPU of each rank has to hold, line by line. Raises UserError for models that are not of
    transformers, or that cannot be looked at."""
    spec = config.start.checkpoint.model_path
    if config.start.resume_from is not None or spec is None or not trains_hub_model(config):
        raise UserError("--dry-run estimates the memory for a model of transformers: give --model-path hf:FOLDER_OR_ID")
    source = source_of(spec)
    library = transformers_library()
    with loading(f"{PREFIX}{source}", folder=source):
        base = adapter_base(source) or source
        settings = library.AutoConfig.from_pretrained(base, trust_remote_code=False)
        # Without memory: a model of 70 billion parameters is looked at as fast as a small one.
        with torch.device("meta"):
            network = library.AutoModelForCausalLM.from_config(settings, dtype=torch.bfloat16)
    weights = sum(parameter.numel() for parameter in network.parameters())
    trained, of_weight, how = weights, 4.0, "fp32, all trained"
    if config.lora.lora is not None:
        network, trained = _adapted(network, config)
        of_weight, how = 2.0, "bf16"
        if config.hub.model_load_4bit:
            of_weight, how = BYTES_OF_4_BITS, "4 bits"
    tokens = config.batch.device_batch_size * config.batch.row_length
    share, shared = 1.0, "ranks hold the same, and share the examples"
    if config.hub.shard:
        if ranks == 1:
            raise UserError("--shard divides a network over ranks, and there is one: start it with torchrun")
        share, shared = 1.0 / ranks, "each has its share of the network in training, and of the examples"
    parts = {
        f"weights: {weights:,} parameters, {how}": share * of_weight * weights,
        f"trained: {trained:,} parameters, gradients and AdamW's two moments in fp32": share * 12.0 * trained,
    }
    if config.lora.lora is not None:
        parts["adapters in fp32"] = share * 4.0 * trained
    if config.hub.shard:
        parts["the copy that writes and reads values, in bf16"] = 2.0 * weights
        # In bf16; where they are trained with their gradients, which are summed over ranks in fp32.
        of_layer = 2.0
        if config.lora.lora is None:
            of_layer += 2.0 + 4.0
        parts["layers that are whole while they compute"] = of_layer * _whole_at_once(network)
    constant = sum(parts.values())
    # One after the other: samples are written between updates, and what either held is free then.
    passing = {
        f"while it trains: a forward pass of {tokens:,} tokens, kept for the backward one": _kept(network, config)
    }
    if not config.hub.policy_endpoint:
        rows = HFOptions().batch_rows
        longest = config.batch.row_length + config.hub.model_tactic_tokens
        name = f"while it writes: keys and values of {rows} samples of {longest} tokens"
        passing[name] = _cache_bytes(settings, rows * longest)
    total = constant + max(passing.values())
    lines = [f"{spec}, on the GPU of each of {ranks} ranks ({shared}):"]
    for name, size in {**parts, **passing}.items():
        lines.append(f"  {size / GIGABYTE:8.2f} GB  {name}")
    halved = "--device-batch-size, samples at a time"
    if config.hub.shard:
        halved = "samples at a time (with --shard not --device-batch-size)"
    lines.append(f"  {total / GIGABYTE:8.2f} GB  at most; what does not fit is halved: {halved}")
    return lines


def _adapted(network: Any, config: RLConfig) -> tuple[Any, int]:
    """Put adapters into a network; returns it with the number of their parameters."""
    peft = peft_library()
    with loading("--lora", "takes no adapters"):
        settings = peft.LoraConfig(
            r=config.lora.lora, target_modules=target_modules(network, config.lora), task_type="CAUSAL_LM"
        )
        adapted = peft.get_peft_model(network, settings, low_cpu_mem_usage=True)
    return adapted, sum(parameter.numel() for parameter in adapted.parameters() if parameter.requires_grad)


def _whole_at_once(network: Any) -> int:
    """Count the parameters of a divided network that are whole at a time: two layers, as the next one is on its way,
    and what is in no layer."""
    kinds = network._no_split_modules or ()
    layers = []
    for module in network.modules():
        if type(module).__name__ in kinds:
            layers.append(sum(parameter.numel() for parameter in module.parameters()))
    outside = sum(parameter.numel() for parameter in network.parameters()) - sum(layers)
    return outside + sum(sorted(layers)[-2:])


def _kept(network: Any, config: RLConfig) -> float:
    """Measure what a forward pass keeps, in bytes, weights left out."""
    own = {id(parameter) for parameter in network.parameters()}
    sizes: dict[int, int] = {}
    kept: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        is_weight = id(tensor) in own or (tensor._base is not None and id(tensor._base) in own)
        if not is_weight:
            storage = tensor.untyped_storage()
            sizes[storage._cdata] = storage.nbytes()
            kept.append(tensor)  # else another one could get its address
        return tensor

    rows, length = 1, config.batch.row_length
    tokens = torch.zeros(rows, length, dtype=torch.long, device="meta")
    # Ready-made, as networks look into a mask of ones and zeros, of which there are none here.
    mask = torch.zeros(rows, 1, length, length, dtype=torch.bfloat16, device="meta")
    network.train()
    measured = torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor)
    with loading(f"{PREFIX}{network.name_or_path}", "cannot be measured without its weights"), measured:
        network(input_ids=tokens, attention_mask=mask, use_cache=False)
    return float(sum(sizes.values())) * config.batch.device_batch_size


def _cache_bytes(settings: Any, tokens: int) -> float:
    """Return the bytes of keys and values of so many tokens, in bf16."""
    heads = settings.num_attention_heads
    size = getattr(settings, "head_dim", None) or settings.hidden_size // heads
    kv_heads = getattr(settings, "num_key_value_heads", None) or heads
    return 2.0 * 2.0 * tokens * settings.num_hidden_layers * kv_heads * size
