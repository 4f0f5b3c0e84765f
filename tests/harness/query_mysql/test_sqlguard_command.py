"""`manage.py sqlguard` as a script uses it: its own process, no service, no model library."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.harness.query_mysql.conftest import DATA, read_cases

ROOT = Path(__file__).resolve().parents[3]
TOML = """
[mysql_tools.data_sources.one]
url = "${NOT_SET}"
default_schema = "shop"
allowed_schemas.shop.tables.orders = { columns = ["id"] }
[mysql_tools.data_sources.two]
default_schema = "shop"
allowed_schemas.shop.tables.users = { columns = ["id"] }
"""


def sqlguard(policy: Path, text: str, *options: str, python: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if not key.endswith("_URL")}
    return subprocess.run(
        [sys.executable, *python, str(ROOT / "manage.py"), "sqlguard", "--policy", str(policy), *options],
        input=text, capture_output=True, text=True, cwd=ROOT, env=environ, check=False, encoding="utf-8",
    )  # fmt: skip


def test_every_open_case_gets_its_verdict() -> None:
    text = (DATA / "open.jsonl").read_text(encoding="utf-8")
    done = sqlguard(DATA / "policy.json", text, "--jsonl")
    assert done.returncode == 0, done.stderr
    verdicts: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(v["id"], v["verdict"]) for v in verdicts] == [(c["id"], c["verdict"]) for c in read_cases()]
    assert all(set(v) == {"id", "verdict", "code", "message", "executed_sql", "params"} for v in verdicts)


def test_it_imports_no_model_library() -> None:
    done = sqlguard(DATA / "policy.json", "", python=("-X", "importtime"))
    assert done.returncode == 0, done.stderr
    assert "litellm" not in done.stderr
    assert "sqlglot" in done.stderr


def test_a_toml_policy_with_several_sources_asks_which(tmp_path: Path) -> None:
    policy = tmp_path / "superbiz.toml"
    policy.write_text(TOML, encoding="utf-8")
    names = ("one", "two", "three", None)
    lines = [{"id": 1, "sql": "SELECT id FROM users", "data_source": name} for name in names]
    done = sqlguard(policy, "\n".join(map(json.dumps, lines)), "--jsonl")
    codes = [json.loads(line)["code"] for line in done.stdout.splitlines()]
    assert codes == ["TABLE", None, "DATA_SOURCE", "DATA_SOURCE"]


def test_odd_input_gets_a_verdict_and_no_crash() -> None:
    odd = [
        '{"sql": "SELECT \\ud800"}',
        '{"sql": "", "params": []}',
        '{"sql": "SELECT id FROM orders", "params": [[1]]}',
        '{"sql": "SELECT id FROM orders WHERE id = ?", "params": [NaN]}',
    ]
    done = sqlguard(DATA / "policy.json", "\n".join(odd), "--jsonl")
    assert [json.loads(line)["verdict"] for line in done.stdout.splitlines()] == ["reject"] * 4


def test_what_cannot_be_read_ends_with_one_sentence(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(TOML.replace('columns = ["id"]', 'columns = ["*"]'), encoding="utf-8")
    for policy, text, said in (
        (bad, "", "is not an exact name"),
        (tmp_path / "none.toml", "", "cannot be read"),
        (DATA / "policy.json", "{", "line 1 is not valid JSON"),
        (DATA / "policy.json", '{"id": 1}', "string `sql`"),
    ):
        done = sqlguard(policy, text)
        assert done.returncode == 1
        assert said in done.stderr
        assert "Traceback" not in done.stderr
