"""Settings of topics: what is refused, and how it is said."""

from typing import Any

import pytest
from pydantic import ValidationError

from harness.tools.query_logs.config import LogToolsSettings
from superbiz.conf import SettingsError, load


def test_four_topics_of_the_scenario_are_there_without_any_setting() -> None:
    topics = LogToolsSettings().topics
    assert list(topics) == ["APPLICATION", "GATEWAY", "DATABASE", "SYSTEM"]
    assert {topic.source for topic in topics.values()} == {"MOCK"}


@pytest.mark.parametrize(
    "values",
    [
        {"topics": {}},
        {"topics": {"orders": {"source": "MOCK"}}},
        {"topics": {"A" * 41: {"source": "MOCK"}}},
        {"topics": {"ORDERS": {"source": "FILE"}}},
        {"topics": {"ORDERS": {"source": "FILE", "paths": [""]}}},
        {"topics": {"ORDERS": {"source": "MOCK", "paths": ["/var/log"]}}},
        {"topics": {"ORDERS": {"source": "CLS"}}},
        {"topics": {"ORDERS": {"source": "FILE", "paths": ["/a"], "zone": "Shanghai"}}},
        {"topics": {"ORDERS": {"source": "FILE", "paths": ["/a"], "zone": "../etc/passwd"}}},
        {"topics": {"ORDERS": {"source": "FILE", "paths": ["/a"], "encoding": "utf-9"}}},
        {"topics": {"ORDERS": {"source": "MOCK", "colour": "red"}}},
        {"max_patterns": 0},
        {"max_patterns": 41},
        {"max_events": 51},
        {"max_message_characters": 1_201},
        {"max_characters": 0},
        {"max_lookback_minutes": 1_441},
    ],
)
def test_values_out_of_bounds_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LogToolsSettings.model_validate(values)


def test_a_refusal_names_the_setting_and_what_it_takes() -> None:
    topics = '{"ORDERS": {"source": "FILE", "paths": ["/var/log"], "zone": "Mars/Base"}}'
    with pytest.raises(SettingsError, match=r"log_tools\.topics\.ORDERS\.zone: .*Asia/Shanghai"):
        load({"SUPERBIZ_LOG_TOOLS__TOPICS": topics})
