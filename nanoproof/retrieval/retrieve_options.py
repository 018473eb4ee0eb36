"""Options of premise retrieval, and the names of its files. Nothing here needs torch, which is slow to import."""

from typing import Any, Literal

from nanoproof.common.config import MOST_SEED, change, check, group, opt, validated
from nanoproof.retrieval.folders import WORDS, existing_folder
from nanoproof.retrieval.index import INDEX_FOLDER, Index, IndexSearchOption

PREMISE_LOGPROB = -3.0
STEP_LOGPROB = -3.0
LEMMAS = 32
"""Premises that are looked at for lemmas to apply forward: few of them fit the hypotheses of a state."""

LossName = Literal["mse", "contrastive"]
LOSSES: tuple[LossName, ...] = ("mse", "contrastive")


@validated("retrieval")
class RetrieveOptions:
    """Premise retrieval."""

    retrieve: int = opt(0, "Premises to put before each state; 0: none.", min=0, metavar="K")
    premise_tactics: int = opt(
        0,
        "Premises for which tactics are tried at every state beside the policy's: apply, rw, simp; 0: none.",
        min=0,
        metavar="K",
        advanced=True,
    )
    premise_logprob: float = opt(
        PREMISE_LOGPROB,
        "Log-probability that such a tactic of the best premise counts with; of the k-th, ln k less.",
        max=0,
        constant=True,
    )
    step_tactics: int | None = opt(
        None,
        "Steps that a state itself suggests, tried beside the policy's: what is there is taken apart, rewritten with, "
        "applied forward (with --retriever lemmas too), inductions, case splits; at most N, 0: none. Default: 12 for "
        "a network of fewer than ten million parameters that is used or scored on NanoLean, else none.",
        min=0,
        metavar="N",
        advanced=True,
    )
    step_logprob: float = opt(
        STEP_LOGPROB,
        "Log-probability that the first of such steps counts with; the k-th ln k less.",
        max=0,
        constant=True,
    )
    step_decay: float = opt(
        0.0,
        "What --step-logprob loses with each step of RL, in which the network learns from those that end in proofs.",
        min=0,
        constant=True,
    )
    retriever: str | None = opt(
        None,
        "Folder that python -m nanoproof.retrieval train or index wrote: encoder and index of the premises; or "
        f"`{WORDS}`: the declarations of the project that is proved, compared word by word.",
    )
    retrieve_tokens: int = opt(
        512, "Tokens that a state and its premises may have; what does not fit is left out.", min=1, constant=True
    )
    searching: IndexSearchOption = group(IndexSearchOption, index_search=change(advanced=True))

    def __post_init__(self) -> None:
        check(self.retrieve == 0 or self.retriever is not None, "--retrieve needs --retriever, the folder of an index")
        check(
            self.premise_tactics == 0 or self.retriever is not None,
            "--premise-tactics needs --retriever: the folder of an index, or words",
        )
        check(
            self.retriever in (None, WORDS) or self.count > 0,
            "--retriever needs --retrieve K, --premise-tactics K or --step-tactics N",
        )
        check(
            self.searching.index_search == "exact" or self.retriever not in (None, WORDS),
            "--index-search ann needs --retriever, the folder of an index",
        )

    @property
    def count(self) -> int:
        """How many premises of a state are looked for."""
        lemmas = 0
        if self.step_tactics and self.retriever is not None:
            lemmas = LEMMAS
        return max(self.retrieve, self.premise_tactics, lemmas)

    @property
    def adds_tactics(self) -> bool:
        """Whether tactics are tried beside the policy's."""
        return self.premise_tactics > 0 or bool(self.step_tactics)

    def settings(self) -> dict[str, Any] | None:
        """Return what these options change of what a policy suggests, for the record; None if nothing.

        Raises UserError if the retriever is not there.
        """
        changes: dict[str, Any] = {}
        if self.step_tactics:
            changes |= {"step_tactics": self.step_tactics, "step_logprob": self.step_logprob}
        if self.count == 0:
            return changes or None
        if self.retrieve:
            changes |= {"retrieve": self.retrieve, "retrieve_tokens": self.retrieve_tokens}
        if self.premise_tactics:
            changes |= {"premise_tactics": self.premise_tactics, "premise_logprob": self.premise_logprob}
        if self.searching.index_search != "exact":
            changes["index_search"] = self.searching.index_search
        if self.retriever == WORDS:
            return {**changes, "retriever": WORDS}
        # Not the folder: an index may be brought up to date there between two runs.
        return {**changes, "retriever": Index.load(existing_folder(self.retriever) / INDEX_FOLDER).identity}


@validated("retrieval")
class TrainOptions:
    """Training of retrieval."""

    loss: LossName = opt(
        "contrastive",
        "contrastive: cross entropy over the batch's premises; mse: squared error of cosines against 0 and 1.",
        choices=LOSSES,
    )
    epochs: int = opt(10, "How often each tactic with a premise is seen.", min=0)
    batch_size: int = opt(32, "Examples in a batch.", min=1)
    accumulate: int = opt(1, "Batches in one optimizer step.", min=1, advanced=True)
    lr: float = opt(1e-3, "Learning rate (AdamW), which falls to 0 along a cosine.", min=0)
    warmup_steps: int = opt(1000, "Steps over which it rises, a tenth of all at most.", min=0, advanced=True)
    weight_decay: float = opt(0.01, "Weight decay of matrices.", min=0, advanced=True)
    max_grad_norm: float = opt(1.0, "Gradients are clipped to this norm.", above=0, advanced=True)
    num_negatives: int = opt(3, "Negatives for each example.", min=0)
    num_in_file_negatives: int = opt(1, "At most so many of them from the file of its premise.", min=0)
    temperature: float = opt(0.05, "Cosines are divided by it in the contrastive loss.", above=0, advanced=True)
    patience: int = opt(5, "Training ends after so many epochs without a better R@10 on val.", min=1)
    seed: int = opt(3407, "Seed of all random choices.", min=0, max=MOST_SEED)
