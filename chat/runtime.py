"""The process-wide objects of the chat: one set per event loop, built at its first use.

A served process has one loop. Clients of Redis and litellm belong to the loop that made them, so a test's or a
command's loop gets a set of its own.
"""

import asyncio
import os
import socket
from dataclasses import dataclass
from typing import Any, Protocol, cast
from uuid import uuid4
from weakref import WeakKeyDictionary

from django.conf import settings

import knowledge.lookup
from chat.cancel import CancelBus
from chat.limits import UserLimit
from chat.runs import STOP_SECONDS, RunRegistry
from chat.usecase import ChatApplicationUseCase
from diagnosis.services import Services
from harness.boundary import ToolBoundary
from harness.config import HarnessSettings, ModelSettings
from harness.model import ModelBoundary
from harness.store import InvocationStore
from harness.tools.base import Tool
from harness.tools.lookup_knowledge import KnowledgeTool
from harness.tools.query_logs.config import LogToolsSettings
from harness.tools.query_logs.tool import LogsTool
from harness.tools.query_mysql.config import MysqlToolsSettings
from harness.tools.query_mysql.tool import MysqlTool


class SettingsTree(Protocol):
    """The part of the settings tree that the chat reads; the tree itself lives above this layer."""

    @property
    def harness(self) -> HarnessSettings: ...
    @property
    def model(self) -> ModelSettings: ...
    @property
    def log_tools(self) -> LogToolsSettings: ...
    @property
    def mysql_tools(self) -> MysqlToolsSettings: ...


@dataclass(frozen=True, slots=True)
class Runtime:
    """What runs share. `warming` ends once the first run need not wait for imports."""

    services: Services
    store: InvocationStore
    logs: LogsTool
    mysql: MysqlTool
    registry: RunRegistry
    limit: UserLimit
    cancels: CancelBus
    use_case: ChatApplicationUseCase
    warming: asyncio.Task[None]

    @property
    def draining(self) -> bool:
        """Whether the process accepts no more runs; readiness says so."""
        return self.registry.draining

    async def drain(self) -> None:
        """Accept nothing more; give running runs `limits.drain_seconds`; stop the rest with SHUTTING_DOWN."""
        await self.registry.drain(self.services.settings.limits.drain_seconds)

    async def close(self) -> None:
        """Close every client. Runs must have ended."""
        self.warming.cancel()
        await self.cancels.close()
        await self.limit.close()
        await self.store.close()
        await self.mysql.close()
        self.logs.close()


_runtimes: WeakKeyDictionary[asyncio.AbstractEventLoop, Runtime] = WeakKeyDictionary()


def get_runtime() -> Runtime:
    """The running loop's set."""
    loop = asyncio.get_running_loop()
    runtime = _runtimes.get(loop)
    if runtime is None:
        runtime = _runtimes[loop] = _build(cast(SettingsTree, settings.SUPERBIZ))
    return runtime


async def drain() -> None:
    """End the runs of the running loop. See `Runtime.drain`."""
    await get_runtime().drain()


async def close() -> None:
    """Close the running loop's set, if there is one, and forget it."""
    runtime = _runtimes.pop(asyncio.get_running_loop(), None)
    if runtime is not None:
        await runtime.close()


def _build(tree: SettingsTree) -> Runtime:
    harness = tree.harness
    store = InvocationStore.from_url(settings.HARNESS_REDIS_URL, harness.evidence)
    mysql = MysqlTool(tree.mysql_tools, harness.timeouts.mysql)
    logs = LogsTool(tree.log_tools, harness.timeouts.logs)
    tools: list[Tool[Any]] = [
        KnowledgeTool(harness.timeouts.knowledge),
        logs,
        mysql,
    ]
    model = ModelBoundary(tree.model, harness)
    services = Services(model=model, tools=ToolBoundary(store, tools, harness), settings=harness)
    registry = RunRegistry(harness.limits.runs_per_process)
    # A lease outlives the longest run, its stop and its last commit; then it belongs to a process that died.
    lease_seconds = harness.budget.run_seconds + 2 * STOP_SECONDS
    limit = UserLimit.from_url(settings.REDIS_URL, harness.limits.runs_per_user, lease_seconds)
    cancels = CancelBus(registry)
    cancels.start()
    return Runtime(
        services=services,
        store=store,
        logs=logs,
        mysql=mysql,
        registry=registry,
        limit=limit,
        cancels=cancels,
        use_case=ChatApplicationUseCase(services, registry, limit, _instance()),
        warming=asyncio.get_running_loop().create_task(_warm(model)),
    )


async def _warm(model: ModelBoundary) -> None:
    await model.warm()
    await knowledge.lookup.warm()


def _instance() -> str:
    """Names this process in the audit: host, process, and a part that tells apart two lives of the same id."""
    return f"{socket.gethostname()[:40]}-{os.getpid()}-{uuid4().hex[:8]}"
