"""InvocationStore: the canonical record of each tool call in Redis, for the harness alone.

One key a call, created with NX and a TTL that nothing extends. Source: 03-tools, "The canonical record".
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, WatchError

from harness.config import EvidenceSettings
from harness.errors import StoreUnavailableError
from harness.recorder import ToolCallStatus
from harness.tools.base import EvidenceStatus

KEY_PREFIX = "superbiz:harness:tool-call"
_TIMEOUT_SECONDS = 5.0
_MAX_CONNECTIONS = 64


class InvocationRecord(BaseModel):
    """One tool call, whole. Never logged, and never shown to an agent, an API or an admin page."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool_call_id: str
    run_id: UUID
    tool_name: str
    request: dict[str, Any]
    raw_response: dict[str, Any] | None = None
    agent_result: dict[str, Any] | None = None
    status: ToolCallStatus
    evidence_status: EvidenceStatus | None = None  # None while PROJECTING
    error_code: str | None = None
    started_at: datetime
    finished_at: datetime | None = None

    def encode(self) -> bytes:
        """UTF-8 JSON as stored. Raises ValueError when a value is not plain JSON."""
        return self.model_dump_json().encode()

    def __repr__(self) -> str:
        return f"InvocationRecord({self.tool_call_id!r}, {self.status})"

    __str__ = __repr__


class InvocationStore:
    """Reads and writes records. Every method raises `StoreUnavailableError` when Redis is away."""

    def __init__(self, redis: Redis, settings: EvidenceSettings) -> None:
        self._redis = redis
        self._settings = settings

    @classmethod
    def from_url(cls, url: str, settings: EvidenceSettings) -> "InvocationStore":
        """Connect lazily through a bounded pool, without hidden retries."""
        pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
            url,
            max_connections=_MAX_CONNECTIONS,
            timeout=_TIMEOUT_SECONDS,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        return cls(Redis.from_pool(pool), settings)

    @staticmethod
    def key(run_id: UUID, tool_call_id: str) -> str:
        return f"{KEY_PREFIX}:{run_id}:{tool_call_id}"

    async def ping(self) -> None:
        """Ask for a key that no run has: `PING` is not a command that needs any permission on keys."""
        try:
            await self._redis.exists(f"{KEY_PREFIX}:ping")
        except (RedisError, OSError) as error:
            raise StoreUnavailableError("Redis is away") from error

    async def exists(self, run_id: UUID, tool_call_id: str) -> bool:
        try:
            return bool(await self._redis.exists(self.key(run_id, tool_call_id)))
        except (RedisError, OSError) as error:
            raise StoreUnavailableError("Redis is away") from error

    async def create(self, record: InvocationRecord) -> bool:
        """Store a new record for `evidence.ttl_seconds`. False if its key exists; then nothing is changed."""
        try:
            created = await self._redis.set(
                self.key(record.run_id, record.tool_call_id), record.encode(), nx=True, ex=self._settings.ttl_seconds
            )
        except (RedisError, OSError) as error:
            raise StoreUnavailableError("Redis is away") from error
        return bool(created)

    async def complete(self, record: InvocationRecord) -> bool:
        """Move a PROJECTING record to READY or ERROR, keeping its TTL. False if it is not PROJECTING any more."""
        if record.status is ToolCallStatus.PROJECTING:
            raise ValueError("a record is completed with READY or ERROR")
        key = self.key(record.run_id, record.tool_call_id)
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                await pipe.watch(key)
                stored = await pipe.get(key)
                if stored is None or _decode(stored).status is not ToolCallStatus.PROJECTING:
                    return False
                pipe.multi()
                pipe.set(key, record.encode(), xx=True, keepttl=True)
                return bool((await pipe.execute())[0])
        except WatchError:
            return False
        except (RedisError, OSError) as error:
            raise StoreUnavailableError("Redis is away") from error

    async def load(self, run_id: UUID, tool_call_ids: Iterable[str]) -> dict[str, InvocationRecord]:
        """The records of this run that exist, by id."""
        ids = list(dict.fromkeys(tool_call_ids))
        if not ids:
            return {}
        try:
            stored = await self._redis.mget([self.key(run_id, tool_call_id) for tool_call_id in ids])
        except (RedisError, OSError) as error:
            raise StoreUnavailableError("Redis is away") from error
        records = [_decode(value) for value in stored if value is not None]
        return {record.tool_call_id: record for record in records if record.run_id == run_id}

    async def close(self) -> None:
        await self._redis.aclose(close_connection_pool=True)


def _decode(value: bytes | str) -> InvocationRecord:
    return InvocationRecord.model_validate_json(value)
