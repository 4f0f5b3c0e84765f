"""Names with values: JSON, YAML, properties, logfmt, query strings, DSNs, XML, form data, Chinese labels."""

import re
from collections.abc import Iterator

from harness.redaction.labels import CHINESE, Label, label_of
from harness.redaction.plausible import is_secret, is_sentence, looks_secret
from harness.redaction.spans import Kind, Span
from harness.redaction.values import QUOTE, Value, read_value

_HINT = re.compile(
    "(?i)pass|pwd|psw|secret|token|key|auth|cred|jwt|bearer|sess|sig|cvv|cvc|otp|pin|captcha|code|pw|mima|assertion"
    "|connect\\.sid|credential|" + "|".join(CHINESE)
)
_ASSIGNMENT = re.compile(
    r"(?<![A-Za-z0-9_.\-])(?P<name>[A-Za-z0-9_.\-]{2,}+)"
    r"(?P<close>\]?(?P<quote>\\*+[\"'`]|&quot;|&\#34;)?+\]?+)"
    r"(?P<gap>[ \t]{0,8}+)"
    r"(?P<sep>=>|:=|->|={2,3}|!==?|<>|[=:：＝]|%3[Dd])"
    r"(?P<space>(?(quote)\s{0,40}+|[ \t]{0,8}+))"
)
_CHINESE = re.compile(
    "(?P<name>" + "|".join(CHINESE) + r")(?P<close>[\"'”』」】]?)(?:[(（][^()（）\n]{1,20}[)）])?"
    r"\s{0,4}(?:[:：=＝]|(?:已?(?:被)?(?:修改|重置|更改|设置|更新|改|设)[为成]|是|为)[:：]?)\s{0,4}"
)
_CHINESE_BARE = re.compile(
    r"(?:密码|口令|密钥|秘钥|令牌)[】」』\])）]?[ \t]{0,2}[\"'“「【\[(（]?(?P<value>[!-~]{6,100})"
)
_BLOCK = re.compile(r"[|>][+-]?\d?[ \t]*(?:#[^\n]*)?\r?\n")
_LINE_PREFIX = re.compile(r"[ \t]*(?:[-+>?*] |export |set |SET |ENV |ARG )?[ \t]*(?:[\"'])?$")
_MORE_NAMES = re.compile(r"[\w.-]{1,40}[\"']?\s?(?:[=:：＝](?!//)|=>)|[,;，；。|\"'<>{}()&]| - | -[\w-]")
_YAML_LINE = re.compile(r"[ \t]*(?:- )?[\w.-]{1,80}:(?:[ \t]|\r?\n|$)")
_EMPTY_THEN_NAME = re.compile(r"[\w.-]{1,60}[=:]")
_PAIR = re.compile(
    r"(?i)(?<![A-Za-z0-9])(?:name|key|field|property|参数)\\*[\"']?\s{0,4}[:=]\s{0,4}\\*[\"']?(?P<name>[A-Za-z0-9_.\-]{2,80}+)"
    r"\\*[\"']?\s{0,40}+,?\s{0,40}+\\*[\"']?(?:value|val|content|default)\\*[\"']?\s{0,4}[:=]\s{0,4}"
)
_ELEMENT = re.compile(
    r"(?:<|&lt;)(?:[\w-]{1,40}:)?(?P<name>[A-Za-z_][\w.\-]{0,80})(?P<attributes>\s[^<>]{0,300})?(?:>|&gt;)(?:<!\[CDATA\[)?"
)
_ATTRIBUTE_NAME = re.compile(r"(?i)\b(?:name|key|id)\s?=\s?[\"']([\w.\-]{2,80})[\"']")
_ELEMENT_TEXT = re.compile(r"[^<]*+(?=<)")
_ESCAPED_ELEMENT_TEXT = re.compile(r"(?:[^&<]|&(?!lt;))*+(?=&lt;)")
_FORM_PART = re.compile(
    r"(?i)form-data;\s?name=\\?[\"'](?P<name>[\w.\-\[\]]{2,80})\\?[\"'](?:\r?\n|\\r\\n){2}(?P<value>[^\r\n\\]++)"
)
_ARRAY_ITEM = re.compile(r"\s{0,40}+,\s{0,40}+")
_STRINGS = re.compile(r"\[\s{0,40}\\*[\"']")
_CDATA = "<![CDATA["
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*|[a-z][\w-]*(?:\.[\w-]+)+")
_ENV_REST = re.compile(r"\S{1,400}[ \t]*$", re.MULTILINE)
_MAX_ITEMS = 1000
_MULTIWORD = 200


