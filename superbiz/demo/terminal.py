"""One question from the terminal: reads the stream of `POST /api/chat` and prints it as it comes."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx

Say = Callable[[str], None]
EXIT_CODES = {"SUCCESS": 0, "FALLBACK": 3, "FAILED": 1}


class AskError(Exception):
    """The question was refused or the stream broke. The message is the server's, or says what to do."""


def ask(url: str, token: str, query: str, language: str, say: Say) -> str:
    """Ask, print, and return the outcome of `done`. Raises `AskError`."""
    headers = {"Authorization": f"Token {token}", "Accept": "text/event-stream", "Accept-Language": language}
    timeout = httpx.Timeout(10, read=60)
    try:
        with httpx.Client(timeout=timeout, trust_env=False) as client:
            body = {"query": query, "session_id": None}
            with client.stream("POST", f"{url}/api/chat", json=body, headers=headers) as answer:
                if answer.status_code != 200:
                    answer.read()
                    raise AskError(_refusal(answer))
                for name, data in events(answer.iter_lines()):
                    if name == "done":
                        return str(data["outcome"])
                    _print(name, data, say)
    except httpx.ConnectError:
        raise AskError(f"No server answers at {url}. Start one with `make demo`.") from None
    except httpx.HTTPError as error:
        raise AskError(f"The stream broke off ({type(error).__name__}).") from None
    raise AskError("The stream ended without its last event.")


def events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and data of each event; comments are skipped."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def _refusal(answer: httpx.Response) -> str:
    try:
        body = answer.json()
        return f"{body['code']}: {body['message']}"
    except (ValueError, KeyError, TypeError):
        return f"The server answered {answer.status_code}."


def _print(name: str, data: dict[str, Any], say: Say) -> None:
    if name == "metadata":
        say(f"run {data['run_id']}")
    elif name == "status":
        first, *more = str(data["message"]).splitlines() or [""]
        say(f"· {first}")
        for line in more:
            say(f"    {line}")
    elif name == "failure":
        say(f"\n{data['code']}: {data['message']}")
    elif name == "content":
        say("")
        _PRINTERS[data["content_type"]](data["payload"], say)


def _print_answer(payload: dict[str, Any], say: Say) -> None:
    say(payload["answer"])
    for reference in payload.get("references", ()):
        say(f"  [{reference['document_id']}] {reference['breadcrumb'] or reference['title']}")
    for text in payload.get("limitations", ()):
        say(f"  - {text}")


def _print_report(payload: dict[str, Any], say: Say) -> None:
    conclusion = payload["conclusion"]
    say("结论 / Conclusion")
    say(f"  {conclusion['text'] if conclusion else '—'}")
    say("分析支撑 / Analysis")
    for item in payload["analysis"]:
        say(f"  {item['analysis_id']}. {item['text']} [{', '.join(item['reference_ids'])}]")
    say("行动计划 / Action plan")
    for item in payload["action_plan"]:
        mark = " ⚠ 需人工确认 / needs confirmation" if item["requires_human_confirmation"] else ""
        say(f"  - {item['action']} ({', '.join(item['based_on_analysis_ids'])}){mark}")
    say("长期建议 / Recommendations")
    for item in payload["recommendations"]:
        say(f"  - {item['text']} ({', '.join(item['based_on_analysis_ids'])})")
    say("诊断范围与限制 / Scope and limitations")
    say(f"  {payload['limitations']['scope']}")
    for text in payload["limitations"]["missing_info"]:
        say(f"  - {text}")
    say("引用 / References")
    for reference in payload["references"]:
        kind = " MOCK" if reference.get("source_kind") == "MOCK" else ""
        scope = reference["scope"]
        shown = scope if isinstance(scope, str) else json.dumps(scope, ensure_ascii=False)
        say(f"  {reference['reference_id']} {reference['source_type']}{kind} {reference['source']}: {shown}")


def _print_fallback(payload: dict[str, Any], say: Say) -> None:
    say(f"{payload['type']}: {payload['message']}")
    for source in payload["verified_sources"]:
        scope = source["scope"]
        shown = scope if isinstance(scope, str) else json.dumps(scope, ensure_ascii=False)
        say(f"  {source['source_type']} {source['source']}: {shown}")
    for text in [*payload["limitations"], *payload["next_steps"]]:
        say(f"  - {text}")


_PRINTERS: dict[str, Callable[[dict[str, Any], Say], None]] = {
    "SYSTEM_ANSWER": _print_answer,
    "KNOWLEDGE_ANSWER": _print_answer,
    "DIAGNOSIS_REPORT": _print_report,
    "FALLBACK": _print_fallback,
}
