"""The main job on files that nobody here wrote: OpenSSH and HDFS logs with their times shifted to now, and runbooks.

The played model copies what the tools return, so that what the report says can be compared with `grep -c`.
"""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.plugin import DjangoDbBlocker

from tests.e2e.client import ChatClient
from tests.e2e.conftest import Serve
from tests.e2e.server import Server
from tests.harness.query_logs.shift import shift_log
from tests.provider.replies import Reply, Request, as_json, call, calls
from tests.provider.script import analysis, draft
from tests.provider.server import Provider

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for name in ("OpenSSH", "HDFS"):
        shift_log(DATA / "logs" / name / f"{name}_2k.log", folder / f"{name}.log", datetime.now(UTC))
    return folder


@pytest.fixture(scope="module")
def real_server(
    serve_with: Serve, logs: Path, tmp_path_factory: pytest.TempPathFactory, documents: None
) -> Iterator[Server]:
    config = tmp_path_factory.mktemp("config") / "superbiz.toml"
    config.write_text(
        f'[log_tools.topics.SSH]\nsource = "FILE"\npaths = ["{logs}/OpenSSH.log"]\n'
        f'[log_tools.topics.HDFS]\nsource = "FILE"\npaths = ["{logs}/HDFS.log"]\n'
    )
    with serve_with(SUPERBIZ_CONFIG=str(config)) as server:
        yield server


@pytest.fixture
def asker(real_server: Server, client_of: Any, django_db_blocker: DjangoDbBlocker) -> ChatClient:
    with django_db_blocker.unblock():
        call_command("ingest", str(DATA / "runbooks"), verbosity=0)
    client: ChatClient = client_of("owner", real_server)
    return client


def grep(pattern: str, file: Path) -> int:
    done = subprocess.run(["grep", "-c", "-i", "-F", pattern, str(file)], capture_output=True, text=True, check=False)
    return int(done.stdout)


def tell_counts(request: Request) -> Reply:
    """A report of what each look-up returned, word for word."""
    found = []
    for number, result in enumerate(request.tool_results(), 1):
        kind = "NORMAL" if result["evidence_status"] == "EVIDENCE_FOUND" else "NEGATIVE_OBSERVATION"
        words = f"match_count {result['match_count']}" if "match_count" in result else "documents"
        found.append(analysis(f"a{number}", result["tool_call_id"], words, kind))
    return as_json(draft(found))


def look_up(provider: Provider, topic: str, query: str, words: str) -> None:
    asked = [
        call("call_logs", "query_logs", {"topic": topic, "query": query, "lookback_minutes": 1440}),
        call("call_docs", "lookup_knowledge", {"query": words}),
    ]
    provider.script("diagnosis", calls(asked), tell_counts)


@pytest.mark.parametrize("question", ["最近为什么有这么多 SSH 登录失败？", "Why are there so many failed SSH logins?"])
def test_failed_logins_are_counted_as_grep_counts_them(
    asker: ChatClient, provider: Provider, logs: Path, question: str
) -> None:
    look_up(provider, "SSH", '"Failed password"', "failed SSH logins")
    stream = asker.ask(question)
    assert stream.outcome == "SUCCESS", stream.result
    payload = stream.result.data["payload"]
    expected = grep("Failed password", logs / "OpenSSH.log")
    assert expected == 520
    assert payload["analysis"][0]["text"] == f"match_count {expected}"
    reference = payload["references"][0]
    assert (reference["source_type"], reference["source"], reference["source_kind"]) == ("LOG", "SSH", "FILE")
    assert sum(pattern["count"] for pattern in reference["patterns"]) == expected
    lines = (logs / "OpenSSH.log").read_text()
    for event in reference["events"]:
        assert event["message"] in lines


def test_block_errors_are_counted_and_name_real_lines(asker: ChatClient, provider: Provider, logs: Path) -> None:
    look_up(provider, "HDFS", "exception", "HDFS block errors")
    stream = asker.ask("HDFS block errors: what happened?")
    assert stream.outcome == "SUCCESS", stream.result
    payload = stream.result.data["payload"]
    reference = payload["references"][0]
    lines = (logs / "HDFS.log").read_text()
    assert reference["events"]
    assert all(event["message"] in lines for event in reference["events"])
    assert all(event["level"] == "WARN" for event in reference["events"])


def test_the_right_runbook_is_cited(asker: ChatClient, provider: Provider) -> None:
    provider.script(
        "diagnosis", calls([call("call_docs", "lookup_knowledge", {"query": "etcd has no leader"})]), tell_counts
    )
    stream = asker.ask("etcd has no leader, what now?")
    assert stream.outcome == "SUCCESS", stream.result
    (reference,) = stream.result.data["payload"]["references"]
    assert reference["excerpts"][0]["document_id"] == "etcdnoleader"
    text = (DATA / "runbooks" / "etcdNoLeader.md").read_text()
    assert reference["excerpts"][0]["excerpt"].split("\n")[0] in text


def test_what_the_data_cannot_answer_ends_in_limitations(asker: ChatClient, provider: Provider) -> None:
    asked = call(
        "call_logs", "query_logs", {"topic": "SSH", "query": "kerberos ticket expired", "lookback_minutes": 1440}
    )

    def report(request: Request) -> Reply:
        (result,) = request.tool_results()
        assert result["evidence_status"] == "NO_EVIDENCE"
        nothing = analysis("a1", "call_logs", "在 SSH 日志最近 1440 分钟内没有匹配的记录", "NEGATIVE_OBSERVATION")
        return as_json(draft([nothing], None, action_plan=[], recommendations=[]))

    provider.script("diagnosis", calls([asked]), report)
    stream = asker.ask("Kerberos 票据为什么过期？")
    assert stream.outcome == "SUCCESS", stream.result
    payload = stream.result.data["payload"]
    assert payload["conclusion"] is None
    assert payload["limitations"]["missing_info"]
    assert "kerberos" in json.dumps(payload["references"][0]["scope"])
