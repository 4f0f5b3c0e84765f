"""Personal numbers of China and bank cards, proved by prefix, date and checksum."""

import re
from collections.abc import Iterator
from datetime import date

from harness.redaction.spans import Kind, Span

_MOBILE = re.compile(
    r"(?<![A-Za-z0-9.])(?:(?:\+|00)?86[ -]?)?"
    r"(1(?:3\d|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8\d|9[0-35-9])([ -]?)\d{4}\2\d{4})(?![A-Za-z0-9])(?!\.\d)"
)
_NO_PHONE_BEFORE = re.compile(
    r"(?i)(?:bytes?|size|offset|used|free|heap|mem(?:ory)?|len(?:gth)?|count|total"
    r"|order(?:[_ -]?(?:id|no))?|trade[_ -]?no"
    r"|seq|sequence|lsn|pos(?:ition)?|timestamp|ts|of|订单号?|流水号?|单号|字节)[\"']?\s*[:=：]?\s*[\"']?$"
)
_UNIT_AFTER = re.compile(r"\s?(?:bytes?|of\s\d|[kmg]i?b\b|[mun]s\b|rows?\b|字节|毫秒)", re.IGNORECASE)
_ID_CARD = re.compile(r"(?<![A-Za-z0-9])([1-8]\d{5})([ -]?)((?:18|19|20)\d{6})\2(\d{3}[\dXx])(?![A-Za-z0-9])")
_CARD = re.compile(
    r"(?<![A-Za-z0-9_.])(?<![A-Za-z0-9_]-)"
    r"[2-9]\d{3}(?:([ -])\d{4}(?:\1\d{4}){1,2}(?:\1\d{1,4})?|\d{9,15})(?![A-Za-z0-9])(?!\.\d)"
)
_AMEX = re.compile(r"(?<![A-Za-z0-9_.])3[47]\d{2}([ -])\d{6}\1\d{5}(?![A-Za-z0-9])")
_ISSUER = re.compile(  # Visa, Mastercard, American Express, JCB, Diners Club, Discover, UnionPay, ICBC
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d{2}|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d{2}|4[4-9]\d)\d{12}|62\d{14,17}|9558\d{15}"
)
_DIGITS = re.compile(r"\d{11}|\d{4}[ -]\d{4}|\d{6}[ -]|\d{4}[ -]\d{6}|\d{3}[ -]\d{4}")
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def find_personal_numbers(text: str) -> Iterator[Span]:
    """Mobile, identity card and bank card numbers; order numbers and counters are left."""
    if not _DIGITS.search(text):
        return
    for match in _ID_CARD.finditer(text):
        if _is_id_card(match[1] + match[3] + match[4]):
            yield Span(match.start(), match.end(), Kind.ID_CARD)
    for pattern in (_CARD, _AMEX):
        for match in pattern.finditer(text):
            digits = match[0].replace(" ", "").replace("-", "")
            if _ISSUER.fullmatch(digits) and _passes_luhn(digits):
                yield Span(match.start(), match.end(), Kind.BANK_CARD)
    for match in _MOBILE.finditer(text):
        before = text[max(0, match.start() - 24) : match.start()]
        if before.endswith("-") and not before[-2:-1].isalnum():
            continue  # a negative number
        if not _NO_PHONE_BEFORE.search(before) and not _UNIT_AFTER.match(text, match.end()):
            yield Span(match.start(1), match.end(1), Kind.MOBILE)


def _is_id_card(number: str) -> bool:
    try:
        date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    check = sum(int(digit) * weight for digit, weight in zip(number, _WEIGHTS, strict=False)) % 11
    return number[17].upper() == "10X98765432"[check]


def _passes_luhn(digits: str) -> bool:
    total = 0
    for place, char in enumerate(reversed(digits)):
        digit = int(char) * (2 if place % 2 else 1)
        total += digit - 9 if digit > 9 else digit
    return total % 10 == 0
