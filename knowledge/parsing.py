"""Files become text with structure: title, blocks, and the headings above each block.

Formats: Markdown, HTML, plain text, PDF, DOCX, by well-kept parsers. Source: 06-knowledge, "Formats".
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from django.utils.translation import gettext as _

from knowledge.chunking import Block
from knowledge.errors import DocumentError

MAX_TEXT_CHARACTERS = 5_000_000
_MAX_UNZIPPED_BYTES = 200 << 20
_MAX_PDF_PAGES = 2_000
_TITLE_CHARACTERS = 200
_SEPARATOR = " > "
_SHORTCODE = re.compile(r"\{\{[<%]\s*/?[^{}]*?[>%]\}\}")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document's text; `blocks` are slices of it in order."""

    title: str
    text: str
    blocks: list[Block]


class _Builder:
    """Collects blocks under their headings into one text."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[tuple[int, str]] = []
        self.blocks: list[Block] = []
        self.first_heading = ""

    def heading(self, level: int, words: str) -> None:
        words = " ".join(words.split())
        self._headings = [entry for entry in self._headings if entry[0] < level]
        self._headings.append((level, words))
        self.first_heading = self.first_heading or words
        self._add(words)

    def block(self, words: str) -> None:
        if words.strip():
            self._add(words.strip("\n"))

    def _add(self, words: str) -> None:
        breadcrumb = _SEPARATOR.join(name for _, name in self._headings)[:500]
        self.blocks.append(Block(self._length, self._length + len(words), breadcrumb))
        self._parts.append(words + "\n\n")
        self._length += len(words) + 2
        if self._length > MAX_TEXT_CHARACTERS:
            raise DocumentError(_("The document holds too much text. Split it."))

    def parsed(self, title: str) -> Parsed:
        text = "".join(self._parts).rstrip()
        if not text:
            raise DocumentError(_("The document holds no text. If it was scanned, it needs text recognition first."))
        return Parsed((title or self.first_heading).strip()[:_TITLE_CHARACTERS], text, self.blocks)


def parse(name: str, content: bytes, max_bytes: int) -> Parsed:
    """Read a file by its extension, which must agree with what it holds. Raises `DocumentError`."""
    if not content:
        raise DocumentError(_("The file is empty."))
    if len(content) > max_bytes:
        raise DocumentError(_("The file is larger than %(size)d MB.") % {"size": max_bytes >> 20})
    suffix = PurePath(name).suffix.lower()
    reader = _READERS.get(suffix)
    if reader is None:
        raise DocumentError(_("Files of this kind are not read. Use %(kinds)s.") % {"kinds": ", ".join(_READERS)})
    _check_kind(suffix, content)
    return reader(content)


def _check_kind(suffix: str, content: bytes) -> None:
    found = ".pdf" if content.startswith(b"%PDF-") else ".docx" if content.startswith(b"PK\x03\x04") else None
    binary = b"\0" in content[:4096] and not content.startswith((b"\xff\xfe", b"\xfe\xff"))
    office = content.startswith(b"\xd0\xcf\x11\xe0")  # an old Word file, or an encrypted new one
    if office:
        raise DocumentError(_("The file is encrypted or of an old Word format. Save it as DOCX without a password."))
    wanted = suffix if suffix in {".pdf", ".docx"} else None
    if found != wanted or (wanted is None and binary):
        raise DocumentError(_("The file does not hold what its extension says."))


def decode(content: bytes) -> str:
    """UTF-8, UTF-16 with its mark, GB18030, or what charset-normalizer finds. Raises `DocumentError`."""
    encodings = ["utf-16"] if content.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8-sig", "gb18030"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding != "gb18030" or _looks_chinese(text):
            return _clean(text)
    from charset_normalizer import from_bytes

    best = from_bytes(content[: 1 << 20]).best()
    if best is None:
        raise DocumentError(_("The file's character encoding is not known. Save it as UTF-8."))
    return _clean(content.decode(best.encoding, errors="replace"))


def _looks_chinese(text: str) -> bool:
    other = [character for character in text if ord(character) > 127]
    common = sum("\u4e00" <= character <= "\u9fff" or character in "，。；：？！、（）《》“”" for character in other)
    return common * 10 >= len(other) * 9


def _clean(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _markdown(content: bytes) -> Parsed:
    import frontmatter
    import yaml
    from markdown_it import MarkdownIt

    text = decode(content)
    title = ""
    try:
        post = frontmatter.loads(text)
        title, text = str(post.metadata.get("title") or ""), post.content
    except (yaml.YAMLError, ValueError, TypeError, AttributeError):
        pass  # a line of dashes on top is no front matter then
    builder = _Builder()
    source = _SHORTCODE.sub("", text)
    lines = source.split("\n")
    parser = MarkdownIt("commonmark").enable("table")
    depth = 0
    heading: tuple[int, Any] | None = None
    for token in parser.parse(source):
        if heading is not None and token.type == "inline":
            builder.heading(heading[0], _plain(token.content))
            heading = None
            continue
        depth += token.nesting if token.nesting < 0 else 0
        if depth == 0 and token.map is not None and token.type != "inline":
            if token.type == "heading_open":
                heading = (int(token.tag[1]), token)
            else:
                for part in _list_items(token, lines):
                    builder.block(part)
        depth += token.nesting if token.nesting > 0 else 0
    return builder.parsed(title)


def _list_items(token: Any, lines: list[str]) -> Iterator[str]:
    """A top-level token's own lines; a long list goes item by item, everything else whole."""
    start, end = token.map
    whole = "\n".join(lines[start:end]).rstrip()
    if token.type not in {"bullet_list_open", "ordered_list_open"} or len(whole) < 600:
        yield whole
        return
    item: list[str] = []
    for line in lines[start:end]:
        if item and re.match(r"\s{0,1}(?:[-*+]|\d+[.)])\s", line):
            yield "\n".join(item)
            item = []
        item.append(line)
    yield "\n".join(item)


