"""The tools as the Model Context Protocol has them: arguments with descriptions, progress, cancellation, time limits.

The work itself runs in threads (`workbench.py`); this module alone knows the SDK.
"""

import hmac
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp_types import CallToolResult, ContentBlock, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from nanoproof.mcp.calls import Place, Watch, problem_of
from nanoproof.mcp.opening import Opening
from nanoproof.mcp.results import (
    CheckResult,
    Explanation,
    PremisesFound,
    SorriesResult,
    StatementResult,
    Suggestions,
    ToolProblem,
    TriedTactics,
)
from nanoproof.mcp.searches import TREE_ADDRESS, Searches
from nanoproof.mcp.workbench import Workbench
from nanoproof.repos.project_premises import MOST_PREMISES

log = logging.getLogger(__name__)
ResultT = TypeVar("ResultT", bound=BaseModel)

INSTRUCTIONS = """\
nanoproof proves Lean 4. It searches for tactics and checks what it finds, so a long wait is work; progress is reported.
Write `sorry` where you want a proof, then call prove_sorry (one) or prove_file (all): both return a patch and change no
file. try_tactics and suggest_tactics look at the goal of a sorry; premises finds lemmas; check_proof is the verdict.
Only outcome `proved` is a proof. `conditional` rests on sorries that are still open, which it names.
Where a search fails, explain_failure tells the closest states and why tactics were refused; a larger simulations budget
goes on where the last search ended. Paths are relative to the project's folder."""

GRACE_SECONDS = 90.0
"""After the time limit: for the final check of what was found until then."""
_POLL_SECONDS = 0.2
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

File = Annotated[str, Field(description="A .lean file of the project, its path from the project's folder.")]
OptionalFile = Annotated[
    str | None, Field(description="A .lean file of the project with a sorry, its path from the project's folder.")
]
Line = Annotated[int | None, Field(description="Line of the sorry, from 1; not needed if there is only one.", ge=1)]
Column = Annotated[int | None, Field(description="Column of the sorry, from 0, where a line has several.", ge=0)]
State = Annotated[
    str | None, Field(description="In place of file and line: a goal as Lean prints it (`h : p` lines, then `⊢ q`).")
]
ContextText = Annotated[
    str, Field(description="Lean text that comes before the statement or state: `open`, `variable`, definitions.")
]
Imports = Annotated[
    list[str], Field(description="Modules of the project that the statement, state or source may use.", max_length=100)
]
Simulations = Annotated[
    int, Field(description="Budget of a search; larger is slower and finds more.", ge=1, le=100_000)
]
Seconds = Annotated[float, Field(description="The call ends after about so many seconds.", gt=0, le=3600)]


class Answers:
    """Answers calls of tools by work in threads, which the rest of the server goes on beside."""

    def __init__(self, opening: Opening, max_seconds: float) -> None:
        """No call may take much longer than `max_seconds`, whatever it asks for."""
        self._opening, self._max_seconds = opening, max_seconds

    async def answer(
        self, ctx: Context[Any, Any], seconds: float, do: Callable[[Workbench, Watch], ResultT]
    ) -> CallToolResult:
        """Do the work in a thread, and report how far it is; what goes wrong outside of the program is a result too."""
        limit = min(seconds, self._max_seconds)
        watch = Watch(limit)
        outcome: list[ResultT | ToolProblem] = []

        def run() -> None:
            try:
                outcome.append(do(self._opening.workbench(watch), watch))
            except Exception as error:
                # What a caller can mend becomes a result; a mistake of ours is raised.
                problem = problem_of(error)
                if problem is None:
                    raise
                outcome.append(problem)

        async def work() -> None:
            # A thread cannot be ended from outside: it is told to stop, and left alone where nobody waits any more.
            await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
            group.cancel_scope.cancel()

        try:
            with anyio.move_on_after(limit + GRACE_SECONDS):
                async with anyio.create_task_group() as group:
                    group.start_soon(work)
                    await _report(ctx, watch)
        except ExceptionGroup as errors:
            # The group is of our two tasks and says nothing; what went wrong in one of them does.
            raise errors.exceptions[0] from None
        finally:
            watch.stop()
        if not outcome:
            why = f"no answer {GRACE_SECONDS:g} s after the limit of {limit:g} s: Lean or the model hangs"
            return problem_result(ToolProblem("timed out", why))
        result = outcome[0]
        if isinstance(result, ToolProblem):
            return problem_result(result)
        text = result.model_dump_json(indent=1)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=json.loads(text))


