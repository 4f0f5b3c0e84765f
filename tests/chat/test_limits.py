"""Leases on places for runs, over real Redis and over several processes."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from uuid import uuid4

import pytest

from chat.limits import UserLimit
from harness.errors import StoreUnavailableError

users = count(1_000_000)


@pytest.fixture
def user_id() -> int:
    """A user whom no other test knows."""
    return next(users)


@pytest.fixture
async def limit(redis_admin_url: str) -> AsyncIterator[UserLimit]:
    limit = UserLimit.from_url(redis_admin_url, runs=2, lease_seconds=60)
    yield limit
    await limit.close()


async def test_the_place_after_the_last_one_is_refused(limit: UserLimit, user_id: int) -> None:
    assert [await limit.take(user_id, uuid4()) for _ in range(3)] == [True, True, False]


async def test_each_user_has_places_of_their_own(limit: UserLimit, user_id: int) -> None:
    assert [await limit.take(user_id, uuid4()) for _ in range(2)] == [True, True]
    assert await limit.take(next(users), uuid4())


async def test_a_place_that_was_given_back_is_given_again(limit: UserLimit, user_id: int) -> None:
    run_id = uuid4()
    assert await limit.take(user_id, run_id)
    assert await limit.take(user_id, uuid4())
    await limit.give_back(user_id, run_id)
    assert await limit.take(user_id, uuid4())
    assert not await limit.take(user_id, uuid4())


async def test_a_lease_of_a_process_that_died_expires(redis_admin_url: str, user_id: int) -> None:
    limit = UserLimit.from_url(redis_admin_url, runs=1, lease_seconds=0.1)
    try:
        assert await limit.take(user_id, uuid4())
        assert not await limit.take(user_id, uuid4())
        async with asyncio.timeout(30):
            while not await limit.take(user_id, uuid4()):
                await asyncio.sleep(0.1)
    finally:
        await limit.close()


async def test_of_many_that_ask_at_once_in_several_processes_only_so_many_get_a_place(
    redis_admin_url: str, user_id: int
) -> None:
    limits = [UserLimit.from_url(redis_admin_url, runs=3, lease_seconds=60) for _ in range(4)]
    taken = await asyncio.gather(*(limit.take(user_id, uuid4()) for limit in limits for _ in range(10)))
    assert sum(taken) == 3
    for limit in limits:
        await limit.close()


async def test_without_redis_nobody_gets_a_place_and_giving_back_is_no_error() -> None:
    limit = UserLimit.from_url("redis://127.0.0.1:1/0", runs=3, lease_seconds=60)
    with pytest.raises(StoreUnavailableError):
        await limit.take(1, uuid4())
    await limit.give_back(1, uuid4())
