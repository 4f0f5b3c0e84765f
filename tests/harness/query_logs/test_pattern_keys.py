"""Patterns of `key=value` and JSON: values are variables, but for those that are the event itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tools.query_logs.masks import WILDCARD, mask, outline, skeleton
from harness.tools.query_logs.miner import PatternMiner
from harness.tools.query_logs.patterns import group


def ids_of(*lines: str) -> list[str]:
    miner = PatternMiner()
    for line in lines:
        miner.add(line.encode())
    return list(miner.assigned())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("user=alice action=pay", "user=bob action=pay"),
        ('{"user": "alice", "code": 1}', '{"user": "bob li", "code": 22}'),
        ("disk1=ok", "disk22=ok"),
        ('{"disk1": "ok"}', '{"disk22": "ok"}'),
    ],
)
def test_values_and_figures_of_keys_are_variables(one: str, other: str) -> None:
    assert len(set(ids_of(one, other))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("user=alice paid", "order=alice paid"),
        ('msg="disk full" used=99', 'msg="disk ok" used=12'),
        ("call failed error=timeout n=1", "call failed error=refused n=1"),
        ('{"error": "timeout", "n": 1}', '{"error": "refused", "n": 1}'),
        ('step reason="late" n=1', 'step reason="lost" n=1'),
    ],
)
def test_other_keys_and_other_reasons_are_other_events(one: str, other: str) -> None:
    assert len(set(ids_of(one, other))) == 2


@given(st.text(alphabet='ab 019=.:/-_"', max_size=60))
def test_lines_of_one_outline_or_skeleton_have_one_mask(line: str) -> None:
    """What lines are looked up by; otherwise the first of them would decide for the others."""
    other = line.translate(str.maketrans("019", "870"))
    assert outline(line.encode()) == outline(other.encode())
    assert mask(other).tokens == mask(line).tokens
    longer = line.replace("0", "0000").replace("1", "1111").replace("9", "9999")
    if skeleton(longer.encode()) == skeleton(line.encode()):
        assert mask(longer).tokens == mask(line).tokens


@given(st.lists(st.lists(st.sampled_from(["open", "close", "for", "user", "a.b", "c_d", WILDCARD, "="]), min_size=1)))
def test_grouping_is_a_partition_that_any_order_gives(messages: list[list[str]]) -> None:
    known = [tuple(message) for message in messages]
    found = group(known)
    assert found == group(reversed(known))
    assert set(found) == set(known)
    for tokens, template in found.items():
        assert len(template) == len(tokens)
        assert all(general in (token, WILDCARD) for general, token in zip(template, tokens, strict=True))
