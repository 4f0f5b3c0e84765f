"""ToolBoundary: every tool call passes here, whatever the model asked for.

The order of checks, the record and the projection are those of 03-tools, "Boundary". Whatever fails becomes
an ERROR result under the call's id, with a hint for the agent that holds no internals.
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from harness.config import HarnessSettings
from harness.context import RunContext
from harness.errors import BudgetReason, StoreUnavailableError, ToolCallError, ToolErrorCode
from harness.plain_text import plain_json
from harness.progress import Progress, StatusCode, StatusUpdate
from harness.projection import fit_agent_result
from harness.recorder import ToolCallStatus, ToolFinished, ToolRecord, ToolStarted, now
from harness.store import InvocationRecord, InvocationStore
from harness.strict_json import StrictJsonError, loads_object
from harness.tools.base import EvidenceStatus, JsonObject, Tool
from harness.tools.summary import ToolSummary

logger = logging.getLogger(__name__)

_TOOL_CALL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_UNKNOWN = "unknown"
_BUDGET_HINTS = {
    BudgetReason.TOOL_CALLS: "No tool calls are left in this run. Write the report from what you have.",
    BudgetReason.TOOL_CALLS_PER_TOOL: "No calls of this tool are left. Use another tool, or write the report.",
}


@dataclass(frozen=True, slots=True)
class WireToolCall:
    """A tool call as the model sent it; nothing in it is trusted."""

    tool_call_id: str | None
    name: str
    arguments: str


@dataclass(slots=True)
class _Call:
    """What is known of the call that runs now."""

    audit_id: str
    tool_name: str
    started_at: datetime
    clock: float
    raw_bytes: int = 0
    result_bytes: int = 0
    started: bool = False
    summary: ToolSummary = field(default_factory=ToolSummary)


class ToolBoundary:
    """The tools of this process and the store of their records; one for all runs."""

    def __init__(self, store: InvocationStore, tools: Sequence[Tool[Any]], settings: HarnessSettings) -> None:
        self.store = store
        self.settings = settings
        self.tools: Mapping[str, Tool[Any]] = {tool.name: tool for tool in tools}

    def definitions(self) -> list[JsonObject]:
        """The tools as the provider's wire wants them."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.arguments.model_json_schema(),
                },
            }
            for tool in self.tools.values()
        ]

    def open(self, ctx: RunContext, progress: Progress) -> "RunTools":
        return RunTools(self, ctx, progress)


