"""Long work on hostile input can be ended."""

import random
from collections.abc import Callable

import pytest

from harness.tools.query_logs.patterns import group


def texts(tokens: int, choose: Callable[[random.Random], str]) -> set[tuple[str, ...]]:
    dice = random.Random(1)
    return {("bean", *(choose(dice) for _ in range(tokens))) for _ in range(390)}


@pytest.mark.parametrize(
    "messages",
    [
        texts(12, lambda dice: f"com.{''.join(dice.choices('abcdefgh', k=6))}"),
        texts(100, lambda dice: dice.choice(["ba", "bo", "a.b", "a.c"])),
    ],
    ids=["names", "long"],
)
def test_grouping_free_text_asks_often_whether_it_is_to_go_on(messages: set[tuple[str, ...]]) -> None:
    asked = []
    group(messages, lambda: asked.append(True))
    assert len(asked) >= 100

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        group(messages, stop)
