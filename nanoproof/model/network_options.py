"""Options of a network: its shape, its adapters, how it computes. Nothing here needs torch, which is slow to import."""

import math

from nanoproof.common.config import check, opt, validated

ATTENTION_CHOICES = ("auto", "fa3", "varlen", "flex", "sdpa", "unpacked")
COMPILE_CHOICES = ("auto", "on", "off")
MOST_PARAMETERS = 10**13


@validated("model")
class NetworkShape:
    """Model (when none is loaded)."""

    depth: int = opt(26, "Number of layers, the dial of model size; width = depth x aspect ratio.", min=1)
    aspect_ratio: int = opt(64, "Width per layer of depth.", min=1)
    head_dim: int = opt(128, "Size of an attention head; the width is rounded up to a multiple of it.", min=2)
    num_kv_heads: int | None = opt(
        0,
        "Key/value heads, among which the query heads divide evenly (the width is rounded up for it); 0: the most, of "
        "1, 2, 4, 8 ..., that leave four query heads to each; none: as many as query heads.",
        min=0,
        advanced=True,
    )
    sequence_len: int = opt(768, "Longest sequence (positions) the network is made for.", min=2, max=2**24)
    window_pattern: str = opt(
        "SSSL", "Windows of the layers, repeated: S sees a quarter of the sequence, L all of it.", advanced=True
    )
    value_embedding: bool = opt(
        True, "A second embedding of the tokens is added to the values of attention.", advanced=True
    )

    def __post_init__(self) -> None:
        check(self.head_dim % 2 == 0, f"model.head_dim must be even, got {self.head_dim}", "model")
        check(
            bool(self.window_pattern) and set(self.window_pattern) <= {"S", "L"},
            f"model.window_pattern must consist of S and L, got {self.window_pattern!r}",
            "model",
        )
        # Sizes that torch cannot count with come from damaged manifests, and from slips of a finger.
        check(
            self.fewest_parameters < MOST_PARAMETERS,
            f"model.depth, model.aspect_ratio and model.head_dim make a network of more than {MOST_PARAMETERS:.0e} "
            "parameters",
            "model",
        )
        most = self._fewest_heads
        if self.num_kv_heads == 0:  # kept as a number: a checkpoint says what its network has, not by which rule
            object.__setattr__(self, "num_kv_heads", 2 ** (max(1, most // 4).bit_length() - 1))
        check(
            self.kv_heads <= most,
            f"model.num_kv_heads must be at most the {most} query heads, got {self.num_kv_heads}",
            "model",
        )

    @property
    def _fewest_heads(self) -> int:
        """Query heads that depth and aspect ratio ask for."""
        return -(-self.depth * self.aspect_ratio // self.head_dim)

    @property
    def fewest_parameters(self) -> int:
        """Fewer parameters than a network of this shape has: one matrix of each layer."""
        return self.depth * (self._fewest_heads * self.head_dim) ** 2

    @property
    def num_heads(self) -> int:
        return -(-self._fewest_heads // self.kv_heads) * self.kv_heads

    @property
    def width(self) -> int:
        return self.num_heads * self.head_dim

    @property
    def kv_heads(self) -> int:
        return self._fewest_heads if self.num_kv_heads is None else self.num_kv_heads

    @property
    def windows(self) -> list[int]:
        """Window of each layer in tokens; the last layer always sees everything."""
        sizes = {"S": math.ceil(self.sequence_len / 4), "L": self.sequence_len}
        pattern = [self.window_pattern[layer % len(self.window_pattern)] for layer in range(self.depth)]
        pattern[-1] = "L"
        return [sizes[letter] for letter in pattern]


@validated("lora")
class LoraOptions:
    """LoRA."""

    lora: int | None = opt(
        None,
        "Rank of low-rank adapters (LoRA): they alone are trained and saved; none trains the whole network.",
        min=1,
    )
    lora_alpha: float = opt(32.0, "What adapters add is multiplied by alpha / rank.", above=0, advanced=True)
    lora_targets: str = opt(
        "q,k,v,o",
        "Matrices with adapters: of q, k, v, o, up, down; of hf: models also names of modules, or all-linear.",
        advanced=True,
    )
    lora_dropout: float = opt(
        0.0, "Part of an adapter's input that is set to 0 in training.", min=0, max=0.9, advanced=True
    )
    lora_lr: float = opt(0.001, "Learning rate of adapters (AdamW).", min=0, advanced=True)

    def __post_init__(self) -> None:
        check(bool(self.targets), "lora.lora_targets names no matrix", "lora")

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets, each once, in the order in which they were given."""
        return tuple(dict.fromkeys(self.lora_targets.replace(",", " ").split()))
