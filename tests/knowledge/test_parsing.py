"""Files of every format, the hard ones too: what becomes text, and what is refused with a reason."""

import io
import itertools
import zipfile

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfWriter

from knowledge.chunking import Block, chunk, windows
from knowledge.errors import DocumentError
from knowledge.parsing import Parsed, parse

LIMIT = 20 << 20
MARKDOWN = """---
title: 支付手册
---
Intro line.

# First

## Check {#anchor}

{{< hint warning >}}
Look at the pool.
{{< /hint >}}

```sh
# not a heading
kubectl get pods
```

| code | meaning |
| --- | --- |
| ERR_1 | one |

## Next

- item one
- item two
"""


def read(name: str, content: bytes | str) -> Parsed:
    return parse(name, content.encode() if isinstance(content, str) else content, LIMIT)


def trails(parsed: Parsed) -> dict[str, str]:
    return {parsed.text[block.start : block.end].strip(): block.breadcrumb for block in parsed.blocks}


def test_markdown_keeps_structure_and_drops_front_matter_and_shortcodes() -> None:
    parsed = read("a.md", MARKDOWN)
    assert parsed.title == "支付手册"
    assert "hint" not in parsed.text
    assert "title:" not in parsed.text
    found = trails(parsed)
    assert found["Intro line."] == ""
    code = next(text for text in found if "# not a heading" in text)
    assert "kubectl get pods" in code
    assert found[code] == "First > Check"
    table = next(text for text in found if "ERR_1" in text)
    assert "| code | meaning |" in table
    assert next(crumb for text, crumb in found.items() if "item one" in text) == "First > Next"


def test_a_line_of_dashes_is_no_front_matter() -> None:
    assert "key: [broken" in read("a.md", "---\nkey: [broken\n---\nText.").text


def test_html_has_no_scripts_and_keeps_nested_tables_and_headings() -> None:
    parsed = read(
        "a.html",
        "<html><head><title>T</title><script>steal()</script></head><body><h1>Top</h1><p>Text <b>bold</b></p>"
        "<style>p{}</style><table><tr><td>a<table><tr><td>inner</td></tr></table></td><td>b</td></tr></table>"
        "<!-- secret comment --><pre># code\n  indented</pre></body></html>",
    )
    assert parsed.title == "T"
    assert "steal" not in parsed.text
    assert "secret comment" not in parsed.text
    assert "inner" in parsed.text
    assert trails(parsed)["Text bold"] == "Top"
    assert "  indented" in parsed.text


def test_docx_headings_tables_and_title_are_read() -> None:
    document = docx.Document()
    document.add_heading("Runbook", 1)
    document.add_paragraph("Check the pool.")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "code", "ERR_1"
    out = io.BytesIO()
    document.save(out)
    parsed = read("a.docx", out.getvalue())
    assert trails(parsed)["Check the pool."] == "Runbook"
    assert "code | ERR_1" in parsed.text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_encodings_of_chinese_text_are_told(encoding: str) -> None:
    assert read("a.txt", "支付超时排查：先检查连接池。\n\n第二段。".encode(encoding)).text.startswith(
        "支付超时排查：先检查连接池。"
    )


def _pdf(password: str | None = None) -> bytes:
    writer = PdfWriter()
    writer.add_blank_page(200, 200)
    if password:
        writer.encrypt(password)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * (210 << 20))
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.md", b"", "empty"),
        ("a.md", b"   \n\n", "no text"),
        ("a.txt", b"x" * (LIMIT + 1), "20 MB"),
        ("a.exe", b"MZ", "not read"),
        ("a.pdf", b"# markdown", "extension"),
        ("a.md", b"%PDF-1.7", "extension"),
        ("a.txt", b"PK\x03\x04", "extension"),
        ("a.txt", b"\x00\x01\x02binary", "extension"),
        ("a.docx", b"\xd0\xcf\x11\xe0old", "encrypted"),
        ("a.docx", b"PK\x03\x04broken", "damaged"),
        ("a.pdf", b"%PDF-1.7 broken", "damaged"),
        ("a.pdf", _pdf(), "no text"),
        ("a.pdf", _pdf("secret"), "password"),
        ("a.docx", _bomb(), "unpacks"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} bytes",
)
def test_a_file_that_cannot_be_a_document_is_refused_with_a_reason(name: str, content: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        read(name, content)


blocks_of = st.lists(st.tuples(st.text(min_size=1, max_size=1500), st.sampled_from(["", "A", "A > B"])), max_size=8)


@given(blocks_of, st.integers(100, 800))
def test_chunks_are_slices_under_one_heading_and_lose_nothing(parts: list[tuple[str, str]], size: int) -> None:
    text, blocks = "", []
    for words, breadcrumb in parts:
        if not words.strip():  # readers make no block of white space
            continue
        blocks.append(Block(len(text), len(text) + len(words), breadcrumb))
        text += words + "\n\n"
    slices = chunk(text, blocks, size)
    for piece in slices:
        assert 0 <= piece.start < piece.end <= len(text)
        assert piece.end - piece.start <= size * 1.6
        crumbs = {block.breadcrumb for block in blocks if block.start < piece.end and piece.start < block.end}
        assert crumbs == {piece.breadcrumb}
    kept = "".join(text[piece.start : piece.end] for piece in slices)
    assert "".join(kept.split()) == "".join(text.split())
    assert all(left.end <= right.start for left, right in itertools.pairwise(slices))


@given(st.text(max_size=2000))
def test_windows_are_parts_of_the_text(text: str) -> None:
    assert all(window in text and len(window) <= 300 for window in windows(text))
