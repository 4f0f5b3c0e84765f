"""What a question names: its language, identifiers, subjects, symptoms and window."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

DEFAULT_MINUTES = 60
MAX_MINUTES = 1440

_HAN = re.compile("[\u4e00-\u9fff]")
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_.-])(?:[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+"
    r"|[A-Za-z]{1,8}\d{3,}|\d{6,})(?![A-Za-z0-9_-])",
    re.ASCII,
)
_SERVICE = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:service|svc|api|server|gateway|worker|job|app|web)", re.ASCII)
_GENERAL = frozenset(("service", "svc", "api", "server", "worker", "job", "app", "web", "err", "error"))
_NO_NAMES = re.compile(r"(?:time|log|sign|roll|set|follow|check|fail)-\w+|long-\w+|high-\w+|re-\w+", re.IGNORECASE)

# Business nouns of both languages, as the words that English log lines, tables and columns use for them.
_SUBJECTS: tuple[tuple[str, str], ...] = (
    (r"订单|下单|\borders?\b", "order"),
    (r"支付|付款|\bpay(?:ments?|ing)?\b", "pay"),
    (r"退款|\brefunds?\b", "refund"),
    (r"库存|\binventory\b|\bstocks?\b", "inventory"),
    (r"物流|发货|配送|\bshipp(?:ing|ments?)\b|\bdelivery\b", "ship"),
    (r"优惠券|\bcoupons?\b", "coupon"),
    (r"购物车|\bcarts?\b", "cart"),
    (r"用户|账号|账户|\busers?\b|\baccounts?\b", "user"),
    (r"数据块|(?<!死)块(?!\w*链)|\bblocks?\b", "block"),
    (r"消息|队列|\bmessages?\b|\bqueues?\b", "message"),
    (r"缓存|\bcaches?\b|\bredis\b", "cache"),
)
# Symptoms of both languages, as the query that finds their log lines. The first that fits is the most telling.
_SYMPTOMS: tuple[tuple[str, str], ...] = (
    (
        r"(?:登录|登陆|认证)[^，。]{0,4}失败|失败[^，。]{0,4}(?:登录|登陆)|failed[\w\s]{0,12}log-?\s?ins?|log-?\s?ins?[\w\s]{0,6}fail",
        '"Failed password"',
    ),
    (r"连接池|connection pool", "pool"),
    (r"死锁|deadlocks?", "deadlock"),
    (r"超时|time[sd]?[\s-]?outs?", 'timeout OR "timed out"'),
    (r"内存溢出|内存不足|out of memory|\boom\b", '"out of memory" OR OutOfMemoryError'),
    (r"拒绝|refused|denied", "refused OR denied"),
    (r"磁盘|disk", "disk"),
    (r"异常|报错|错误|exceptions?|errors?", "exception OR error"),
    (r"失败|fail(?:ed|ures?|s|ing)?", "failed OR exception"),
)
_UNITS = {"分": 1, "min": 1, "小": 60, "时": 60, "hou": 60, "h": 60, "天": 1440, "日": 1440, "day": 1440, "d": 1440}
_WINDOW = re.compile(
    r"(\d{1,4}|[一二两三四五六]|半)\s*个?\s*(分钟?|小时|时|天|日|min(?:ute)?s?\b|hours?\b|h\b|days?\b|d\b)"
)
_HAN_DIGITS = {"半": 0.5, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6}
_WHOLE_DAY = re.compile(r"今天|今日|昨天|一整天|全天|\btoday\b|\byesterday\b|\ball day\b", re.IGNORECASE)
_COUNT = re.compile(r"多少|几[次条个]|总共|数量|次数|how (?:many|often)|number of|\bcount\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the rules see it."""

    text: str
    chinese: bool
    identifiers: tuple[str, ...]
    """Services, error codes and business numbers, in their order."""
    subjects: tuple[str, ...]
    symptoms: tuple[str, ...]
    """Log queries, most telling first."""
    minutes: int
    named_window: bool
    counts: bool
    """Whether it asks how many."""

    @property
    def services(self) -> tuple[str, ...]:
        return tuple(name for name in self.identifiers if _SERVICE.fullmatch(name))

    @property
    def numbers(self) -> tuple[str, ...]:
        """Identifiers that may be a key in a table: such as `order-1234` or `A1024`, not services and codes."""
        return tuple(name for name in self.identifiers if re.search(r"\d{3,}$", name) and not name.isupper())

    @property
    def words(self) -> frozenset[str]:
        """What it is about, as names of tables and columns would say it."""
        parts = (part.lower() for name in self.identifiers for part in re.split("[-_]", name))
        return frozenset(self.subjects) | {part for part in parts if len(part) >= 3 and part not in _GENERAL}

    @property
    def bare(self) -> bool:
        """Whether it names nothing of its own, such as "go on"."""
        return not (self.identifiers or self.subjects or self.symptoms)


def read_question(text: str) -> Question:
    lowered = text.lower()
    return Question(
        text=text,
        chinese=bool(_HAN.search(text)),
        identifiers=tuple(dict.fromkeys(_identifiers(text))),
        subjects=tuple(word for pattern, word in _SUBJECTS if re.search(pattern, lowered)),
        symptoms=tuple(query for pattern, query in _SYMPTOMS if re.search(pattern, lowered))[:2],
        minutes=_minutes(lowered) or DEFAULT_MINUTES,
        named_window=_minutes(lowered) is not None,
        counts=bool(_COUNT.search(text)),
    )


def identifiers_in(text: str) -> list[str]:
    """Services and codes that a text names, in their order."""
    return list(dict.fromkeys(_identifiers(text)))


def _identifiers(text: str) -> Iterator[str]:
    for match in _IDENTIFIER.finditer(text):
        if not _NO_NAMES.fullmatch(match[0]):
            yield match[0]


def _minutes(text: str) -> int | None:
    """The window that is named, within what the tools take."""
    if _WHOLE_DAY.search(text):
        return MAX_MINUTES
    found = _WINDOW.search(text)
    if not found:
        return None
    amount = _HAN_DIGITS.get(found[1]) or float(found[1])
    unit = next(minutes for start, minutes in _UNITS.items() if found[2].startswith(start))
    return max(1, min(MAX_MINUTES, round(amount * unit)))
