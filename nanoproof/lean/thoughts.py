"""What of a model's answer is thought, and what it made up behind its end: the text without both."""

import html
import re

from nanoproof.lean.lexical import NAME_START, mask

SENTENCE = re.compile(rf"[A-Z*\\∎■✓✔✅☑🎉]|\d+[.)] |</\w+>|(?![{NAME_START}λΠΣ\d])\w")
"""Matches what follows a proof and is no Lean: `This proves ...`, `**Explanation**`, `\\end{lean}`, `</lean>`, a letter
that no name of Lean begins with."""

# How models mark where their thoughts begin, and where an answer does. An answer's own end is where thoughts begin
# again: nothing behind it counts.
_THOUGHTS = (
    "(?:think|(?:ant)?thinking|thoughts?|thought_process|reason|reasoning(?:_content)?|reflection|scratch_?pad|analysis|"
    "monologue|cot|plan|planning)"
)
_TAGS_OF_THOUGHTS = rf"(?:\w+[:_])?{_THOUGHTS}"
_THOUGHTS_BEGIN = (
    rf"<{_TAGS_OF_THOUGHTS}>|<\|{_THOUGHTS}\|>",  # DeepSeek-R1, Qwen3, EXAONE, `seed:think`, `longcat_think`
    r"</(?:answer|final_answer|response|solution)>",
    r"<\|(?:begin_of_thought|end_of_solution)\|>",  # Sky-T1, OpenThinker
    r"<\|(?:START_THINKING|END_RESPONSE)\|>",  # Command A Reasoning
    r"\[THINK\]|\[END FINAL RESPONSE\]",  # Magistral; Apriel
    r"<\|im_start\|>think\b|<unused94>thought",  # s1; MedGemma
    r"◁think▷",  # Kimi
    r"<\|channel>thought",  # Gemma 4
    r"<\|inner_prefix\|>",  # Apertus
    r"<\|channel\|>(?:analysis|commentary)\b[^<]*<\|message\|>",  # gpt-oss
    # The ends of a turn, where a server does not stop at them: what follows is a turn that the model made up.
    r"<\|(?:end|return|im_end|endoftext|eot|eot_id|eom|eom_id|end_of_text|end_of_turn|eos|user)\|>"
    r"|</s>|<eos>|<pad>|<\|(?:pad|eod)\|>|<end_of_turn>|<turn\|>|<｜end▁of▁sentence｜>|\[\|endofturn\|\]",
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)(?:user|system|human)\b|<[|｜]User[|｜]>",
)
_ANSWER_BEGINS = (
    rf"<(?:\s*/\s*\|?|\|\s*/\s*){_TAGS_OF_THOUGHTS}\s*\|?>",  # sampled texts have a blank in it at times
    r"<(?:answer|final_answer|response|solution)>",
    rf"<[|｜]end[_▁](?:of[_▁])?{_THOUGHTS}[|｜]>|<\|begin_of_solution\|>",
    r"<\|START_RESPONSE\|>",
    r"\[/THINK\]|\[BEGIN FINAL RESPONSE\]|^Here is my response:",  # the last one: Granite 3.2
    r"<\|im_start\|>answer\b|<unused95>",
    r"◁/think▷",
    r"<channel\|>",
    r"<\|inner_suffix\|>",
    r"<\|channel\|>final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>",
    r"assistantfinal",  # gpt-oss, where its special tokens were left out of the text
)
_MARKER = re.compile(f"(?P<thoughts>{'|'.join(_THOUGHTS_BEGIN)})|(?P<answer>{'|'.join(_ANSWER_BEGINS)})", re.I | re.M)

# What a page makes of thoughts (Open WebUI): the tags of `<details>` are those of other things as well.
_FOLDED = re.compile(
    r"<details\b(?:[^>]{0,200}\btype=.?reasoning[^>]{0,200}>|"
    r"[^>]{0,200}>\s{0,20}<summary>[^<]{0,200}(?:think|thought|reason)[^<]{0,200}</summary>)"
    r".*?(?:</details>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPED = re.compile(rf"&lt;/?{_TAGS_OF_THOUGHTS}&gt;", re.IGNORECASE)
# Base models, and chats whose end nobody knows, go on with a turn of the one who asks.
_NEXT_TURN = re.compile(r"\n(?:(?:Human|User):|### ?(?:Instruction|User|Human|Input)\b)")


def without_thoughts(text: str) -> str:
    """Return the answer behind a model's thoughts, stripped; empty where the thoughts never end.

    Many templates put the opening marker into the prompt, so that only the closing one is in the text: all before it is
    thought. Of several answers the last that says something counts, up to where a made-up turn begins.
    """
    if _ESCAPED.search(text):
        text = html.unescape(text)
    answer = _last_answer(_FOLDED.sub("", text))
    if _NEXT_TURN.search(answer) is None:
        return answer
    before = answer[: turn.start()] if (turn := _NEXT_TURN.search(mask(answer))) else ""  # not within a comment
    # Nor in words before the code: those may quote a talk.
    in_words = SENTENCE.match(before.lstrip()) is not None and "```" not in before and "```" in answer
    return answer if in_words or not before.strip() else before


def _last_answer(text: str) -> str:
    markers = list(_MARKER.finditer(text))
    if not markers:
        return text
    answers: list[str] = []
    thinking, begin = False, 0
    for marker in markers:
        if marker["thoughts"]:
            if not thinking:
                answers.append(text[begin : marker.start()])
            thinking = True
            continue
        if not thinking:  # what stood before was thought, with its opening marker in the prompt
            answers.clear()
        thinking, begin = False, marker.end()
    if not thinking:
        answers.append(text[begin:])
    said = [answer for answer in answers if answer.strip()]
    return said[-1] if said else ""