def _plain(inline: str) -> str:
    return re.sub(r"\s*\{#[^}]*\}\s*$", "", re.sub(r"[*`]|\[([^\]]*)\]\([^)]*\)", r"\1", inline))


def _html(content: bytes) -> Parsed:
    from bs4 import BeautifulSoup, Comment, NavigableString, Tag

    soup = BeautifulSoup(decode(content), "html.parser")
    for unwanted in soup(["script", "style", "noscript", "template", "nav", "iframe", "object", "svg"]):
        unwanted.decompose()
    for comment in soup.find_all(string=lambda string: isinstance(string, Comment)):
        comment.extract()
    builder = _Builder()
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    whole = {"p", "li", "pre", "blockquote", "dt", "dd", "figcaption", "td", "th"}

    def walk(node: Tag) -> None:
        loose: list[str] = []
        for child in node.children:
            if isinstance(child, NavigableString):
                loose.append(str(child))
                continue
            if not isinstance(child, Tag):
                continue
            if (
                re.fullmatch(r"h[1-6]", child.name)
                or child.name in whole
                or child.name == "table"
                or _has_blocks(child)
            ):
                builder.block(" ".join("".join(loose).split()))
                loose.clear()
                if re.fullmatch(r"h[1-6]", child.name):
                    builder.heading(int(child.name[1]), child.get_text(" ", strip=True))
                elif child.name == "table":
                    builder.block(_html_table(child))
                elif child.name == "pre":
                    builder.block(child.get_text())
                elif child.name in whole and not _has_blocks(child):
                    builder.block(" ".join(child.get_text(" ").split()))
                else:
                    walk(child)
            else:
                loose.append(child.get_text(" "))
        builder.block(" ".join("".join(loose).split()))

    def _has_blocks(tag: Tag) -> bool:
        return tag.find(["p", "div", "li", "table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "section"]) is not None

    walk(soup.body or soup)
    return builder.parsed(title)


def _html_table(table: Any) -> str:
    """Rows of cells; a table inside a cell is read with its cell."""
    rows = []
    for row in table.find_all("tr"):
        if row.find_parent("table") is table:
            cells = [cell for cell in row.find_all(["td", "th"]) if cell.find_parent("tr") is row]
            rows.append(" | ".join(" ".join(cell.get_text(" ").split()) for cell in cells))
    return "\n".join(rows)


def _text(content: bytes) -> Parsed:
    builder = _Builder()
    for paragraph in re.split(r"\n\s*\n", decode(content)):
        builder.block(paragraph)
    return builder.parsed("")


def _pdf(content: bytes) -> Parsed:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    builder = _Builder()
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError(_("The PDF has a password. Save it without one."))
        if len(reader.pages) > _MAX_PDF_PAGES:
            raise DocumentError(_("The PDF has more than %(pages)d pages. Split it.") % {"pages": _MAX_PDF_PAGES})
        for page in reader.pages:
            for paragraph in re.split(r"\n\s*\n", _clean(page.extract_text() or "")):
                builder.block(paragraph)
        title = str((reader.metadata.title if reader.metadata else None) or "")
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise DocumentError(_("The PDF is damaged and cannot be read.")) from error
    return builder.parsed(title)


def _docx(content: bytes) -> Parsed:
    import docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    builder = _Builder()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MAX_UNZIPPED_BYTES:
                raise DocumentError(_("The DOCX unpacks to more than is allowed."))
        document = docx.Document(io.BytesIO(content))
        for part in document.iter_inner_content():
            if hasattr(part, "rows"):
                rows = (" | ".join(" ".join(cell.text.split()) for cell in row.cells) for row in part.rows)
                builder.block("\n".join(rows))
                continue
            style = (part.style.name if part.style is not None else "") or ""
            level = re.fullmatch(r"(?:Heading|标题) ?([1-9])", style)
            if style == "Title" and part.text.strip():
                builder.heading(1, part.text)
            elif level and part.text.strip():
                builder.heading(int(level[1]), part.text)
            else:
                builder.block(_clean(part.text))
        title = str(document.core_properties.title or "")
    except (zipfile.BadZipFile, OpcError, LxmlError, KeyError, ValueError, AttributeError, OSError) as error:
        raise DocumentError(_("The DOCX is damaged and cannot be read.")) from error
    return builder.parsed(title)


_READERS: dict[str, Callable[[bytes], Parsed]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".html": _html,
    ".htm": _html,
    ".txt": _text,
    ".pdf": _pdf,
    ".docx": _docx,
}
