"""JSON from a model: one object, nothing forgiven."""

import pytest

from harness.reply import json_text
from harness.strict_json import StrictJsonError, loads_object


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not valid JSON"),
        ("[]", "not an object"),
        ("null", "not an object"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": {"b": 1, "b": 2}}', "twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1} {"b": 2}', "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ('{"a":' * 20_000, "nested too deeply"),
    ],
)
def test_other_texts_are_refused_without_a_word_of_them(text: str, fault: str) -> None:
    with pytest.raises(StrictJsonError, match=fault):
        loads_object(text)


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}', ' \n{"a": 1}\n', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n```\n', '```json\r\n{"a": 1}\r\n```'],
)
def test_an_object_may_stand_alone_or_in_one_fence(text: str) -> None:
    assert json_text(text) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    ['Here it is: {"a": 1}', '```json\n{"a": 1}\n```\nDone.', '```python\n{"a": 1}\n```', '```json\n{"a": 1}'],
)
def test_prose_beside_the_object_is_refused(text: str) -> None:
    with pytest.raises(StrictJsonError):
        json_text(text)
