"""The projection of a raw response: within its limits, masked, and `truncated` exactly when something is missing."""

from harness.redaction import redact_text
from harness.tools.base import EvidenceStatus, JsonObject
from harness.tools.query_logs.config import LogToolsSettings

_MAX_SERVICE_CHARACTERS = 100


def project(raw: JsonObject, topic: str, query: str, tool_call_id: str, settings: LogToolsSettings) -> JsonObject:
    """Source: 03-tools, "query_logs". Examples take at most half of all characters; events have the rest."""
    room = _Room(settings.max_characters, settings.max_message_characters)
    patterns = []
    for pattern in raw["patterns"][: settings.max_patterns]:
        example = room.take(pattern["example"], whole=pattern["whole"], reserve=settings.max_characters // 2)
        if example is None:
            break
        names = ("count", "first_seen", "last_seen", "level")
        shown = {name: pattern[name] for name in names}
        patterns.append({**shown, "service": _service(pattern["service"]), "example": example})
    events: dict[int, JsonObject] = {}
    for event in sorted(raw["events"], key=lambda each: int(each["rank"]))[: settings.max_events]:
        message = room.take(event["message"], whole=event["whole"])
        if message is None:
            break
        shown = {name: event[name] for name in ("timestamp", "level")}
        events[event["rank"]] = {**shown, "service": _service(event["service"]), "message": message}
    found = raw["match_count"] > 0
    missing = len(events) < raw["match_count"] or len(patterns) < raw["pattern_count"]
    return {
        "evidence_status": (EvidenceStatus.EVIDENCE_FOUND if found else EvidenceStatus.NO_EVIDENCE).value,
        "tool_call_id": tool_call_id,
        "source_kind": raw["source_kind"],
        "scope": {
            "topic": topic,
            "query": redact_text(query),
            "start_time": raw["start_time"],
            "end_time": raw["end_time"],
        },
        "match_count": raw["match_count"],
        "returned_count": len(events),
        "patterns": patterns,
        "events": [events[event["rank"]] for event in raw["events"] if event["rank"] in events],
        "truncated": missing or room.cut or raw["incomplete"],
    }


class _Room:
    """Hands out characters until none are left, and remembers whether anything was cut."""

    def __init__(self, characters: int, each: int) -> None:
        self._left = characters
        self._each = each
        self.cut = False

    def take(self, text: str, *, whole: bool, reserve: int = 0) -> str | None:
        """The masked text, cut to its limit; None when not more than `reserve` is left."""
        masked = redact_text(text)
        room = min(self._each, self._left - reserve)
        if room <= 0:
            self.cut = True
            return None
        self.cut = self.cut or not whole or len(masked) > room
        taken = masked[:room]
        self._left -= len(taken)
        return taken


def _service(name: str | None) -> str | None:
    return None if name is None else redact_text(name)[:_MAX_SERVICE_CHARACTERS]
