"""Names with values: JSON, YAML, properties, logfmt, query strings, DSNs, XML, form data, Chinese labels."""

import re
from collections.abc import Iterator

from harness.redaction.labels import CHINESE, Label, label_of
from harness.redaction.lines import Assignment, whole_line_value
from harness.redaction.plausible import is_mixed, is_secret, looks_secret
from harness.redaction.spans import Kind, Span
from harness.redaction.values import QUOTE, read_value

_HINT = re.compile(
    "(?i)pass|pwd|psw|secret|token|key|auth|cred|jwt|bearer|sess|sig|cvv|cvc|otp|pin|captcha|code|pw|mima|assertion"
    "|connect\\.sid|credential|" + "|".join(CHINESE)
)
_ASSIGNMENT = re.compile(
    r"(?<![A-Za-z0-9_.\-])(?P<name>[A-Za-z0-9_.\-]{2,}+)"
    r"(?P<close>\]?(?P<quote>\\*+[\"'`]|&quot;|&\#34;)?\]?+)"
    r"(?P<gap>[ \t]{0,8}+)"
    r"(?P<sep>=>|:=|->|={2,3}|!==?|<>|[=:：＝]|%3[Dd])"
    r"(?P<space>(?(quote)\s{0,40}+|[ \t]{0,8}+))"
)
_CHINESE = re.compile(
    "(?P<name>" + "|".join(CHINESE) + r")(?P<close>[\"'”』」】]?)(?:[(（][^()（）\n]{1,20}[)）])?"
    r"\s{0,4}(?:[:：=＝]|(?:已?(?:被)?(?:修改|重置|更改|设置|更新|改|设)[为成]|是|为|由|从)[:：]?)\s{0,4}"
)
_CHINESE_CHANGED = re.compile(
    r"(?P<name>密码|口令)[^\n，。；]{0,40}?(?:[改变]|变更|修改|重置|设置)[为成][ \t]{0,3}(?=[!-~]{4})"
)
_TUPLE = re.compile(r"[\"'](?P<name>[A-Za-z0-9_.\-]{2,80}+)[\"'],\s{0,4}[\"'](?P<value>[^\s\"']{6,400}+)[\"']")
_CHINESE_BARE = re.compile(
    r"(?:密码|口令|密钥|秘钥|令牌)[】」』\])）]?[ \t]{0,2}[\"'“「【\[(（]?(?P<value>[!-~]{6,100})"
)
_CHINESE_BRACKETED = re.compile(r"(?:密码|口令)[“「『【\[(（](?P<value>[!-~]{4,100}?)[”」』】\])）]")
_CHINESE_CODE = re.compile(r"(?:验证码|校验码|动态码)[ \t]{0,2}[“「【\[(（]?(?P<value>\d{4,8})(?![\w.])")
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
_ESCAPED_ELEMENT_TEXT = re.compile(r"[^&<]*(?:&(?!lt;)[^&<]*)*(?=&lt;)")
_FORM_PART = re.compile(
    r"(?i)form-data;\s?name=\\?[\"'](?P<name>[\w.\-\[\]]{2,80})\\?[\"'](?:\r?\n|\\r\\n){2}(?P<value>[^\r\n\\]++)"
)
_ARRAY_ITEM = re.compile(r"\s{0,40}+,\s{0,40}+")
_STRINGS = re.compile(r"\[\s{0,40}\\*[\"']")
_YAML_TAG = re.compile(r"!{1,2}(?:vault|binary|str|secret|env|sub)[ \t]+", re.IGNORECASE)
_INNER_VALUE = re.compile(r"\s{0,40}<value>")
_MASK = "[REDACTED:"
_CDATA = "<![CDATA["
_MAX_ITEMS = 1000
_MULTIWORD = 200


