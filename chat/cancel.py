"""Stopping a run from elsewhere: the process that holds it may be another one.

Each process listens on the group below. A request names the run and where to answer; the process that holds the
run answers whether it stopped it. Nobody answers for a run that no process holds. Source: 01-chat, "Other endpoints".
"""

import asyncio
import logging
from enum import StrEnum
from uuid import UUID, uuid4

from channels.layers import get_channel_layer
from channels_redis.pubsub import RedisPubSubChannelLayer
from pydantic import BaseModel, ConfigDict, ValidationError
from redis.exceptions import RedisError

from chat.runs import RunRegistry
from harness.errors import StopReason, StoreUnavailableError

logger = logging.getLogger(__name__)

GROUP = "chat.cancel"
ANSWER_SECONDS = 2.0
_RETRY_SECONDS = 1.0


class CancelOutcome(StrEnum):
    STOPPED = "STOPPED"
    ENDED = "ENDED"
    NOT_HELD = "NOT_HELD"  # no process answered


class _Message(BaseModel):
    """A request has no outcome, its answer has one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str
    request_id: UUID
    run_id: UUID
    reply_to: str
    outcome: CancelOutcome | None = None


class CancelBus:
    """One per event loop. `start` begins to listen, and listens again after Redis was away."""

    def __init__(self, registry: RunRegistry) -> None:
        self._registry = registry
        self._waiting: dict[UUID, asyncio.Future[CancelOutcome]] = {}
        self._channel = ""
        self._listening = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._listen())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def cancel(self, run_id: UUID) -> CancelOutcome:
        """Stop the run wherever it is held. Raises `StoreUnavailableError` when Redis is away."""
        outcome = self._cancel_here(run_id)
        return outcome if outcome is not None else await self._cancel_elsewhere(run_id)

    def _cancel_here(self, run_id: UUID) -> CancelOutcome | None:
        run = self._registry.get(run_id)
        if run is None:
            return None
        return CancelOutcome.STOPPED if run.stop(StopReason.CANCELLED) else CancelOutcome.ENDED

    async def _cancel_elsewhere(self, run_id: UUID) -> CancelOutcome:
        request_id = uuid4()
        answer: asyncio.Future[CancelOutcome] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._listening.wait()
                message = _Message(type="chat.cancel", request_id=request_id, run_id=run_id, reply_to=self._channel)
                await _layer().group_send(GROUP, message.model_dump(mode="json"))
                return await answer
        except TimeoutError:
            if not self._listening.is_set():
                raise StoreUnavailableError("Redis is away") from None
            return CancelOutcome.NOT_HELD
        except (RedisError, OSError) as error:
            raise StoreUnavailableError("Redis is away") from error
        finally:
            del self._waiting[request_id]

    async def _listen(self) -> None:
        while True:
            try:
                layer = _layer()
                self._channel = await layer.new_channel("chat.")
                await layer.group_add(GROUP, self._channel)
                self._listening.set()
                while True:
                    await self._handle(await layer.receive(self._channel))
            except (RedisError, OSError) as error:
                self._listening.clear()
                logger.warning("cancel messages cannot be received: %s", type(error).__name__)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _handle(self, received: dict[str, object]) -> None:
        try:
            message = _Message.model_validate(received)
        except ValidationError:
            logger.warning("a cancel message that is not valid was dropped")
            return
        if message.outcome is not None:
            waiting = self._waiting.get(message.request_id)
            if waiting is not None and not waiting.done():
                waiting.set_result(message.outcome)
            return
        outcome = self._cancel_here(message.run_id)
        if outcome is not None:
            reply = message.model_copy(update={"outcome": outcome})
            await _layer().send(message.reply_to, reply.model_dump(mode="json"))


def _layer() -> RedisPubSubChannelLayer:
    return get_channel_layer()
