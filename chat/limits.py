"""How many runs a user may have at once, over all processes: leases in Redis that expire by themselves.

One sorted set a user; a member is a run, its score the time (Redis's clock) at which the lease ends even if the
process that holds it dies. Source: 02-harness, `limits.runs_per_user`.
"""

import logging
from uuid import UUID

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from harness.errors import StoreUnavailableError

logger = logging.getLogger(__name__)

_KEY = "superbiz:chat:runs"
_TIMEOUT_SECONDS = 2.0
_MAX_CONNECTIONS = 16

# Forget expired leases, count, add: in one step, so that two processes cannot both take the last place.
_TAKE = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""


class UserLimit:
    """At most `runs` leases a user; each lives for `lease_seconds` unless it is given back."""

    def __init__(self, redis: Redis, runs: int, lease_seconds: float) -> None:
        self._redis = redis
        self._runs = runs
        self._lease_seconds = int(lease_seconds) + 1
        self._take = redis.register_script(_TAKE)

    @classmethod
    def from_url(cls, url: str, runs: int, lease_seconds: float) -> "UserLimit":
        """Connect lazily through a bounded pool, without hidden retries."""
        pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
            url,
            max_connections=_MAX_CONNECTIONS,
            timeout=_TIMEOUT_SECONDS,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        return cls(Redis.from_pool(pool), runs, lease_seconds)

    async def take(self, user_id: int, run_id: UUID) -> bool:
        """Lease a place for the run. False when the user has none left.

        Raises `StoreUnavailableError` when Redis is away: without a count nobody may start.
        """
        try:
            taken = await self._take(keys=[self._key(user_id)], args=[str(run_id), self._runs, self._lease_seconds])
        except (RedisError, OSError) as error:
            raise StoreUnavailableError("Redis is away") from error
        return bool(taken)

    async def give_back(self, user_id: int, run_id: UUID) -> None:
        """End the lease now. With Redis away it ends by itself."""
        try:
            await self._redis.zrem(self._key(user_id), str(run_id))
        except (RedisError, OSError):
            logger.warning("the lease of run %s could not be given back; it expires", run_id)

    async def close(self) -> None:
        await self._redis.aclose(close_connection_pool=True)

    @staticmethod
    def _key(user_id: int) -> str:
        return f"{_KEY}:{user_id}"
