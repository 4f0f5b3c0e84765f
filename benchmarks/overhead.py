"""CPU seconds of one DIAGNOSIS run in the server process, next to bare litellm and httpx making the same four calls.

`.venv/bin/python -m benchmarks.overhead [RUNS]`. The model answers at once. A run is: router, two agent calls
with three tools, semantic guard. Ratios compare what was measured in this very run.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import httpx  # noqa: E402
import psutil  # noqa: E402

from superbiz.demo.services import Services  # noqa: E402
from superbiz.demo.shop import load_shop, settings_file  # noqa: E402
from tests.e2e.server import Server, serve  # noqa: E402
from tests.provider.server import Provider  # noqa: E402
from tests.services import environment  # noqa: E402

WARM_RUNS = 10
LOOP = """
import asyncio, sys, time
calls, url, kind = int(sys.argv[1]), sys.argv[2], sys.argv[3]
body = {"model": "openai/test", "messages": [{"role": "user", "content": '{"query": "x"}'}]}
headers = {"X-SuperBiz-Purpose": "system_chat"}
async def main():
    if kind == "litellm":
        sys.path.insert(0, sys.argv[4])
        from harness.provider import load_litellm
        litellm = load_litellm()
        async def call():
            await litellm.acompletion(**body, **more)
        more = dict(api_base=url, api_key="x", extra_headers=headers, num_retries=0, max_retries=0)
    else:
        import httpx
        client = httpx.AsyncClient(trust_env=False)
        async def call():
            (await client.post(url + "/chat/completions", json={**body, "model": "test"}, headers=headers)).json()
    for _ in range(20):
        await call()
    began = time.process_time()
    for _ in range(calls):
        await call()
    print(time.process_time() - began)
asyncio.run(main())
"""


@contextmanager
def product(provider: Provider) -> Iterator[tuple[Server, str]]:
    """A served process on services of its own, and a token."""
    with tempfile.TemporaryDirectory(prefix="superbiz-bench-") as folder:
        services = Services(Path(folder) / "services")
        services.start()
        try:
            endpoints = services.endpoints
            config = Path(folder) / "superbiz.toml"
            config.write_text(settings_file())
            now = datetime.now(UTC).replace(tzinfo=None)
            variables = {
                **environment(services),
                "DJANGO_SETTINGS_MODULE": "superbiz.settings",
                "ORDER_MYSQL_URL": load_shop(endpoints.mariadb_socket, endpoints.mariadb_port, now),
                "SUPERBIZ_CONFIG": str(config),
                "SUPERBIZ_MODEL": "openai/test",
                "SUPERBIZ_MODEL_API_BASE": provider.url,
                "SUPERBIZ_MODEL_API_KEY": "none",
                "SUPERBIZ_HARNESS__LIMITS__RUNS_PER_USER": "100",
                "LOG_LEVEL": "WARNING",
            }
            accounts = Path(folder) / "accounts.json"
            subprocess.run(
                [sys.executable, "-m", "superbiz.demo.load", str(accounts)],
                env={**os.environ, **variables},
                cwd=ROOT,
                check=True,
            )
            with serve(Path(folder) / "web.log", variables) as server:
                yield server, json.loads(accounts.read_text())["demo"]["token"]
        finally:
            services.stop()


def ask(server: Server, token: str) -> tuple[float, float]:
    """One diagnosis; seconds to the first byte and to the end."""
    began = time.perf_counter()
    first = 0.0
    headers = {"Authorization": f"Token {token}"}
    body = {"query": f"订单支付超时，帮我排查 {uuid4().hex[:8]}", "session_id": None}
    text = ""
    with (
        httpx.Client(timeout=120, trust_env=False) as client,
        client.stream("POST", f"{server.url}/api/chat", json=body, headers=headers) as answer,
    ):
        for part in answer.iter_text():
            first = first or time.perf_counter() - began
            text += part
    if '"outcome":"SUCCESS"' not in text:
        raise SystemExit(f"a run did not succeed: {text[-400:]}")
    return first, time.perf_counter() - began


def cpu(server: Server) -> float:
    times = psutil.Process(server.process.pid).cpu_times()
    return float(times.user + times.system)


def bare(provider: Provider, kind: str, calls: int) -> float:
    """CPU seconds of `calls` requests in a process that does nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", LOOP, str(calls), provider.url, kind, str(ROOT)],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with Provider() as provider, product(provider) as (server, token):
        for _ in range(WARM_RUNS):
            ask(server, token)
        before = cpu(server)
        began = time.perf_counter()
        timed = [ask(server, token) for _ in range(runs)]
        alone = (cpu(server) - before) / runs
        alone_rate = runs / (time.perf_counter() - began)
        before = cpu(server)
        began = time.perf_counter()
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda _: ask(server, token), range(runs)))
        together = (cpu(server) - before) / runs
        together_rate = runs / (time.perf_counter() - began)
        with_litellm = bare(provider, "litellm", 4 * runs) / runs
        with_httpx = bare(provider, "httpx", 4 * runs) / runs
    first = sorted(seconds for seconds, _ in timed)
    print(f"runs                          {runs}")
    print(f"CPU a run, 1 at a time        {alone * 1000:.1f} ms")
    print(f"CPU a run, 16 at a time       {together * 1000:.1f} ms")
    print(
        f"CPU of the four calls, litellm {with_litellm * 1000:.1f} ms (a run is {alone / with_litellm:.1f} times that)"
    )
    print(f"CPU of the four calls, httpx  {with_httpx * 1000:.1f} ms (a run is {alone / with_httpx:.1f} times that)")
    print(f"runs a second                 {alone_rate:.1f} at 1, {together_rate:.1f} at 16")
    median, slow = (round(first[int(runs * share)] * 1000) for share in (0.5, 0.95))
    print(f"first byte                    p50 {median} ms, p95 {slow} ms")


if __name__ == "__main__":
    main()
