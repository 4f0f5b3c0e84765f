"""Patterns keep clear of what some Python versions of Debian match wrongly."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
PACKAGES = ("audit", "chat", "diagnosis", "harness", "knowledge", "superbiz")
GROUP_THAT_GIVES_NOTHING_BACK = re.compile(r"[^\\]\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11.2 matches `(?:a|b)*+` and `(?>…)` wrongly; of a single character or class it does not."""
    found = [
        f"{path.relative_to(REPOSITORY)}:{number}"
        for package in PACKAGES
        for path in (REPOSITORY / package).rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if GROUP_THAT_GIVES_NOTHING_BACK.search(line)
    ]
    assert found == []
