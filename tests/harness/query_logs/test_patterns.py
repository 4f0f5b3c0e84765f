"""Patterns on real logs: they agree with the ground truth, whatever the order of the lines."""

import random
from statistics import mean

import pytest

from tests.harness.query_logs.asking import SYSTEMS
from tests.harness.query_logs.grouping import assigned_by_drain3, assigned_by_us, grouping_accuracy, truth


def test_grouping_accuracy_is_high_and_nowhere_below_drain3() -> None:
    accuracies = []
    for system in SYSTEMS:
        true = truth(system)
        theirs = grouping_accuracy(assigned_by_drain3(true.messages), true.events)
        ours = grouping_accuracy(assigned_by_us(true.raw), true.events)
        by_message = grouping_accuracy(assigned_by_us(each.encode() for each in true.messages), true.events)
        assert ours >= theirs, system
        assert by_message >= theirs, system
        accuracies.append(ours)
    assert mean(accuracies) >= 0.99


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_order_of_lines_changes_nothing(system: str) -> None:
    lines = truth(system).raw
    straight = dict(zip(lines, assigned_by_us(lines), strict=True))
    for seed in range(3):
        shuffled = random.Random(seed).sample(lines, len(lines))
        assert dict(zip(shuffled, assigned_by_us(shuffled), strict=True)) == straight