class RunTools:
    """The tool calls of one run, one after the other."""

    def __init__(self, boundary: ToolBoundary, ctx: RunContext, progress: Progress) -> None:
        self._boundary = boundary
        self._store = boundary.store
        self._evidence = boundary.settings.evidence
        self._ctx = ctx
        self._progress = progress
        self._seen: set[str] = set()
        self._asked: dict[tuple[str, str], str] = {}
        self._bytes = 0
        self._refused_ids = 0
        self._lock = asyncio.Lock()  # calls of one reply run one after the other, whatever the framework does

    async def execute(self, call: WireToolCall) -> JsonObject:
        """The `agent_result` of one call, or its ERROR result. Raises only when the run itself must end."""
        async with self._lock:
            return await self._execute(call)

    async def _execute(self, call: WireToolCall) -> JsonObject:
        ctx = self._ctx
        ctx.check()
        tool = self._boundary.tools.get(call.name)
        known_name = tool.name if tool is not None else None
        problem = self._check_id(call.tool_call_id)
        if problem is not None or call.tool_call_id is None:
            self._refused_ids += 1
            # "!" is no character of a well-formed id, so this can never be another call's.
            current = _Call(f"!{self._refused_ids}", known_name or _UNKNOWN, now(), time.monotonic())
            ctx.budget.consume_tool_call(known_name or "")
            hint = problem or "The tool call has no id. Send each call with an id of its own."
            error = ToolCallError(ToolErrorCode.INVALID_TOOL_CALL_ID, hint)
            return self._finish_error(current, call.tool_call_id, error, StatusUpdate(code=StatusCode.TOOL_RUNNING))
        tool_call_id = call.tool_call_id
        self._seen.add(tool_call_id)
        current = _Call(tool_call_id, known_name or _UNKNOWN, now(), time.monotonic())
        status = StatusUpdate(code=StatusCode.TOOL_RUNNING, tool_name=known_name)
        request: JsonObject = {}
        created = False
        try:
            reason = ctx.budget.consume_tool_call(known_name or "")
            if reason is not None:
                raise ToolCallError(ToolErrorCode.BUDGET_EXHAUSTED, _BUDGET_HINTS[reason])
            if tool is None:
                names = ", ".join(self._boundary.tools)
                raise ToolCallError(ToolErrorCode.UNKNOWN_TOOL, f"There is no such tool. The tools are: {names}.")
            arguments = _parse_arguments(tool, call.arguments)
            request = arguments.model_dump(mode="json")
            current.summary = tool.summarize(arguments, None)
            status = status.model_copy(update=_facts(current.summary))
            self._refuse_repetition(tool, arguments)
            if await self._store.exists(ctx.run_id, tool_call_id):
                raise ToolCallError(ToolErrorCode.INVALID_TOOL_CALL_ID, "This tool call id was used before.")
            self._start(current, status)
            raw = await self._run(tool, arguments)
            encoded = _encode(raw, ToolErrorCode.UNAVAILABLE)
            current.raw_bytes = len(encoded)
            self._check_size(current.raw_bytes)
            record = InvocationRecord(
                tool_call_id=tool_call_id,
                run_id=ctx.run_id,
                tool_name=tool.name,
                request=request,
                raw_response=raw,
                status=ToolCallStatus.PROJECTING,
                started_at=current.started_at,
            )
            created = await self._store.create(record)
            if not created:
                raise ToolCallError(ToolErrorCode.INVALID_TOOL_CALL_ID, "This tool call id was used before.")
            result = await asyncio.to_thread(self._project, tool, raw, arguments, tool_call_id)
            current.result_bytes = len(_encode(result, ToolErrorCode.PROJECTION_FAILED))
            self._bytes += current.raw_bytes + current.result_bytes
            evidence_status = EvidenceStatus(result["evidence_status"])
            current.summary = tool.summarize(arguments, result)
            ready = record.model_copy(
                update={
                    "agent_result": result,
                    "status": ToolCallStatus.READY,
                    "evidence_status": evidence_status,
                    "finished_at": now(),
                }
            )
            if not await self._store.complete(ready):
                raise ToolCallError(ToolErrorCode.STORE_UNAVAILABLE, _STORE_HINT)
        except ToolCallError as error:
            await self._store_error(current, request, error, exists=created)
            return self._finish_error(current, tool_call_id, error, status)
        except StoreUnavailableError:
            return self._finish_error(
                current, tool_call_id, ToolCallError(ToolErrorCode.STORE_UNAVAILABLE, _STORE_HINT), status
            )
        except asyncio.CancelledError:
            self._record(current, ToolCallStatus.ERROR, EvidenceStatus.ERROR, None)
            raise
        self._asked[tool.name, tool.normalise(arguments)] = tool_call_id
        self._record(current, ToolCallStatus.READY, evidence_status, None)
        summary = current.summary
        count = summary.match_count if summary.match_count is not None else summary.returned_count
        self._progress(
            _finished(status).model_copy(
                update={
                    "evidence_status": evidence_status.value,
                    "count": count,
                    "duration_ms": _elapsed_ms(current),
                }
            )
        )
        return result

    def _check_id(self, tool_call_id: str | None) -> str | None:
        if tool_call_id is None or tool_call_id == "":
            return "The tool call has no id. Send each call with an id of its own."
        if not _TOOL_CALL_ID.fullmatch(tool_call_id):
            return "The tool call id must be 1 to 128 characters of A-Z, a-z, 0-9, _, ., : and -."
        if tool_call_id in self._seen:
            return "This tool call id was used before in this run. Send each call with an id of its own."
        return None

    def _refuse_repetition(self, tool: Tool[Any], arguments: BaseModel) -> None:
        earlier = self._asked.get((tool.name, tool.normalise(arguments)))
        if earlier is not None:
            hint = f"The call {earlier} asked the same. Use its result, or ask something else."
            raise ToolCallError(ToolErrorCode.REPEATED_QUERY, hint)

    def _check_size(self, raw_bytes: int) -> None:
        if raw_bytes > self._evidence.max_record_bytes:
            raise ToolCallError(
                ToolErrorCode.RESULT_TOO_LARGE, "The result is too large. Ask for less: narrow the query."
            )
        if self._bytes + raw_bytes > self._evidence.max_run_bytes:
            hint = "The results of this run are too large in all. Write the report from what you have."
            raise ToolCallError(ToolErrorCode.RESULT_TOO_LARGE, hint)

    async def _run(self, tool: Tool[Any], arguments: BaseModel) -> JsonObject:
        try:
            async with asyncio.timeout(tool.timeout_seconds):
                raw: JsonObject = plain_json(await tool.run(self._ctx, arguments))
                return raw
        except TimeoutError:
            hint = f"The tool did not answer within {tool.timeout_seconds:g} seconds. Narrow the query."
            raise ToolCallError(ToolErrorCode.TIMEOUT, hint) from None
        except (ToolCallError, StoreUnavailableError):
            raise
        except Exception as error:  # a fault in one tool ends that call, not the run; only its class is logged
            logger.error("tool %s failed in run %s: %s", tool.name, self._ctx.run_id, type(error).__name__)
            raise ToolCallError(ToolErrorCode.UNAVAILABLE, "The tool is not available now.") from error

    def _project(self, tool: Tool[Any], raw: JsonObject, arguments: BaseModel, tool_call_id: str) -> JsonObject:
        try:
            result = tool.project(raw, arguments, tool_call_id)
            EvidenceStatus(result["evidence_status"])
            return fit_agent_result(result, self._evidence.max_agent_result_bytes)
        except Exception as error:  # what cannot be projected must not pass, whatever went wrong
            logger.error("projection of %s failed in run %s: %s", tool.name, self._ctx.run_id, type(error).__name__)
            hint = "The result could not be prepared. Ask in another way."
            raise ToolCallError(ToolErrorCode.PROJECTION_FAILED, hint) from error

    async def _store_error(self, current: _Call, request: JsonObject, error: ToolCallError, *, exists: bool) -> None:
        """Keep the failed call's record. A record of another call under this id stays as it is."""
        record = InvocationRecord(
            tool_call_id=current.audit_id,
            run_id=self._ctx.run_id,
            tool_name=current.tool_name,
            request=request,
            status=ToolCallStatus.ERROR,
            evidence_status=EvidenceStatus.ERROR,
            error_code=error.code,
            started_at=current.started_at,
            finished_at=now(),
        )
        try:
            await (self._store.complete(record) if exists else self._store.create(record))
        except StoreUnavailableError:
            logger.warning("the record of a failed tool call of run %s could not be stored", self._ctx.run_id)

    def _start(self, current: _Call, status: StatusUpdate) -> None:
        current.started = True
        self._ctx.recorder.event(ToolStarted(tool_call_id=current.audit_id, tool_name=current.tool_name))
        self._progress(status)

    def _finish_error(
        self, current: _Call, tool_call_id: str | None, error: ToolCallError, status: StatusUpdate
    ) -> JsonObject:
        status = status.model_copy(update={"tool_name": None if current.tool_name == _UNKNOWN else current.tool_name})
        if not current.started:
            self._start(current, status)
        self._record(current, ToolCallStatus.ERROR, EvidenceStatus.ERROR, error.code)
        self._progress(
            _finished(status).model_copy(
                update={
                    "evidence_status": EvidenceStatus.ERROR.value,
                    "error_code": error.code.value,
                    "duration_ms": _elapsed_ms(current),
                }
            )
        )
        return {
            "evidence_status": EvidenceStatus.ERROR.value,
            "tool_call_id": None if tool_call_id is None else tool_call_id[:128],
            "error": {"code": error.code.value, "message": error.hint},
        }

    def _record(
        self, current: _Call, status: ToolCallStatus, evidence_status: EvidenceStatus, error_code: ToolErrorCode | None
    ) -> None:
        duration_ms = _elapsed_ms(current)
        self._ctx.recorder.tool(
            ToolRecord(
                tool_call_id=current.audit_id,
                tool_name=current.tool_name,
                status=status,
                evidence_status=evidence_status.value,
                error_code=error_code,
                summary=current.summary,
                raw_bytes=current.raw_bytes,
                result_bytes=current.result_bytes,
                started_at=current.started_at,
                duration_ms=duration_ms,
            )
        )
        self._ctx.recorder.event(
            ToolFinished(
                tool_call_id=current.audit_id,
                tool_name=current.tool_name,
                status=status,
                evidence_status=evidence_status.value,
                error_code=error_code,
                duration_ms=duration_ms,
            )
        )


