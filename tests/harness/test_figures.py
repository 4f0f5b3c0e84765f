import pytest

from harness.figures import Evidence, missing_figures

RESULT = {
    "scope": {"start_time": "2026-10-01T11:30:00+08:00", "end_time": "2026-10-01T12:00:00+08:00"},
    "match_count": 1234,
    "events": [
        {"message": "HikariPool-1 - Connection is not available, request timed out after 30000ms."},
        {"message": "order SO202610010002 ERR_TIMEOUT channel=WECHAT host 10.0.3.17 ratio 0.50"},
    ],
    "rows": [{"payment_status": "FAILED", "orders": 20000}],
}


@pytest.mark.parametrize(
    ("text", "total", "missing"),
    [
        ("1,234 matches", 1, []),
        ("１２３４ 条匹配", 1, []),
        ("2 万笔订单", 0, []),
        ("2.0万笔订单", 1, []),
        ("超时 30000 毫秒", 1, []),
        ("timed out after 30000ms", 1, []),
        ("timed out after 3000ms", 1, ["3000"]),
        ("ratio 0.5", 1, []),
        ("in the last 30 minutes", 1, []),
        ("5 of 7 failed", 0, []),
        ("12 of 1234", 2, ["12"]),
        ("12 and again 12", 1, ["12"]),
        ("`Connection is not available`", 1, []),
        ("“Connection refused”", 1, ["Connection refused"]),
        ('it says "request timed out"', 1, []),
        ("the pool's state isn't known", 0, []),
        ("ERR_TIMEOUT and ERR_OTHER", 2, ["ERR_OTHER"]),
        ("order SO202610010002 and SO202610010003", 2, ["SO202610010003"]),
        ("订单SO202610010002支付失败", 1, []),
        ("host 10.0.3.17, not 10.0.3.18", 2, ["10.0.3.18"]),
        ("HikariPool-1 of order-service", 2, ["order-service"]),
        ("a long-running, read-only, follow-up query", 0, []),
        ("at 11:30 on 2026-10-01, not at 11:31", 3, ["11:31"]),
        ("payment_status FAILED", 1, []),
    ],
)
def test_figures_of_a_text(text: str, total: int, missing: list[str]) -> None:
    assert missing_figures(text, [Evidence(RESULT)]) == (total, missing)


def test_a_missing_figure_that_is_a_secret_is_masked_for_the_audit() -> None:
    _, missing = missing_figures("with `password=Tq7!mZp2`", [])
    assert missing == ["password=[REDACTED:password]"]


def test_a_figure_is_cut_for_the_audit() -> None:
    _, missing = missing_figures("`" + "x y " * 40 + "`", [])
    assert [len(figure) for figure in missing] == [60]