def make_server(opening: Opening, searches: Searches, max_seconds: float) -> MCPServer[Any]:
    """Make the server of a project's tools; no call may take much longer than `max_seconds`."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        # Not before: over stdio the SDK keeps what is printed out of the protocol only once it serves.
        opening.start()
        yield

    server: MCPServer[Any] = MCPServer("nanoproof", instructions=INSTRUCTIONS, log_level="WARNING", lifespan=lifespan)
    answer = Answers(opening, max_seconds).answer

    @server.tool(annotations=_READS)
    async def prove_statement(
        ctx: Context[Any, Any],
        statement: Annotated[str, Field(description="A theorem with a name; `:= by sorry` may be left out.")],
        imports: Imports = [],  # noqa: B006
        context: ContextText = "",
        simulations: Simulations = 64,
        seconds: Seconds = 60,
    ) -> Annotated[CallToolResult, StatementResult]:
        """Prove one theorem. Returns the checked proof, or the best open goals and the search tree's address."""
        return await answer(
            ctx,
            seconds,
            lambda bench, watch: bench.prove_statement(statement, context, imports, simulations, watch),
        )

    @server.tool(annotations=_READS)
    async def prove_sorry(
        ctx: Context[Any, Any],
        file: File,
        line: Line = None,
        column: Column = None,
        simulations: Simulations = 64,
        seconds: Seconds = 60,
    ) -> Annotated[CallToolResult, SorriesResult]:
        """Prove one `sorry` of a file. Changes nothing: returns the proof and a patch for `git apply`."""

        def work(bench: Workbench, watch: Watch) -> SorriesResult:
            gap_line, gap_column = bench.place_of(file, line, column)
            return bench.prove_sorries(file, gap_line, gap_column, simulations, watch)

        return await answer(ctx, seconds, work)

    @server.tool(annotations=_READS)
    async def prove_file(
        ctx: Context[Any, Any], file: File, simulations: Simulations = 64, seconds: Seconds = 300
    ) -> Annotated[CallToolResult, SorriesResult]:
        """Prove all `sorry`s of a file. Progress messages tell each as it is found; returns all, and one patch."""

        def work(bench: Workbench, watch: Watch) -> SorriesResult:
            return bench.prove_sorries(file, None, None, simulations, watch)

        return await answer(ctx, seconds, work)

    @server.tool(annotations=_READS)
    async def try_tactics(
        ctx: Context[Any, Any],
        tactics: Annotated[list[str], Field(description="Tactics, each tried on its own from the same state.")],
        file: OptionalFile = None,
        line: Line = None,
        column: Column = None,
        state: State = None,
        imports: Imports = [],  # noqa: B006
        context: ContextText = "",
        seconds: Seconds = 60,
    ) -> Annotated[CallToolResult, TriedTactics]:
        """Try tactics at a `sorry`, or at a state: the goals that each leaves, or why Lean refuses it."""
        place = Place(file, line, column, state, context, tuple(imports))
        return await answer(ctx, seconds, lambda bench, watch: bench.try_tactics(place, tactics, watch))

    @server.tool(annotations=_READS)
    async def suggest_tactics(
        ctx: Context[Any, Any],
        file: OptionalFile = None,
        line: Line = None,
        column: Column = None,
        state: State = None,
        count: Annotated[int, Field(description="How many at most.", ge=1, le=100)] = 16,
        seconds: Seconds = 60,
    ) -> Annotated[CallToolResult, Suggestions]:
        """What the policy would try at a `sorry`, or at a state: tactics with log-probabilities, and its value."""
        place = Place(file, line, column, state)
        return await answer(ctx, seconds, lambda bench, watch: bench.suggest_tactics(place, count, watch))

    @server.tool(annotations=_READS)
    async def premises(
        ctx: Context[Any, Any],
        file: OptionalFile = None,
        line: Line = None,
        column: Column = None,
        state: State = None,
        count: Annotated[int, Field(description="How many at most.", ge=1, le=MOST_PREMISES)] = 16,
        seconds: Seconds = 60,
    ) -> Annotated[CallToolResult, PremisesFound]:
        """Declarations that may help at a `sorry` (only those accessible there), or at a state."""
        place = Place(file, line, column, state)
        return await answer(ctx, seconds, lambda bench, watch: bench.premises(place, count, watch))

    @server.tool(annotations=_READS)
    async def check_proof(
        ctx: Context[Any, Any],
        file: Annotated[
            str | None, Field(description="A .lean file of the project: the whole file is checked.")
        ] = None,
        line: Line = None,
        column: Column = None,
        source: Annotated[str | None, Field(description="In place of file: Lean text, without imports.")] = None,
        proof: Annotated[
            str | None, Field(description="Tactics to check in place of the sorry of file (and line), or of source.")
        ] = None,
        imports: Imports = [],  # noqa: B006
        seconds: Seconds = 60,
    ) -> Annotated[CallToolResult, CheckResult]:
        """The final check of a file or text, or of a proof in place of a `sorry`: errors, sorries, axioms."""

        def work(bench: Workbench, watch: Watch) -> CheckResult:
            if (file is None) == (source is None):
                raise ToolProblem("bad argument", "give either file or source")
            if proof is None:
                return bench.check_text(file, source or "", imports, watch)
            return bench.check_proof(Place(file, line, column, None, "", tuple(imports)), source, proof, watch)

        return await answer(ctx, seconds, work)

    @server.tool(annotations=_READS)
    async def explain_failure(
        ctx: Context[Any, Any],
        search: Annotated[
            str | None, Field(description="Id of a search; the last one without a proof if left out.")
        ] = None,
    ) -> Annotated[CallToolResult, Explanation]:
        """Why a search found no proof: the closest states, the refused tactics by kind with Lean's words."""
        return await answer(ctx, max_seconds, lambda bench, watch: bench.explain(search))

    @server.resource(
        "nanoproof://searches", title="Searches", description="The searches so far.", mime_type="application/json"
    )
    def list_searches() -> str:
        entries = [entry.model_dump() for entry in searches.entries()]
        return json.dumps({**opening.described, "searches": entries}, indent=1)

    @server.resource(
        TREE_ADDRESS + "{search}",
        title="Search tree",
        description="A search tree, as a page for a browser.",
        mime_type="text/html",
    )
    def tree(search: str) -> str:
        page = searches.tree_page(search)
        if page is None:
            raise ResourceNotFoundError(f"there is no tree of a search {search[:80]!r}")
        return page

    return server