def find_assignments(text: str) -> Iterator[Span]:
    """Values whose name says that they are secret, in any of the usual notations."""
    if not _HINT.search(text):
        return
    yield from _named(text, _ASSIGNMENT)
    yield from _named(text, _CHINESE)
    yield from _named(text, _CHINESE_CHANGED)
    yield from _named(text, _PAIR)
    yield from _elements(text)
    for match in _FORM_PART.finditer(text):
        label = label_of(match["name"].rstrip("]"))
        if label and is_secret(match["value"], label, match["name"], quoted=True, prose=False):
            yield Span(match.start("value"), match.end("value"), label.kind)
    for match in _CHINESE_BARE.finditer(text):
        value = read_value(text, match.start("value"))
        content = text[value.start : value.end]
        if len(content) >= 6 and (is_mixed(content) or content.isdigit()):
            yield Span(value.start, value.end, Kind.PASSWORD)
    for match in _CHINESE_BRACKETED.finditer(text):
        if is_mixed(match["value"]) or match["value"].isdigit():
            yield Span(match.start("value"), match.end("value"), Kind.PASSWORD)
    for match in _CHINESE_CODE.finditer(text):
        yield Span(match.start("value"), match.end("value"), Kind.CODE)
    for match in _TUPLE.finditer(text):
        if (label := label_of(match["name"])) and looks_secret(match["value"]):
            yield Span(match.start("value"), match.end("value"), label.kind)


def _named(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    position = 0
    while match := pattern.search(text, position):
        position = match.end()
        found = _assignment(text, match)
        if found is None or _is_no_assignment(text, found):
            continue
        whole = whole_line_value(text, found)
        if whole:
            yield whole
            position = whole.end
            continue
        spans, after = _value_spans(text, found)
        yield from spans
        if spans:
            position = max(position, after)


def _assignment(text: str, match: re.Match[str]) -> Assignment | None:
    groups = match.groupdict()
    name = match["name"][-100:]
    label = label_of(name) or _plural_label(text, match, name)
    if label is None:
        return None
    return Assignment(
        name=name,
        label=label,
        start=match.start(),
        end=match.end(),
        quoted_name=bool(groups.get("close")),
        gap=bool(groups.get("gap")),
        separator=groups.get("sep") or "：",
        space=bool(groups.get("space", "")),
    )


def _plural_label(text: str, match: re.Match[str], name: str) -> Label | None:
    """`"passwords": ["a", "b"]`; `tokens=3` is a count."""
    return label_of(name[:-1]) if name.endswith("s") and _STRINGS.match(text, match.end()) else None


def _is_no_assignment(text: str, found: Assignment) -> bool:
    if text[max(0, found.start - len(_MASK)) : found.start] == _MASK:
        return True  # the kind within a mask
    if found.separator in {"==", "===", "!=", "!==", "<>"} and not QUOTE.match(text, found.end):
        return True
    if found.separator == "->" and not found.space:
        return True
    if found.name in {"PASS", "Pass"} and found.separator == ":":
        return True  # test runners
    # `password= user=guest` has no value; `password = x` has one
    empty = found.separator == "=" and found.space and not found.gap
    return empty and bool(_EMPTY_THEN_NAME.match(text, found.end))


def _value_spans(text: str, found: Assignment) -> tuple[list[Span], int]:
    """The secrets of one value, which may be an array of strings, and where reading goes on."""
    tag = _YAML_TAG.match(text, found.end)
    at = tag.end() if tag else found.end
    array = at < len(text) and text[at] == "[" and not text.startswith("[REDACTED:", at)
    in_query = found.start > 0 and text[found.start - 1] in "?&"
    in_sentence = (
        not array and not found.quoted_name and (found.separator == "：" or (found.separator == ":" and found.space))
    )
    position = at + 1 if array else at
    spans: list[Span] = []
    for _ in range(_MAX_ITEMS):
        value = read_value(text, position, in_query=in_query, encoded=found.separator.startswith("%"))
        content = text[value.start : value.end]
        status = not value.quoted and content[:1] > "\u2e80"  # a Chinese word after the colon is a status
        if not status and is_secret(content, found.label, found.name, quoted=value.quoted, prose=in_sentence):
            spans.append(Span(value.start, value.end, found.label.kind))
        position = value.after
        more = _ARRAY_ITEM.match(text, position) if array and value.quoted else None
        if not more:
            break
        position = more.end()
    return spans, position


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
        inner = _INNER_VALUE.match(text, match.end())
        start = inner.end() if inner else match.end()
        body = (_ESCAPED_ELEMENT_TEXT if match[0].startswith("&lt;") else _ELEMENT_TEXT).match(text, start)
        if body and is_secret(body[0], label, match["name"], quoted=True, prose=False):
            yield Span(body.start(), body.end(), label.kind)
