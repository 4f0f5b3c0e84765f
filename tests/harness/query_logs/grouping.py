"""How well patterns agree with the ground truth of a log sample, for ours and for drain3."""

import csv
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from drain3 import TemplateMiner

from harness.tools.query_logs.miner import PatternMiner
from tests.harness.query_logs.asking import DATA, sample


@dataclass(frozen=True, slots=True)
class Truth:
    """A sample's raw lines without their ends; for each its message alone and the name of its event."""

    raw: list[bytes]
    messages: list[str]
    events: list[str]


def truth(system: str) -> Truth:
    with Path(DATA, system, f"{system}_2k.log_structured.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    raw = sample(system).read_bytes().splitlines()
    assert len(raw) == len(rows)
    return Truth(raw, [row["Content"] for row in rows], [row["EventId"] for row in rows])


def assigned_by_us(lines: Iterable[bytes]) -> list[str]:
    miner = PatternMiner()
    for line in lines:
        miner.add(line)
    return list(miner.assigned())


def assigned_by_drain3(messages: Iterable[str]) -> list[int]:
    """With its defaults, as its users run it: line by line."""
    miner = TemplateMiner()
    return [int(miner.add_log_message(message)["cluster_id"]) for message in messages]


def grouping_accuracy(found: Sequence[Hashable], true: Sequence[Hashable]) -> float:
    """The share of lines whose group holds exactly the lines of one true event (Zhu et al., ICSE-SEIP 2019)."""
    right = set(_groups(true))
    return sum(len(group) for group in _groups(found) if group in right) / len(true)


def _groups(names: Sequence[Hashable]) -> list[frozenset[int]]:
    members: dict[Hashable, set[int]] = defaultdict(set)
    for number, name in enumerate(names):
        members[name].add(number)
    return [frozenset(group) for group in members.values()]
