"""The runs list over 1,000,000 runs: admin pages and API pages, next to `SELECT count(*)` of the same table.

    DJANGO_SETTINGS_MODULE=superbiz.settings DATABASE_URL=… python -m benchmarks.runs_list [--runs N]

The database must be migrated and may be thrown away: the rows stay in it. Prints the median of 15 requests of each
page, in milliseconds and as a share of the count; the goal is under 300 ms each.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import django

SEED = """
INSERT INTO chat_session (session_id, user_id, title, last_intent, last_user_query, created_at, last_active_at)
SELECT gen_random_uuid(), (SELECT max(id) - i %% 50 FROM auth_user), 'benchmark', '', '', now(), now()
FROM generate_series(1, %(sessions)s) AS i;
INSERT INTO diagnosis_run (run_id, session_id, user_query, intent, status, release_outcome, fallback_type,
    failure_code, released_content, model, language, instance, model_calls, tool_calls, input_tokens,
    output_tokens, total_tokens, cost_usd, started_at, deadline_at, finished_at, duration_ms)
SELECT gen_random_uuid(), sessions.ids[1 + i %% %(sessions)s],
    'Why do payments of order ' || i || ' time out?',
    (ARRAY['DIAGNOSIS', 'DIAGNOSIS', 'KNOWLEDGE_QUERY', 'SYSTEM_CHAT'])[1 + i %% 4],
    states.status, states.outcome, CASE WHEN states.status = 'FALLBACK' THEN 'SEMANTIC_UNSUPPORTED' END,
    CASE WHEN states.status = 'FAILED' THEN 'MODEL_UNAVAILABLE' END,
    CASE WHEN states.outcome IN ('SUCCESS', 'FALLBACK') THEN
        ('{"content_type": "DIAGNOSIS_REPORT", "payload": "' || repeat(md5(i::text), 60) || '"}')::json END,
    'openai/benchmark', 'en', 'host', 3, 4, 3000, 500, 3500, 0.01,
    now() - i * interval '25 seconds', now(), now() - i * interval '25 seconds' + interval '9 seconds', 9000
FROM generate_series(1, %(runs)s) AS i,
    LATERAL (SELECT (ARRAY['SUCCEEDED', 'FALLBACK', 'CANCELLED', 'FAILED'])[n] AS status,
        (ARRAY['SUCCESS', 'FALLBACK', NULL, 'FAILED'])[n] AS outcome
        FROM (SELECT CASE WHEN i %% 1000 = 0 THEN 4 WHEN i %% 50 = 0 THEN 3 WHEN i %% 10 = 0 THEN 2 ELSE 1 END AS n)
    ) AS states,
    (SELECT array_agg(session_id) AS ids FROM chat_session WHERE title = 'benchmark') AS sessions;
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000_000)
    runs: int = parser.parse_args().runs
    django.setup()
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client

    from audit.models import DiagnosisRun

    if DiagnosisRun.objects.count() < runs:
        _seed(runs)
    admin = User.objects.filter(is_superuser=True).first() or User.objects.create_superuser("benchmark-admin")
    client = Client(headers={"host": "localhost"})
    client.force_login(admin)
    old = DiagnosisRun.objects.order_by("started_at")[1000]
    some = DiagnosisRun.objects.select_related("session__user").filter(session__title="benchmark")[0]

    with connection.cursor() as cursor:
        count = _median(lambda: cursor.execute("SELECT count(*) FROM diagnosis_run"), times=5)
    print(f"{DiagnosisRun.objects.count():,} runs; count(*) takes {count:.0f} ms")
    day = old.started_at.date()
    admin_list, api_list = "/admin/audit/diagnosisrun/", "/api/diagnosis/runs"
    pages = {
        "admin: newest": admin_list,
        "admin: the last page": f"{admin_list}?after={old.started_at.isoformat().replace('+', '%2B')}_{old.pk}",
        "admin: status FAILED (0.1 %)": f"{admin_list}?status__exact=FAILED",
        "admin: fallback type": f"{admin_list}?fallback_type=SEMANTIC_UNSUPPORTED",
        "admin: a fallback type that never was": f"{admin_list}?fallback_type=EVIDENCE_VALIDATION_FAILED",
        "admin: status and intent": f"{admin_list}?status__exact=FAILED&intent__exact=SYSTEM_CHAT",
        "admin: of a user": f"{admin_list}?user={some.session.user.username}",
        "admin: by run id": f"{admin_list}?q={some.pk}",
        "admin: by session id": f"{admin_list}?q={some.session_id}",
        "api: newest": api_list,
        "api: status FAILED": f"{api_list}?status=FAILED",
        "api: one day, long ago": f"{api_list}?since={day}T00:00:00Z&until={day}T23:59:59Z",
        "words that are in no question": f"{api_list}?q=nosuchwords",
    }
    for name, address in pages.items():
        taken = _median(lambda address=address: _get(client, address))  # type: ignore[misc]
        print(f"{name:40} {taken:7.1f} ms  {taken / count:6.2f} of count(*)")


def _seed(runs: int) -> None:
    from django.contrib.auth.models import User
    from django.db import connection

    User.objects.bulk_create([User(username=f"benchmark-{n}") for n in range(50)], ignore_conflicts=True)
    with connection.cursor() as cursor:
        cursor.execute(SEED, {"runs": runs, "sessions": max(1, runs // 10)})
        cursor.execute("VACUUM ANALYZE diagnosis_run, chat_session")


def _get(client: Any, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 200, (address, response.status_code)


def _median(action: Callable[[], object], times: int = 15) -> float:
    """Milliseconds."""
    action()
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        action()
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
