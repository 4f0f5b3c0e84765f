import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction import redact_text

NAMES = ["password", "token", "密码", "Cookie", "Authorization", "Bearer ", "Basic ", "IDENTIFIED BY ", "13862132484"]
MARKS = [
    "=",
    ": ",
    "：",
    '"',
    "'",
    '\\"',
    "\\",
    "[",
    "]",
    "{",
    "}",
    "&",
    "|",
    ",",
    ";",
    " ",
    "\n",
    "  ",
    "@",
    ")",
    "%26",
]
OPENERS = [
    "<password>",
    "</password>",
    "mysql://",
    "u:",
    "host:1/",
    "mysql ",
    "-p",
    "--password ",
    "${",
    "|\n  ",
    "eyJhbGciOi.",
]
OTHERS = [
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "[REDACTED:password]",
    "INSERT INTO t (password) VALUES (",
]
FRAGMENTS = [*NAMES, *MARKS, *OPENERS, *OTHERS, "x9", "é"]
structures = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)


@given(structures | st.text(max_size=200))
def test_any_text_keeps_its_line_breaks_and_its_masks(text: str) -> None:
    once = redact_text(text)
    assert once.count("\n") == text.count("\n")
    assert redact_text(once).count("[REDACTED:") >= once.count("[REDACTED:")


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N"]), min_size=8, max_size=40))
def test_any_quoted_password_goes(secret: str) -> None:
    secret = f"Zq9{secret}"
    for template in ('{{"password":"{}"}}', "password='{}'", '{{\\"password\\":\\"{}\\"}}', "<password>{}</password>"):
        assert secret not in redact_text(template.format(secret))


@given(
    st.text(
        alphabet=st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\"'`@[]{}()<>|,;&\\*$%#?:/="),
        min_size=8,
        max_size=30,
    ),
    st.sampled_from(
        ["mysql://app:{}@db:3306/x", "password={} next", "https://u:{}@host/x", "密码：{}，完", "-- --password={} -v"]
    ),
)
def test_any_bare_password_goes(secret: str, template: str) -> None:
    secret = f"Zq9{secret}"
    assert secret not in redact_text(template.format(secret))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=abc", "password=[REDACTED:password]"),
        ("client_secret=abc", "client_secret=[REDACTED:secret]"),
        ("access_token=abc", "access_token=[REDACTED:token]"),
        ("api_key=abc", "api_key=[REDACTED:key]"),
        ("call 13862132484", "call [REDACTED:mobile]"),
        ("id 44052419950327809X", "id [REDACTED:id-card]"),
        ("pan 4111111111111111", "pan [REDACTED:bank-card]"),
        ("Cookie: sid=abcd1234; a=b", "Cookie: sid=[REDACTED:cookie]; a=b"),
        ("Authorization: Basic YTpi", "Authorization: Basic [REDACTED:basic]"),
        ("Authorization: Bearer abc123", "Authorization: Bearer [REDACTED:bearer]"),
        ("mysql://a:b@h/x", "mysql://a:[REDACTED:password]@h/x"),
    ],
)
def test_the_mask_keeps_the_kind(text: str, expected: str) -> None:
    assert redact_text(text) == expected


def test_a_private_key_keeps_its_lines() -> None:
    text = "a\n-----BEGIN PRIVATE KEY-----\nAAAA\nBBBB\n-----END PRIVATE KEY-----\nb"
    assert redact_text(text).split("\n") == ["a", *["[REDACTED:private-key]"] * 4, "b"]


@pytest.mark.parametrize("digit", "0123456789")
def test_a_card_with_a_wrong_check_digit_stays(digit: str) -> None:
    text = f"pan 411111111111111{digit}"
    assert (redact_text(text) == text) is (digit != "1")


@pytest.mark.parametrize("number", ["440524199503278090", "440524199513278091", "44052419950327809"])
def test_an_identity_card_with_a_wrong_checksum_or_date_stays(number: str) -> None:
    assert redact_text(f"id {number}") == f"id {number}"
