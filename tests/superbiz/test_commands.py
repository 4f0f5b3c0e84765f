"""Commands as a person or a script runs them, in a process of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from superbiz.demo.services import Services
from tests.provider.replies import as_json, call, calls, error, text
from tests.provider.script import by_default
from tests.provider.server import Provider

ROOT = Path(__file__).parent.parent.parent
NO_SERVICES = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1"}


def manage(*arguments: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "DJANGO_SETTINGS_MODULE": "superbiz.settings", **environ}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=variables,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_settings_masks_secrets() -> None:
    done = manage("settings", "--json", SUPERBIZ_MODEL_API_KEY="sk-planted", SUPERBIZ_MODEL="openai/x", **NO_SERVICES)
    assert done.returncode == 0, done.stderr
    assert "sk-planted" not in done.stdout
    values = json.loads(done.stdout)
    assert (values["model.name"], values["model.api_key"]) == ("openai/x", "********")


def test_bad_settings_stop_every_command_with_a_plain_message() -> None:
    done = manage("settings", SUPERBIZ_HARNESS__BUDGET__MODEL_CALLS="1")
    assert done.returncode != 0
    assert "harness.budget.model_calls" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [["settings"], ["redact"], ["sqlguard", "--policy", "tests/data/sql/policy.json"]])
def test_commands_that_need_no_model_do_not_import_litellm(command: list[str]) -> None:
    code = (
        "import sys; from django.core.management import execute_from_command_line as run\n"
        f"run(['manage.py', *{command!r}])\n"
        "assert 'litellm' not in sys.modules and 'pydantic_ai' not in sys.modules"
    )
    variables = {**os.environ, "DJANGO_SETTINGS_MODULE": "superbiz.settings", **NO_SERVICES}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=variables, input=b"", capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_redact_masks_stdin() -> None:
    done = manage("redact", stdin="password=hunter2secret user=alice\n", **NO_SERVICES)
    assert done.stdout == "password=[REDACTED:password] user=alice\n"


def check_model(provider: Provider) -> tuple[int, dict[str, dict[str, object]]]:
    done = manage(
        "check_model",
        "--jsonl",
        SUPERBIZ_MODEL="openai/test",
        SUPERBIZ_MODEL_API_BASE=provider.url,
        SUPERBIZ_MODEL_API_KEY="none",
    )
    return done.returncode, {line["purpose"]: line for line in map(json.loads, done.stdout.splitlines())}


def test_check_model_says_that_all_works(provider: Provider) -> None:
    provider.script("intent_router", text("SYSTEM_CHAT"))
    provider.script("diagnosis", calls([call("call_1", "query_logs", {"query": "order-service"})]))
    draft: dict[str, object] = {"conclusion": None, "analysis": [], "limitations": {"scope": "x", "missing_info": []}}
    provider.script("evidence_repair", as_json(draft))
    provider.script("knowledge_answer", by_default)
    code, results = check_model(provider)
    assert code == 0, results
    assert [line["ok"] for line in results.values()] == [True] * 6
    assert provider.purposes() == list(results)
    assert all(line["usage_reported"] for line in results.values())


def test_check_model_says_what_does_not_work(provider: Provider) -> None:
    provider.script("intent_router", text("I would say SYSTEM_CHAT"))
    provider.script("diagnosis", text("I need no tools"))
    provider.always("semantic_guard", error(500))
    code, results = check_model(provider)
    assert code == 1
    assert (results["intent_router"]["ok"], results["intent_router"]["outcome"]) == (False, "INVALID")
    assert (results["diagnosis"]["ok"], results["diagnosis"]["checked"]) == (False, "tools")
    assert results["semantic_guard"]["outcome"] == "TRANSPORT"
    assert results["system_chat"]["ok"]


def test_ask_without_a_demo_says_how_to_start_one(tmp_path: Path) -> None:
    done = manage("ask", "--dir", str(tmp_path), "why?", **NO_SERVICES)
    assert done.returncode == 1
    assert "make demo" in done.stderr


def test_deploy_checks_compare_the_account_with_the_allowlist(services: Services, tmp_path: Path) -> None:
    from superbiz.demo.shop import settings_file

    config = tmp_path / "superbiz.toml"
    config.write_text(settings_file())
    url = f"mysql://root@127.0.0.1:{services.endpoints.mariadb_port}"
    done = manage("check", "--deploy", SUPERBIZ_CONFIG=str(config), ORDER_MYSQL_URL=url)
    assert "superbiz.W00" in done.stderr
