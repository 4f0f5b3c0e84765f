import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def redact(source: bytes) -> bytes:
    command = [sys.executable, "manage.py", "redact"]
    return subprocess.run(command, input=source, cwd=ROOT, capture_output=True, check=True).stdout


def test_it_masks_and_passes_everything_else_byte_for_byte() -> None:
    source = b"\xff\xfe binary\r\nuser=li password=Abc123x\nno final break \xe5\xaf"
    assert redact(source) == b"\xff\xfe binary\r\nuser=li password=[REDACTED:password]\nno final break \xe5\xaf"


def test_a_key_over_several_lines_is_masked() -> None:
    source = b"a\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END PRIVATE KEY-----\nb\n"
    assert redact(source) == b"a\n" + b"[REDACTED:private-key]\n" * 3 + b"b\n"


def test_a_reader_that_stops_is_no_error() -> None:
    pipe = f"yes password=Abc123x | {sys.executable} manage.py redact | head -1"
    done = subprocess.run(["bash", "-c", pipe], cwd=ROOT, capture_output=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"password=[REDACTED:password]\n", b"")
