"""Texts as tokens of a model of transformers: prompts, continuations, and what ends a text."""

import logging
from collections.abc import Sequence
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.inference.hf_loading import first_line, loading
from nanoproof.inference.language_model import chat_messages

log = logging.getLogger(__name__)
_QUESTION, _ANSWER = "What is one plus one?", "It is two, and no more than that"


def not_unicode(text: str) -> str | None:
    """Return what is wrong with a text that has no UTF-8 form; None if nothing is."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"not Unicode: lone surrogate at character {error.start}"
    return None


def render_chat(tokenizer: Any, messages: Sequence[dict[str, str]], answer: bool = True) -> str:
    """Write messages as a tokenizer's chat template does, up to where the answer begins. Raises UserError if it fails.

    Templates are programs: they raise for roles that they do not know, and the sandbox for what they must not do.
    """
    with loading(f"the chat template of {tokenizer.name_or_path}", "fails"):
        rendered = tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=answer)
        if not isinstance(rendered, str):
            raise ValueError("it writes no text")
    return rendered


def require_chat(tokenizer: Any, system: str = "") -> None:
    """Raise UserError for a chat template that fails, or that leaves out what it is given: some take lists of parts."""
    if _QUESTION not in render_chat(tokenizer, chat_messages(_QUESTION, system)):
        raise UserError(f"the chat template of {tokenizer.name_or_path} leaves out messages that are plain texts")


class PromptCodec:
    """Prompts and continuations as tokens of a model: the same for sampling, for scores and for training."""

    def __init__(
        self,
        tokenizer: Any,
        encoder_decoder: bool,
        chat: bool,
        ends: Sequence[int],
        embeddings: int | None = None,
    ) -> None:
        """`ends` are the tokens that end a text. With `chat` prompts are messages of a user.

        `embeddings` is how many tokens the network knows: a tokenizer may have more.
        """
        self._tokenizer, self._encoder_decoder, self._chat, self._ends = tokenizer, encoder_decoder, chat, ends
        self._embeddings = embeddings

    def tokens(self, text: str, **how: Any) -> list[int]:
        """Return the tokens of a text. Raises UserError where there are none: no Unicode, or unknown to the network."""
        problem = not_unicode(text)
        if problem is not None:
            raise UserError(f"the text is {problem}")
        tokens: list[int] = self._tokenizer(text, **how)["input_ids"]
        if self._embeddings is not None and max(tokens, default=0) >= self._embeddings:
            unknown = self._tokenizer.convert_ids_to_tokens(max(tokens))
            raise UserError(
                f"the token {unknown!r} is number {max(tokens)} of the tokenizer, and the network has "
                f"{self._embeddings} embeddings"
            )
        return tokens

    def prompt(self, text: str, special: bool = True, system: str = "") -> list[int]:
        """Return the tokens of a prompt; without `special` the names of special tokens in it are text.

        In a chat it follows the message `system`, if there is one. Raises UserError as `tokens` does, and for a chat
        template that fails.
        """
        if self._chat:
            rendered = render_chat(self._tokenizer, chat_messages(text, system))
            return self.tokens(rendered, add_special_tokens=False)
        how: dict[str, Any] = {}
        if not special:
            how["split_special_tokens"] = True
        tokens = self.tokens(text, **how)
        # Some tokenizers end every text, which is right for what an encoder reads; behind its end a decoder writes
        # none.
        if not self._encoder_decoder and len(tokens) > 1 and tokens[-1] in self._ends:
            return tokens[:-1]
        return tokens

    def continuation(self, prompt: str, text: str) -> list[int]:
        """Return the tokens of a continuation: those it has behind the prompt, where they do not melt into it.

        Raises UserError as `tokens` does.
        """
        # "a b" as a whole may have other tokens than "a" and " b" (SentencePiece puts a space before each text): as the
        # model saw them in training, so are they scored.
        if not self._encoder_decoder and not self._chat:
            before = self.tokens(prompt, add_special_tokens=False)
            both = self.tokens(prompt + text, add_special_tokens=False)
            if both[: len(before)] == before:
                return both[len(before) :]
        return self.tokens(text, add_special_tokens=False)


# -- What ends a text ------------------------------------------------------------------------------------------------


def special_tokens(model: Any, tokenizer: Any) -> tuple[list[int], int, int]:
    """Return the tokens that end a text, the one that pads, and the one that begins the text of a decoder.

    A text ends with any token that generation settings, configuration, tokenizer or chat template end one with: models
    are published, and finetuned, with settings that disagree, and a text that goes on behind its end is none.
    """
    settings, config = model.generation_config, model.config
    stated: list[int] = []
    for value in (settings.eos_token_id, getattr(config, "eos_token_id", None), tokenizer.eos_token_id):
        tokens = [value]
        if isinstance(value, list | tuple):
            tokens = list(value)
        for token in tokens:
            if token is None or (isinstance(token, int) and token < 0):
                continue
            if isinstance(token, bool) or not isinstance(token, int):
                raise UserError(f"hf:{model.name_or_path}: eos_token_id is {token!r}; expected numbers of tokens")
            if token not in stated:
                stated.append(token)
    turn = end_of_turn(tokenizer)
    if turn is not None and turn not in stated:
        stated.append(turn)
    # The default of a kind of network (Llama: 2) may be a letter of this vocabulary, which then ends nothing.
    ends = [token for token in stated if token in _control_tokens(tokenizer)] or stated
    known = model.get_input_embeddings().weight.shape[0]
    pads = (tokenizer.pad_token_id, settings.pad_token_id, *ends, 0)
    pad = next(int(token) for token in pads if token is not None and 0 <= token < known)
    start = settings.decoder_start_token_id
    if start is None:
        start = getattr(config, "decoder_start_token_id", None)
    if start is None:
        start = pad  # as T5's decoders begin
    return ends, pad, int(start)


def _control_tokens(tokenizer: Any) -> set[int]:
    return {*tokenizer.all_special_ids, *getattr(tokenizer, "added_tokens_decoder", {})}


def end_of_turn(tokenizer: Any) -> int | None:
    """Return the token that a chat template writes behind an answer, such as `<|im_end|>`; None if it writes none."""
    if not getattr(tokenizer, "chat_template", None):
        return None
    messages = [{"role": "user", "content": _QUESTION}, {"role": "assistant", "content": _ANSWER}]
    try:
        rendered = render_chat(tokenizer, messages, answer=False)
    except UserError:  # whoever asks the model by it hears of that
        return None
    _, answer, behind = rendered.rpartition(_ANSWER)
    behind = behind.strip()
    if not answer or not behind:
        return None
    tokens = tokenizer(behind, add_special_tokens=False)["input_ids"]
    if not tokens or tokens[0] not in _control_tokens(tokenizer):
        return None  # a template may put words or a line break there, which no model was taught to end with
    return int(tokens[0])


def trained_end(model: Any, tokenizer: Any, chat: bool) -> int:
    """Return the token that finetuning puts behind an answer: a chat's turn ends as its template says, texts with the
    tokenizer's end, or with another one where the network does not know that. Raises UserError if there is none.
    """
    ends, _, _ = special_tokens(model, tokenizer)
    turn = None
    if chat:
        turn = end_of_turn(tokenizer)
    known = model.get_input_embeddings().weight.shape[0]
    for end in (turn, tokenizer.eos_token_id, *ends):
        if end is not None and end < known:
            return int(end)
    raise UserError(
        f"hf:{model.name_or_path}: its tokenizer has no token that ends a text; name it as eos_token in its "
        "tokenizer_config.json"
    )


def record_end(model: Any, tokenizer: Any, end: int) -> list[int]:
    """Let a model's settings say that `end` ends a text, first of all that do: what is saved stops where it was taught.

    Returns all of them.
    """
    ends, pad, _ = special_tokens(model, tokenizer)
    ends = [end, *(token for token in ends if token != end)]
    network = model
    if hasattr(model, "get_base_model"):
        network = model.get_base_model()  # of peft's wrapper, whose own settings nobody reads
    value: int | list[int] = end
    if len(ends) > 1:
        value = ends
    network.generation_config.eos_token_id = value
    network.config.eos_token_id = value
    if tokenizer.eos_token_id is None:
        tokenizer.eos_token = tokenizer.convert_ids_to_tokens(end)
    try:
        network.generation_config.validate(strict=True)
    except ValueError as error:  # transformers refuses to save such settings, after hours of training
        settings = type(network.generation_config)
        old = network.generation_config
        network.generation_config = settings(
            eos_token_id=value,
            pad_token_id=pad,  # theirs may be -1, or none of these tokens
            bos_token_id=old.bos_token_id,
            decoder_start_token_id=old.decoder_start_token_id,
        )
        problem = first_line(error)
        log.warning("hf:%s: of its settings for generation ends alone are saved: %s", model.name_or_path, problem)
    return ends