_STORE_HINT = "The record of tool calls is not available now. Write the report from what you have."


def _parse_arguments(tool: Tool[Any], text: str) -> BaseModel:
    try:
        values = loads_object(text)
    except StrictJsonError as error:
        hint = f"The arguments are not one JSON object: {error}."
        raise ToolCallError(ToolErrorCode.INVALID_ARGUMENTS, hint) from None
    if plain_json(values) != values:
        hint = "The arguments hold NUL or half of a character."
        raise ToolCallError(ToolErrorCode.INVALID_ARGUMENTS, hint)
    try:
        # JSON mode: strict types, but enums and tuples may come as JSON writes them.
        arguments: BaseModel = tool.arguments.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise ToolCallError(ToolErrorCode.INVALID_ARGUMENTS, _explain(error)) from None
    return arguments


def _explain(error: ValidationError) -> str:
    """Which argument is wrong and how; never the value."""
    parts = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False)[:5]:
        where = ".".join(str(part) for part in problem["loc"]) or "arguments"
        parts.append(f"{where[:100]}: {problem['msg']}")
    return "; ".join(parts)[:1000]


def _encode(value: JsonObject, code: ToolErrorCode) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:  # a value that is no JSON, NaN, or a lone surrogate
        raise ToolCallError(code, "The result could not be read.") from error


def _facts(summary: ToolSummary) -> dict[str, Any]:
    return {
        "topic": summary.topic,
        "data_source": summary.data_source,
        "lookback_minutes": summary.lookback_minutes,
    }


def _finished(status: StatusUpdate) -> StatusUpdate:
    return status.model_copy(update={"code": StatusCode.TOOL_FINISHED})


def _elapsed_ms(current: _Call) -> int:
    return round((time.monotonic() - current.clock) * 1000)
