"""What goes in stays in: planted words of every kind are looked for in every way out."""

import json
import time
from pathlib import Path

import MySQLdb
import pytest
from django.db import connection

from superbiz.demo.services import Services
from superbiz.demo.shop import settings_file
from tests.e2e.client import ChatClient
from tests.e2e.conftest import Serve
from tests.e2e.waiting import ended
from tests.provider.replies import MARKER, as_json, call, calls, error
from tests.provider.script import analysis, draft
from tests.provider.server import Provider

PLANTED = {
    "log secret": "PLANTED-LOG-Passw0rd",
    "row secret": "PLANTED-ROW-Passw0rd",
    "log text": "PLANTED-LOG-TEXT",
    "SQL literal": "PLANTED-SQL-LITERAL",
    "parameter": "PLANTED-PARAMETER",
    "thought": "PLANTED-THOUGHT",
    "text beside tool calls": "PLANTED-PROSE",
    "draft that was not released": "PLANTED-DRAFT",
    "provider words": MARKER,
    "API key": "PLANTED-API-KEY",
    "prompt": "You are the diagnosis agent",
}
IN_CONTENT = {"log text"}  # evidence that a released report cites is for its reader
# Auditors see which figures of a draft were not in its evidence; nobody else does.
FOR_AUDITORS = {"trace of the fallback as auditor", "diagnosis_trace_event"}


@pytest.fixture
def planted_row(services: Services) -> None:
    with MySQLdb.connect(unix_socket=str(services.endpoints.mariadb_socket), user="root", autocommit=True) as root:
        root.cursor().execute(
            "REPLACE INTO order_db.payment_record"
            " VALUES ('pay-planted', 'order-planted', %s, '', 'FAILED', NOW(), NOW())",
            ["pwd=PLANTED-ROW"[:16]],
        )


def test_nothing_planted_comes_out(
    serve_with: Serve, client_of: object, provider: Provider, services: Services, planted_row: None, tmp_path: Path
) -> None:

    (tmp_path / "order-service.log").write_text(
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        + f" ERROR login failed {PLANTED['log text']} password={PLANTED['log secret']}\n"
    )
    config = tmp_path / "superbiz.toml"
    config.write_text(
        f'[log_tools.topics.APPLICATION]\nsource = "FILE"\npaths = ["{tmp_path}/*.log"]\n{settings_file()}'
    )
    logs = call("call_logs", "query_logs", {"topic": "APPLICATION", "query": "login"})
    sql = (
        "SELECT order_id, channel FROM payment_record"
        f" WHERE order_id = ? OR order_id = '{PLANTED['SQL literal']}' OR payment_id = 'pay-planted'"
    )
    asked = {"data_source": "order_readonly", "sql": sql, "params": [PLANTED["parameter"]]}
    provider.script(
        "diagnosis",
        calls(
            [logs, call("call_mysql", "query_mysql", asked)],
            PLANTED["text beside tool calls"],
            reasoning_content=PLANTED["thought"],
        ),
        as_json(draft([analysis("a1", "call_logs", "日志中有登录失败"), analysis("a2", "call_mysql", "查到一条记录")])),
    )
    with serve_with(SUPERBIZ_CONFIG=str(config)) as server:
        owner: ChatClient = client_of("owner", server)  # type: ignore[operator]
        auditor: ChatClient = client_of("auditor", server)  # type: ignore[operator]
        released = owner.ask("为什么登录失败")
        assert released.outcome == "SUCCESS", released.result
        provider.script(
            "diagnosis",
            calls([logs]),
            as_json(draft([analysis("a1", "call_logs", PLANTED["draft that was not released"])])),
        )
        provider.script("semantic_guard", error(500), error(500))
        fallback = owner.ask("为什么登录失败", released.session_id)
        assert fallback.outcome == "FALLBACK"
        provider.script("intent_router", error(429))
        failed = owner.ask("为什么登录失败", released.session_id)
        assert failed.outcome == "FAILED"
        ways_out = {
            f"{name} as {who}": client.http.get(path).text
            for name, path in {
                "trace": f"/api/diagnosis/{released.session_id}/trace?runId={released.run_id}",
                "trace of the fallback": f"/api/diagnosis/{released.session_id}/trace?runId={fallback.run_id}",
                "sessions": "/api/sessions",
                "export": "/api/diagnosis/runs/export",
                "runs": "/api/diagnosis/runs",
            }.items()
            for who, client in {"owner": owner, "auditor": auditor}.items()
        }
        ways_out["stream"] = json.dumps([event.data for event in released.events if event.name != "content"])
        ways_out["fallback"] = json.dumps([event.data for event in fallback.events])
        ways_out["failure"] = json.dumps([event.data for event in failed.events])
        ways_out["log"] = server.log.read_text()
    ended(failed.run_id)
    assert "DEBUG" in ways_out["log"]
    with connection.cursor() as cursor:
        for table in ("diagnosis_trace_event", "agent_step", "tool_invocation", "agent_reasoning_audit"):
            cursor.execute(f"SELECT string_agg(t::text, ' ') FROM {table} t")
            ways_out[table] = cursor.fetchone()[0]
    for way in [way for way in ways_out if way.startswith("trace as")]:
        trace = json.loads(ways_out[way])
        assert trace["run"].pop("released_content") == released.result.data  # what its reader saw already
        ways_out[way] = json.dumps(trace, ensure_ascii=False)
    found = [
        (way, kind)
        for way, text in ways_out.items()
        for kind, words in PLANTED.items()
        if words in text and not (kind == "draft that was not released" and way in FOR_AUDITORS)
    ]
    assert not found, "\n".join(map(str, found))
    content = json.dumps(released.result.data, ensure_ascii=False)
    assert [kind for kind, words in PLANTED.items() if words in content and kind not in IN_CONTENT] == []
    assert "PLANTED-ROW" not in content
    assert "[REDACTED:password]" in content
    assert "Traceback" not in ways_out["log"]