def find_assignments(text: str) -> Iterator[Span]:
    """Values whose name says that they are secret, in any of the usual notations."""
    if not _HINT.search(text):
        return
    yield from _named(text, _ASSIGNMENT)
    yield from _named(text, _CHINESE)
    for match in _PAIR.finditer(text):
        if label := label_of(match["name"][-100:]):
            yield from _value_spans(text, match.end(), label, match["name"], prose=False, in_query=False)[0]
    yield from _elements(text)
    for match in _FORM_PART.finditer(text):
        label = label_of(match["name"].rstrip("]"))
        if label and is_secret(match["value"], label, match["name"], quoted=True, prose=False):
            yield Span(match.start("value"), match.end("value"), label.kind)
    for match in _CHINESE_BARE.finditer(text):
        value = read_value(text, match.start("value"))
        if looks_secret(text[value.start : value.end]):
            yield Span(value.start, value.end, Kind.PASSWORD)


def _named(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    position = 0
    while match := pattern.search(text, position):
        position = match.end()
        name = match["name"][-100:]
        label = label_of(name) or _plural_label(text, match, name)
        if label is None or _is_no_assignment(text, match, name):
            continue
        if block := _BLOCK.match(text, match.end()):
            span = _yaml_block(text, match, block.end(), label)
            if span:
                yield span
                position = span.end
                continue
        multiword = _multiword_value(text, match, label) or _env_value(text, match, label, name)
        if multiword:
            yield multiword
            position = multiword.end
            continue
        spans, after = _value_spans(
            text,
            match.end(),
            label,
            name,
            prose=_is_prose(match),
            in_query=text[match.start() - 1 : match.start()] in ("?", "&") and match.start() > 0,
        )
        yield from spans
        if spans:
            position = max(position, after)


def _plural_label(text: str, match: re.Match[str], name: str) -> Label | None:
    """`"passwords": ["a", "b"]`; `tokens=3` is a count."""
    return label_of(name[:-1]) if name.endswith("s") and _STRINGS.match(text, match.end()) else None


def _is_no_assignment(text: str, match: re.Match[str], name: str) -> bool:
    groups = match.groupdict()
    separator, space = groups.get("sep") or ":", groups.get("space") or ""
    if separator in {"==", "===", "!=", "!==", "<>"} and not QUOTE.match(text, match.end()):
        return True
    if separator == "->" and not space:
        return True
    if name in {"PASS", "Pass"} and separator == ":":
        return True  # test runners
    # `password= user=guest` has no value; `password = x` has one
    return (
        separator == "=" and space != "" and not groups.get("gap") and bool(_EMPTY_THEN_NAME.match(text, match.end()))
    )


def _is_prose(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    return not groups.get("close") and (groups.get("sep") or ":") in ":：" and bool(groups.get("space", " "))


def _value_spans(text: str, at: int, label: Label, name: str, *, prose: bool, in_query: bool) -> tuple[list[Span], int]:
    """The secrets of one value, which may be an array of strings, and where reading goes on."""
    array = at < len(text) and text[at] == "[" and not text.startswith("[REDACTED:", at)
    position = at + 1 if array else at
    spans: list[Span] = []
    for _ in range(_MAX_ITEMS):
        value = read_value(text, position, in_query=in_query)
        if _accepts(text, value, label, name, prose=prose and not array):
            spans.append(Span(value.start, value.end, label.kind))
        position = value.after
        more = _ARRAY_ITEM.match(text, position) if array and value.quoted else None
        if not more:
            break
        position = more.end()
    return spans, position


def _accepts(text: str, value: Value, label: Label, name: str, *, prose: bool) -> bool:
    content = text[value.start : value.end]
    if not value.quoted and content[:1] > "\u2e80":
        return False  # a Chinese word after the colon is a status
    return is_secret(content, label, name, quoted=value.quoted, prose=prose)


def _multiword_value(text: str, match: re.Match[str], label: Label) -> Span | None:
    """`password: plum blossom 7`: a plain YAML or properties value reaches to the end of its line."""
    at = match.end()
    groups = match.groupdict()
    if label.kind is not Kind.PASSWORD or label.weak or groups.get("close") or QUOTE.match(text, at):
        return None
    if groups.get("sep") == "=" and not groups.get("gap"):
        return None
    line_start = max(0, text.rfind("\n", max(0, match.start() - 40), match.start()) + 1)
    indent = text[line_start : match.start()]
    if (line_start == 0 and match.start() > 40) or not _LINE_PREFIX.fullmatch(indent):
        return None
    line_end = text.find("\n", at, at + _MULTIWORD)
    line_end = min(len(text), at + _MULTIWORD) if line_end < 0 else line_end
    rest = re.split(r"\s#", text[at:line_end], maxsplit=1)[0].rstrip()
    words = rest.split()
    if len(words) < 2 or is_sentence(rest) or rest[0] > "\u2e80" or _MORE_NAMES.search(rest):
        return None
    if not words[0].isalpha() and not _is_yaml(text, indent, line_start, line_end):
        return None
    return Span(at, at + len(rest), label.kind)


def _env_value(text: str, match: re.Match[str], label: Label, name: str) -> Span | None:
    """`NAME=value` alone on its line, as in .env and properties files: all of the rest is the value."""
    groups = match.groupdict()
    if groups.get("sep") != "=" or groups.get("close") or groups.get("gap") or groups.get("space"):
        return None
    line_start = text.rfind("\n", max(0, match.start() - 20), match.start()) + 1
    if (line_start == 0 and match.start() > 20) or not _LINE_PREFIX.fullmatch(text[line_start : match.start()]):
        return None
    rest = _ENV_REST.match(text, match.end())
    if not _ENV_NAME.fullmatch(name) or rest is None or QUOTE.match(text, match.end()):
        return None
    value = rest[0].rstrip()
    accepted = is_secret(value, label, name, quoted=False, prose=False)
    return Span(match.end(), match.end() + len(value), label.kind) if accepted else None


def _is_yaml(text: str, indent: str, line_start: int, line_end: int) -> bool:
    if indent[:1] in (" ", "\t"):
        return True
    if line_end < len(text) and _YAML_LINE.match(text, line_end + 1):
        return True
    before = text.rfind("\n", max(0, line_start - 200), max(0, line_start - 1)) + 1
    return line_start > 0 and bool(_YAML_LINE.match(text, before if before else max(0, line_start - 200)))


def _yaml_block(text: str, match: re.Match[str], at: int, label: Label) -> Span | None:
    """`password: |` and the more indented lines below it."""
    line_start = text.rfind("\n", max(0, match.start() - 200), match.start()) + 1
    own = re.match(r"[ \t]*", text[line_start : match.start()])
    depth = len(own[0]) if own else 0
    line = re.compile(rf"[ \t]{{{depth + 1},}}+[^\n]*(?:\n|$)|[ \t]*\r?\n")
    end = at
    while end < len(text) and (found := line.match(text, end)):
        end = found.end()
    body = text[at:end]
    if not body.strip():
        return None
    return Span(at + len(body) - len(body.lstrip()), at + len(body.rstrip()), label.kind)


def _elements(text: str) -> Iterator[Span]:
    if "<" not in text and "&lt;" not in text:
        return
    for match in _ELEMENT.finditer(text):
        named = _ATTRIBUTE_NAME.search(match["attributes"] or "")
        label = label_of(match["name"]) or (label_of(named[1]) if named else None)
        if label is None or label.weak:
            continue
        if match[0].endswith(_CDATA):
            end = text.find("]]>", match.end(), match.end() + _MULTIWORD)
            if end > match.end():
                yield Span(match.end(), end, label.kind)
            continue
        body = (_ESCAPED_ELEMENT_TEXT if match[0].startswith("&lt;") else _ELEMENT_TEXT).match(text, match.end())
        if body and is_secret(body[0], label, match["name"], quoted=True, prose=False):
            yield Span(body.start(), body.end(), label.kind)
