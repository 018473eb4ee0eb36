"""Make a small decoder of transformers with fresh weights and a tokenizer of ours, to try what is for models of others.

python -m scripts.tiny_decoder OUT --shape qwen2
python -m scripts.tiny_decoder OUT --shape llama --layers 4 --width 128 --tokenizer DIR --seed 1
"""

from pathlib import Path
from typing import Any, Literal

from nanoproof.common.config import MOST_SEED, Parser, add_flags, check, from_args, opt, validated
from nanoproof.common.errors import run_main
from nanoproof.common.run_dir import home
from nanoproof.model.tokenizer import Tokenizer
from scripts.export_model import save_tokenizer


@validated("decoder")
class DecoderOptions:
    """A small decoder."""

    shape: Literal["llama", "qwen2", "gpt2"] = opt("llama", "Kind of network.")
    layers: int = opt(4, "Layers.", min=1)
    width: int = opt(128, "Channels; a head has 32.", min=32)
    positions: int = opt(512, "Most tokens of prompt and answer.", min=16)
    tokenizer: str | None = opt(None, "Directory of the tokenizer; default $NANOPROOF_HOME/tokenizer.")
    seed: int = opt(0, "Seed of the weights.", min=0, max=MOST_SEED)

    def __post_init__(self) -> None:
        check(self.width % 32 == 0, f"decoder.width must be a multiple of 32, got {self.width}", "decoder")


def make_decoder(folder: Path, tokenizer: Tokenizer, options: DecoderOptions) -> int:
    """Write the folder of a decoder as transformers loads it; returns how many parameters it has."""
    import torch  # what imports torch comes after the options, which may be mistyped

    from nanoproof.inference.hf_loading import transformers_library

    library = transformers_library()
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(tokenizer, folder, options.positions)
    heads = options.width // 32
    ends = {"bos_token_id": tokenizer.bos, "eos_token_id": tokenizer.eos, "pad_token_id": tokenizer.pad}
    shape: dict[str, Any] = {
        "vocab_size": tokenizer.vocab_size,
        "hidden_size": options.width,
        "num_hidden_layers": options.layers,
        "num_attention_heads": heads,
        "max_position_embeddings": options.positions,
        **ends,
    }
    if options.shape == "gpt2":
        config = library.GPT2Config(**shape)
    else:
        # A quarter of the heads for keys and values, and gated layers of 8/3 of the width, as published networks.
        shape |= {"num_key_value_heads": max(1, heads // 4), "intermediate_size": options.width * 8 // 3}
        kinds = {"llama": library.LlamaConfig, "qwen2": library.Qwen2Config}
        config = kinds[options.shape](**shape, tie_word_embeddings=options.shape == "qwen2")
    # transformers draws the weights from torch's own generator.
    torch.manual_seed(options.seed)
    network = library.AutoModelForCausalLM.from_config(config)
    network.save_pretrained(folder)
    return sum(parameter.numel() for parameter in network.parameters())


def main(argv: list[str] | None = None) -> int:
    """Make the decoder."""
    parser = Parser(prog="python -m scripts.tiny_decoder", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", metavar="OUT", help="Folder to write to.")
    add_flags(parser, DecoderOptions)
    args = parser.parse_args(argv)
    options = from_args(DecoderOptions, args)
    tokenizer = Tokenizer.load(Path(options.tokenizer or home() / "tokenizer"))
    parameters = make_decoder(Path(args.folder).expanduser(), tokenizer, options)
    print(f"{args.folder}: {options.shape}, {parameters:,} parameters")
    return 0


if __name__ == "__main__":
    run_main(main)
