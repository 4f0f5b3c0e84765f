"""Passwords on command lines and in SQL and Redis statements."""

import re
from collections.abc import Iterator

from harness.redaction.labels import Label, label_of
from harness.redaction.plausible import is_placeholder, is_secret, looks_secret
from harness.redaction.spans import Kind, Span
from harness.redaction.values import QUOTE, read_quoted
from harness.redaction.words import STOP_WORDS

_PASSWORD = Label(Kind.PASSWORD)
_FLAGS = {  # command -> flags whose value is a password; "+": attached; ":": user:password; "%": user%password
    r"(?:mysql|mariadb)-?(?:dump|admin|import|check|show|binlog|slap|backup)?|mycli|xtrabackup|mydumper": "-p+",
    r"sshpass": "-p -p+",
    r"redis-(?:cli|benchmark)|valkey-cli": "-a",
    r"mongo(?:sh|dump|restore|export|import|stat|top)?|influx|cqlsh|clickhouse-client|impala-shell": "-p",
    r"curl|etcdctl|http|https|httpie|ab|siege|wrk": "-u: --user: -U: --proxy-user: -a: --auth: -A:",
    r"(?:docker|podman|nerdctl|buildah|skopeo|helm(?:\s+registry)?|oc|az|cf|ibmcloud|argocd)\s+login": "-p",
    r"ldap(?:search|add|modify|delete|passwd|whoami|compare)": "-w -w+",
    r"sqlcmd|bcp|osql|mosquitto_(?:pub|sub)|unzip|zip|ipmitool|isql|tsql": "-P -P+",
    r"7za?|7zr|rar|unrar": "-p+",
    r"smbclient|rpcclient|smbmap|mount\.cifs": "-U%",
    r"net\s+user": "",
    r"openssl": "-k -K -pass= -passin= -passout=",
    r"plink|pscp|psftp": "-pw",
    r"snmp(?:walk|get|set|bulkwalk)": "-A -X",
    r"xfreerdp|rdesktop|mstsc": "/p: -p",
    r"evil-winrm|crackmapexec|hydra|ftp|lftp|sftp": "-p",
}
_COMMANDS = [(re.compile(rf"(?:{names})", re.IGNORECASE), frozenset(flags.split())) for names, flags in _FLAGS.items()]
_STEP = re.compile(
    r"(?P<break>[\n|;]|&&)|(?<![\w.-])(?P<command>"
    + "|".join(_FLAGS)
    + r")(?=[\s\"'])|(?<=[\s\"',])(?P<flag>--?[A-Za-z][\w-]{0,40}|/p:)(?P<after>[ \t]{1,4}|=)?(?P<quote>[\"'])?"
)
_LONG_FLAG = re.compile(
    r"(?<![\w-])(?P<flag>--?[A-Za-z][\w-]{2,60})(?:[ \t]{1,4}|[\"']?,[ \t]{0,4})(?P<value>[^\s-]|-(?=\S*\d))"
)
_POSITIONAL = re.compile(
    r"\b(?:add_user|change_password|adduser|htpasswd\s+-\w*b\w*\s+\S{1,200}|net\s+user)\s+(?!-)\S{1,100}\s+(?P<value>[^\s/]\S{0,200})"
    r"|\bmysqladmin\s(?:-\S{1,60}\s(?:[^\s-]\S{0,60}\s)?){0,6}password\s+[\"']?(?P<admin>[^\s\"']{1,200})"
    r"|\bchpasswd\s*<<<\s*[\"']?[\w.-]{1,64}:(?P<chpasswd>[^\s\"']{1,200})"
    r"|\becho\s+(?:-n\s+)?[\"']?[\w.-]{1,64}:(?P<echo>[^\s\"'|]{1,200})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd"
    r"|\becho\s+(?:-n\s+)?[\"']?(?P<sudo>[^\s\"'|]{1,200})[\"']?\s*\|\s*(?:sudo\s+-\w*S|docker\s+login|helm\s|kinit|cryptsetup|passwd)"
)
_SHELL_WORD = re.compile(r"[^\s|;&\"'`<>)]++")
_SQL_HINT = re.compile(
    r"(?i)identified|password|passwd|pwd|secret|token|requirepass|masterauth|auth\b|pass|setuser|sp_addlogin"
)
_SQL = re.compile(
    r"(?i)\bidentified\s+(?:with\s+[\w'\"`]{1,60}\s+)?(?:by|as|using)\s+(?:password\s+)?(?=\\*['\"])"
    r"|\bidentified\s+by\s+(?=[\w#$!])"
    r"|\b(?:old_)?password\s{0,2}\(\s{0,4}(?=\\*['\"])"
    r"|\bsp_(?:addlogin|password)\s+N?'[^'\n]{0,100}',\s{0,2}(?=N?')"
    r"|\bpassword\s+(?=\\*'[^'\n])"
    r"|\bset\s+password\s+for\s+\S{1,120}?\s{0,2}(?:=|\bto\b)\s{0,2}(?:password\s{0,2}\(\s{0,2})?(?=\\*['\"])"
    r"|\b\w{0,30}(?:password|passwd|pwd|secret|token)[`\"]?\s+(?:like|in\s{0,2}\()\s{0,2}(?=\\*['\"])"
)
_REDIS = re.compile(
    r"(?:(?<![\w-])AUTH\s+(?:default\s+|LOGIN\s+|PLAIN\s+|CRAM-MD5\s+|XOAUTH2\s+)?|\"(?:AUTH|auth)\"\s+(?:\"[\w-]+\"\s+(?=\"))?"
    r"|(?<![\w-])(?i:requirepass|masterauth|masterpass|sentinel\s+auth-pass\s+\S{1,64})\"?\s+)(?P<value>\S{1,300})"
)
_NETRC = re.compile(r"(?i)\blogin\s+\S{1,100}\s+password\s+(?P<value>\S{1,200})")
_FTP = re.compile(r"(?m)(?:^|[>:\]\"]\s?)PASS\s+(?P<value>[^\s:\"]{4,200})")
_ACL = re.compile(r"(?i)\bsetuser\s[^\n]{0,200}?\s>(?P<value>\S{1,200})")
_INSERT = re.compile(
    r"(?i)\b(?:insert|replace)\s+(?:ignore\s+)?into\s+[\w.`\"\[\]]{1,130}\s{0,4}\((?P<columns>[^()]{1,2000})\)\s{0,4}values?\s{0,4}"
)
_ROW = re.compile(r"\s{0,4},?\s{0,4}\(")
_MAX_ROWS = 1000


