"""What can go wrong inside a run, as a tree.

HarnessError
├── ToolCallError        one tool call ends with status ERROR; the agent sees `code` and `hint`
├── ModelCallError       one model call failed; `kind` says how, the provider's words stay in `__cause__`
├── BudgetExhaustedError a budget has no room left; `reason` names which
├── StoreUnavailableError Redis or PostgreSQL is away
├── RunStoppedError      the run was cancelled, its deadline passed, or the process shuts down
└── RunFailedError       the run ends without content; `code` is the stream's failure code

No message of these classes holds provider words, SQL, log text or secrets.
"""

from enum import StrEnum


class ToolErrorCode(StrEnum):
    """Why a tool call ended with ERROR. Source: 03-tools, "Boundary"."""

    INVALID_TOOL_CALL_ID = "INVALID_TOOL_CALL_ID"
    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    NOT_ALLOWED = "NOT_ALLOWED"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    TIMEOUT = "TIMEOUT"
    UNAVAILABLE = "UNAVAILABLE"
    RESULT_TOO_LARGE = "RESULT_TOO_LARGE"
    PROJECTION_FAILED = "PROJECTION_FAILED"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    REPEATED_QUERY = "REPEATED_QUERY"


class BudgetReason(StrEnum):
    """Which budget ran out first. Source: 02-harness, "Budgets"."""

    MODEL_CALLS = "MODEL_CALLS"
    TOOL_CALLS = "TOOL_CALLS"
    TOOL_CALLS_PER_TOOL = "TOOL_CALLS_PER_TOOL"
    TOKENS = "TOKENS"
    CONTEXT_TOKENS = "CONTEXT_TOKENS"
    DEADLINE = "DEADLINE"
    SEMANTIC_INPUT = "SEMANTIC_INPUT"


class ModelFailure(StrEnum):
    """How a model call failed. Source: 02-harness, "Model boundary"."""

    TIMEOUT = "TIMEOUT"
    TRANSPORT = "TRANSPORT"
    REJECTED = "REJECTED"
    INVALID = "INVALID"


class StopReason(StrEnum):
    """Who ended a run before its time."""

    CLIENT_GONE = "CLIENT_GONE"
    CANCELLED = "CANCELLED"
    DEADLINE = "DEADLINE"
    SHUTTING_DOWN = "SHUTTING_DOWN"


class FailureCode(StrEnum):
    """Why a run ended without content. Source: 01-chat, `failure.code`."""

    ROUTING_UNAVAILABLE = "ROUTING_UNAVAILABLE"
    MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
    KNOWLEDGE_UNAVAILABLE = "KNOWLEDGE_UNAVAILABLE"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    SHUTTING_DOWN = "SHUTTING_DOWN"
    CANCELLED = "CANCELLED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class HarnessError(Exception):
    """Base of all errors that the harness raises on purpose."""


class ToolCallError(HarnessError):
    """Ends one tool call with status ERROR. The agent sees `code` and `hint`; nobody outside sees the cause."""

    def __init__(self, code: ToolErrorCode, hint: str) -> None:
        super().__init__(f"{code}: {hint}")
        self.code, self.hint = code, hint


class ModelCallError(HarnessError):
    """A model call brought no usable reply. The provider's words are only in `__cause__`, for nobody to log."""

    def __init__(self, kind: ModelFailure) -> None:
        super().__init__(kind.value)
        self.kind = kind


class BudgetExhaustedError(HarnessError):
    """A model call was not made because a budget has no room left."""

    def __init__(self, reason: BudgetReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class StoreUnavailableError(HarnessError):
    """Redis (the canonical record) or PostgreSQL (the audit) is away."""


class RunStoppedError(HarnessError):
    """The run may do nothing more. Raised by boundaries before they start work on a stopped run."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class RunFailedError(HarnessError):
    """The run ends without content; the user sees a message of ours for `code`."""

    def __init__(self, code: FailureCode) -> None:
        super().__init__(code.value)
        self.code = code
