"""Errors while a text is elaborated or a tactic runs: a message in Lean's words and a position."""


class ProofError(Exception):
    """A term, tactic or command is refused; `pos` and `end` are offsets into the source text where they are known."""

    def __init__(self, message: str, pos: int | None = None, end: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.pos = pos
        self.end = end

    def at(self, pos: int | None, end: int | None = None) -> "ProofError":
        """Return the same error, placed at `pos` unless it already has a position."""
        if self.pos is None:
            self.pos, self.end = pos, end
        return self


class ElabError(ProofError):
    """A term cannot be elaborated."""


class TacticError(ProofError):
    """A tactic does not apply."""


class Aborted(TacticError):
    """A tactic block ends here because of errors that have been reported already."""

    def __init__(self) -> None:
        super().__init__("aborted because of the errors before")
