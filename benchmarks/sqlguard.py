"""How long the guard takes for a statement, over what sqlglot takes to parse the same text: at most 3.

Run: .venv/bin/python -m benchmarks.sqlguard
"""

import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import median

import sqlglot

from harness.tools.query_mysql.config import PolicySettings
from harness.tools.query_mysql.guard import prove
from harness.tools.query_mysql.policy import Policy
from harness.tools.query_mysql.refusal import StatementRefusedError

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "sql"
ROUNDS = 15


def seconds(work: Callable[[], None]) -> float:
    """The fastest of several rounds: what the machine's other work adds is left out."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    logging.disable(logging.WARNING)  # sqlglot warns of statements that it only half knows
    settings = PolicySettings.model_validate_json((DATA / "policy.json").read_text(encoding="utf-8"))
    policy = Policy.build(settings.data_sources["order-db"], settings)
    cases = [json.loads(line) for line in (DATA / "open.jsonl").read_text(encoding="utf-8").splitlines()]

    def guard(case: dict[str, object]) -> None:
        with suppress(StatementRefusedError):
            prove(case["sql"], case["params"], policy)  # type: ignore[arg-type]

    def parse(case: dict[str, object]) -> None:
        with suppress(sqlglot.ParseError):
            sqlglot.parse(str(case["sql"]), dialect="mysql")

    for kind in ("accept", "reject"):
        chosen = [case for case in cases if case["verdict"] == kind]
        guards = [seconds(lambda case=case: guard(case)) for case in chosen]  # type: ignore[misc]
        parses = [seconds(lambda case=case: parse(case)) for case in chosen]  # type: ignore[misc]
        ratios = [one / other for one, other in zip(guards, parses, strict=True)]
        print(
            f"{kind}: guard {median(guards) * 1e6:.0f} µs, parse {median(parses) * 1e6:.0f} µs (medians); "
            f"in all {sum(guards) / sum(parses):.2f} times, worst statement {max(ratios):.2f} times"
        )


if __name__ == "__main__":
    main()