def problem_result(problem: ToolProblem) -> CallToolResult:
    """Return a problem as a result: words for the model, and its kind for programs."""
    # An error of the protocol itself would be for the client; a result that is marked as one the model reads.
    content: list[ContentBlock] = [TextContent(type="text", text=f"{problem.kind}: {problem}")]
    fields = {"error": problem.kind, "message": str(problem)}
    return CallToolResult(content=content, structured_content=fields, is_error=True)


async def _report(ctx: Context[Any, Any], watch: Watch) -> None:
    """Report progress, while there is any, until cancelled: simulations, and each line of what happened."""
    lines_told, simulations_told = 0, 0
    step = 0
    while True:
        await anyio.sleep(_POLL_SECONDS)
        for line in watch.lines[lines_told:]:
            step += 1
            # The protocol wants progress to grow with each message: so it counts messages. The total is unknown.
            await ctx.report_progress(step, None, line)
        lines_told = len(watch.lines)
        if watch.simulations > simulations_told:
            simulations_told = watch.simulations
            step += 1
            await ctx.report_progress(step, None, f"{simulations_told} simulations")


# -- HTTP ------------------------------------------------------------------------------------------------------------

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def with_token(application: Application, token: str) -> Application:
    """Return an ASGI application that answers only requests with `Authorization: Bearer TOKEN`.

    Every user of a machine reaches its loopback addresses.
    """
    expected = f"bearer {token}".encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        # Not `lifespan`, the server's own start and end, which has no headers.
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            scheme, _, value = given.partition(b" ")
            # The scheme's name has no case (RFC 9110, 11.1). Comparing takes as long for a token that is nearly right.
            if not hmac.compare_digest(scheme.lower() + b" " + value.strip(), expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"application/json")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b'{"error": "a valid token is needed"}'})
                return
        await application(scope, receive, send)

    return guarded
