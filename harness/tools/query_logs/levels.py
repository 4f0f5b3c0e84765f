"""Levels: the words, letters and numbers of log writers, as seven names."""

import re

LEVELS = ("TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "ERROR", "FATAL")

_WORDS = {
    "TRACE": "TRACE FINEST FINER VERBOSE SILLY",
    "DEBUG": "DEBUG DEBUG1 DEBUG2 DEBUG3 DEBUG4 DEBUG5 FINE CONFIG DBG",
    "INFO": "INFO INFORMATION INFORMATIONAL LOG NOTE SYSTEM INF",
    "NOTICE": "NOTICE",
    "WARN": "WARN WARNING WRN",
    "ERROR": "ERR ERROR SEVERE FAILURE",
    "FATAL": "FATAL CRIT CRITICAL ALERT EMERG EMERGENCY PANIC DPANIC",
}
_NAMES = {word: name for name, words in _WORDS.items() for word in words.split()}
_LETTERS = {"V": "TRACE", "D": "DEBUG", "I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL", "A": "FATAL"}
_LETTERS |= {"N": "NOTICE", "C": "FATAL"}

LEVEL_WORD = "|".join(sorted(_NAMES, key=len, reverse=True))
"""A regular expression's alternatives, the longest first."""
_UNLIKELY_ALONE = {"CONFIG", "NOTE", "SYSTEM", "FINE", "LOG", "ALERT", "FAILURE", "SILLY"}
STRONG_WORD = "|".join(word for word in sorted(_NAMES, key=len, reverse=True) if word not in _UNLIKELY_ALONE)
"""Those that are hardly anything but a level when written in capitals within a line."""

_SPELLED = re.compile(r"[A-Za-z]{3,}")


def severity(level: str | None) -> int:
    """0 (TRACE) to 6 (FATAL); a line without a level ranks with INFO."""
    return LEVELS.index(level) if level is not None else LEVELS.index("INFO")


def level_of(value: object) -> str | None:
    """The name for a word, a letter, or a number of bunyan, pino or syslog; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return _of_number(value)
    if not isinstance(value, str):
        return None
    word = value.strip().upper()
    if word in _NAMES:
        return _NAMES[word]
    if len(word) == 1:
        return _LETTERS.get(word) or (_of_number(int(word)) if word.isascii() and word.isdigit() else None)
    if word.isascii() and word.isdigit() and len(word) == 2:
        return _of_number(int(word))
    spelled = _SPELLED.search(word)  # LogLevel.Error, log_info
    return _NAMES.get(spelled[0]) if spelled is not None and spelled[0] != word else None


def level_of_status(status: int) -> str:
    """Of an HTTP status: 5xx is an ERROR, 4xx a WARN."""
    return "ERROR" if status >= 500 else "WARN" if status >= 400 else "INFO"


def _of_number(number: int) -> str | None:
    if 0 <= number <= 7:  # syslog's severities
        return ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "NOTICE", "INFO", "DEBUG")[number]
    if number in range(10, 61, 10):
        return ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")[number // 10 - 1]
    return None