def find_command_passwords(text: str) -> Iterator[Span]:
    """Passwords of command line flags; `-p` and its likes only behind a command that takes a password there."""
    if "-" not in text and "echo" not in text and "/p:" not in text and "user" not in text:
        return
    flags: frozenset[str] = frozenset()
    for step in _STEP.finditer(text):
        if step["break"]:
            flags = frozenset()
        elif step["command"]:
            flags = next(flags for names, flags in _COMMANDS if names.fullmatch(step["command"]))
        elif flags:
            yield from _short_flag(text, step, flags)
    for match in _LONG_FLAG.finditer(text):
        label = label_of(match["flag"].lstrip("-"))
        if label and (not label.weak or label.kind is Kind.PASSWORD):
            start, end = _shell_value(text, match.start("value"))
            if is_secret(text[start:end], label, match["flag"], quoted=False, prose=False):
                yield Span(start, end, label.kind)
    for match in _POSITIONAL.finditer(text):
        group = match.lastgroup or "value"
        if match[group].strip("\"'").lower() not in STOP_WORDS and not is_placeholder(match[group]):
            yield Span(match.start(group), match.end(group), Kind.PASSWORD)


def _short_flag(text: str, step: re.Match[str], flags: frozenset[str]) -> Iterator[Span]:
    flag, after = step["flag"], step["after"]
    at = step.end() - len(step["quote"] or "")
    if after and (flag in flags or flag + "=" in flags or flag + ":" in flags or flag + "%" in flags):
        start, end = _shell_value(text, at)
        value = text[start:end]
        if flag + "=" in flags and flag not in flags:
            prefix = "pass:"
            start = start + len(prefix) if value.startswith(prefix) else end
        elif flag + ":" in flags or flag + "%" in flags:
            separator = value.find(":" if flag + ":" in flags else "%")
            start = start + separator + 1 if separator >= 0 and "//" not in value else end
        if is_secret(text[start:end], _PASSWORD, flag, quoted=True, prose=False):
            yield Span(start, end, Kind.PASSWORD)
        return
    short = flag[:2]
    if short + ":" in flags and not flag.startswith("--"):
        start, end = _shell_value(text, step.start("flag") + 2)
        separator = text.find(":", start, end)
        if separator > 0 and "//" not in text[start:end]:
            yield Span(separator + 1, end, Kind.PASSWORD)
        return
    if short + "+" in flags and not flag.startswith("--"):
        attached = step.start("flag") + 2
        start, end = _shell_value(text, attached)
        if end > start:
            if not is_placeholder(text[start:end]):
                yield Span(start, end, Kind.PASSWORD)
        elif after and flag == short:  # `mysql -p word` asks and opens `word`; people write a password there
            start, end = _shell_value(text, at)
            if looks_secret(text[start:end]):
                yield Span(start, end, Kind.PASSWORD)


