"""The open cases: every verdict, and a rendering that proves again to itself."""

from typing import Any

import pytest

from harness.tools.query_mysql.guard import prove
from harness.tools.query_mysql.policy import Policy
from harness.tools.query_mysql.refusal import StatementRefusedError
from tests.harness.query_mysql.conftest import read_cases


@pytest.mark.parametrize("case", read_cases("reject"), ids=lambda case: case["id"])
def test_a_statement_outside_the_subset_or_the_policy_is_refused(case: dict[str, Any], policy: Policy) -> None:
    with pytest.raises(StatementRefusedError):
        prove(case["sql"], case["params"], policy)


@pytest.mark.parametrize("case", read_cases("accept"), ids=lambda case: case["id"])
def test_a_legal_statement_is_rendered_and_proves_again_to_itself(case: dict[str, Any], policy: Policy) -> None:
    proved = prove(case["sql"], case["params"], policy)
    assert proved.executed_sql.count("?") - case["sql"].count("'?'") == len(proved.params)
    again = prove(proved.executed_sql, proved.params, policy)
    assert (again.executed_sql, again.params) == (proved.executed_sql, proved.params)
