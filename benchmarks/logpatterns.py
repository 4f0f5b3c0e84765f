"""Grouping accuracy on raw log lines and throughput, ours over drain3's with its defaults, in one run.

Run: `.venv/bin/python -m benchmarks.logpatterns [copies]`. Throughput is that of each system's sample repeated (ten
times unless told), in lines a CPU second. Ours is given raw lines and finds the messages in them; drain3, which cannot
do that, is given the messages alone. Goals: accuracy 0.90 on average and never below drain3's, three times its speed.
"""

import logging
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from statistics import mean

from tests.harness.query_logs.asking import SYSTEMS
from tests.harness.query_logs.grouping import assigned_by_drain3, assigned_by_us, grouping_accuracy, truth


def main() -> None:
    copies = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    logging.disable(logging.WARNING)  # drain3 says that it has no configuration file
    print(f"{'':<10}{'accuracy':>9}{'drain3':>8}{'lines/s':>10}{'drain3':>9}{'ratio':>7}")
    accuracies = []
    spent = [0.0, 0.0]
    lines = 0
    for system in SYSTEMS:
        true = truth(system)
        ours = grouping_accuracy(assigned_by_us(true.raw), true.events)
        theirs = grouping_accuracy(assigned_by_drain3(true.messages), true.events)
        one = _seconds(lambda raw=true.raw: assigned_by_us(raw * copies))  # type: ignore[misc]
        other = _seconds(lambda messages=true.messages: assigned_by_drain3(messages * copies))  # type: ignore[misc]
        number = len(true.raw) * copies
        print(f"{system:<10}{ours:>9.4f}{theirs:>8.4f}{number / one:>10,.0f}{number / other:>9,.0f}{other / one:>7.1f}")
        accuracies.append(ours)
        spent = [spent[0] + one, spent[1] + other]
        lines += number
    ours_all, theirs_all = (lines / seconds for seconds in spent)
    print(f"{'all':<10}{mean(accuracies):>9.4f}{'':>8}{ours_all:>10,.0f}{theirs_all:>9,.0f}{spent[1] / spent[0]:>7.1f}")


def _seconds(work: Callable[[], Sequence[Hashable]]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