def _shell_value(text: str, at: int) -> tuple[int, int]:
    quote = QUOTE.match(text, at)
    if quote:
        value = read_quoted(text, quote)
        return value.start, value.end
    word = _SHELL_WORD.match(text, at)
    return (at, word.end()) if word else (at, at)


def find_statement_passwords(text: str) -> Iterator[Span]:
    """Passwords in SQL (`IDENTIFIED BY`, `PASSWORD(...)`, `INSERT` by column) and protocols (`AUTH`, `PASS`)."""
    if not _SQL_HINT.search(text):
        return
    for match in _SQL.finditer(text):
        start, end = _shell_value(text, match.end())
        value = text[start:end]
        if value and not is_placeholder(value) and value.lower() not in STOP_WORDS:
            yield Span(start, end, Kind.PASSWORD)
    for pattern in (_REDIS, _NETRC, _ACL):
        for match in pattern.finditer(text):
            value = match["value"].strip("\"',;")
            if value.lower().strip(".:") not in STOP_WORDS and not is_placeholder(value) and not value.endswith(":"):
                start = match.start("value") + match["value"].index(value)
                yield Span(start, start + len(value), Kind.PASSWORD)
    for match in _FTP.finditer(text):
        if any(c.isdigit() for c in match["value"]) and any(c.isalpha() for c in match["value"]):
            yield Span(match.start("value"), match.end("value"), Kind.PASSWORD)
    for match in _INSERT.finditer(text):
        yield from _inserted(text, match)


def _inserted(text: str, match: re.Match[str]) -> Iterator[Span]:
    """The literals of secret columns in each row of an `INSERT`."""
    labels = [label_of(column.strip(' `"[]\n')[-100:]) for column in match["columns"].split(",")]
    if not any(labels):
        return
    position = match.end()
    for _ in range(_MAX_ROWS):
        row = _ROW.match(text, position)
        if row is None:
            return
        position = row.end()
        for label in labels:
            while position < len(text) and text[position] in " \t\n":
                position += 1
            quote = QUOTE.match(text, position)
            if quote:
                value = read_quoted(text, quote)
                if label and is_secret(text[value.start : value.end], label, "", quoted=True, prose=False):
                    yield Span(value.start, value.end, label.kind)
                position = value.after
            end = re.compile(r"[^,()\n]*+(?:\([^()\n]*+\))?[^,()\n]*+").match(text, position)
            position = end.end() if end else position
            if text[position : position + 1] != ",":
                break
            position += 1
        if text[position : position + 1] != ")":
            return
        position += 1
