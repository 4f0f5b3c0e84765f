"""The files of a topic: listed, told apart from what is no log, and opened once each, also while they are rotated."""

import codecs
import glob
import logging
import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

logger = logging.getLogger(__name__)

MAX_FILES = 5_000
_HEAD_BYTES = 64 * 1024
_PACKED_BYTES = 16 * 1024
_MAX_CONTROL_SHARE = 0.05
_GZIP = b"\x1f\x8b"
_OTHER_PACKING = (b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")
_PLAIN_CONTROLS = frozenset(b"\t\n\r\f\b\x1b\0")  # NUL: the hole that copytruncate leaves


_Inode: TypeAlias = tuple[int, int]


class BrokenFileError(Exception):
    """A file ends early (packed and damaged, or truncated while it is read); what came before that counts."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A log file that is open for reading; the caller closes `handle`."""

    handle: BinaryIO
    source: str | None
    modified: float
    """Seconds since 1970."""
    start: int
    """Where its data begins (bytes): behind the hole that copytruncate leaves."""
    size: int
    packed: bool
    encoding: str | None
    """Set when every line is to be transcoded; None where lines are separated by a plain line feed."""
    head: bytes


class TopicFiles:
    """Opens each file of some paths once. Counts what it could not read."""

    def __init__(self, paths: Sequence[str], encoding: str) -> None:
        self._paths = paths
        self._encoding = encoding
        self._seen: set[_Inode] = set()
        self._unreadable: set[_Inode] = set()
        self.found = 0
        self.failed = 0
        self.left_out = 0

    def open_all(self) -> Iterator[OpenFile]:
        """The files as they are now. Those that are renamed before their turn are found again by their inode.

        New files are left alone: they are copies of what was read (packed or by copytruncate), or begin just now.
        """
        first = self._list()
        for path in first:
            yield from self._open(path)
        missing = set(first.values()) - self._seen
        if missing:
            for path, inode in self._list().items():
                if inode in missing:
                    yield from self._open(path)
            self.left_out += len(missing - self._seen - self._unreadable)

    def _list(self) -> dict[Path, _Inode]:
        listed: dict[Path, _Inode] = {}
        for pattern in self._paths:
            names = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]
            for path in (path for name in names for path in self._below(Path(name))):
                if len(listed) >= MAX_FILES:
                    self.left_out += 1
                    return listed
                with suppress(OSError):  # gone since it was listed
                    state = path.stat()
                    if stat.S_ISREG(state.st_mode):
                        listed[path] = (state.st_dev, state.st_ino)
        return listed

    def _below(self, top: Path) -> Iterator[Path]:
        if not top.is_dir():
            yield top
            return
        for folder, folders, names in os.walk(top, onerror=self._fail):
            folders.sort()
            yield from (Path(folder, name) for name in sorted(names))

    def _open(self, path: Path) -> Iterator[OpenFile]:
        try:
            handle = path.open("rb", buffering=0)
        except FileNotFoundError:
            return
        except OSError as error:
            with suppress(OSError):
                state = path.stat()
                self._unreadable.add((state.st_dev, state.st_ino))
            self._fail(error)
            return
        opened = None
        try:
            state = os.fstat(handle.fileno())
            if (state.st_dev, state.st_ino) not in self._seen:
                self._seen.add((state.st_dev, state.st_ino))
                opened = _inspect(handle, state, path, self._encoding)
                self.found += opened is not None or not state.st_size
        except (OSError, BrokenFileError) as error:
            self._fail(error)
        if opened is None:
            handle.close()
        else:
            yield opened

    def _fail(self, error: Exception) -> None:
        self.found += 1
        self.failed += 1
        logger.warning("a log file or folder cannot be read: %s", type(error).__name__)


def _inspect(handle: BinaryIO, state: os.stat_result, path: Path, encoding: str) -> OpenFile | None:
    """None for a file that is empty or no text. Raises `OSError`; `BrokenFileError` where nothing can be unpacked."""
    start = 0
    head = handle.read(_HEAD_BYTES) or b""
    if not head.strip(b"\0") and len(head) < state.st_size:
        start = os.lseek(handle.fileno(), 0, os.SEEK_DATA)
        head = handle.read(_HEAD_BYTES) or b""
    packed = head.startswith(_GZIP)
    if packed:
        handle.seek(0)
        head = next(inflate(handle, _HEAD_BYTES), b"")
    wide = _wide(head, encoding)
    if not head.strip(b"\0\r\n\t ") or head.startswith(_OTHER_PACKING) or (wide is None and _is_binary(head)):
        return None
    handle.seek(0)
    return OpenFile(handle, _service(path), state.st_mtime, start, state.st_size, packed, wide, head)


def _wide(head: bytes, encoding: str) -> str | None:
    """An encoding in which a line feed is not the one byte that it is in all others."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return encoding if encoding.startswith(("utf-16", "utf-32")) else None


def _is_binary(head: bytes) -> bool:
    sample = head[:4096]
    controls = sum(byte < 32 and byte not in _PLAIN_CONTROLS for byte in sample)
    return controls > len(sample.replace(b"\0", b"")) * _MAX_CONTROL_SHARE


def _service(path: Path) -> str | None:
    """The name that a file gives its events: `order-service.log.2.gz` is of `order-service`."""
    return path.name.split(".")[0] or None


def inflate(handle: BinaryIO, piece_bytes: int) -> Iterator[bytes]:
    """What a gzip file holds, in pieces. Raises `BrokenFileError` behind the last byte that could be unpacked."""
    unpacker = zlib.decompressobj(wbits=31)
    whole = True
    packed = b""
    while packed or (packed := handle.read(_PACKED_BYTES) or b""):
        try:
            piece = unpacker.decompress(packed, piece_bytes)
        except zlib.error as error:
            raise BrokenFileError from error
        packed, whole = unpacker.unconsumed_tail, unpacker.eof
        if piece:
            yield piece
        if whole:  # another member may follow, or padding
            packed = unpacker.unused_data.lstrip(b"\0")
            unpacker = zlib.decompressobj(wbits=31)
    if not whole:
        raise BrokenFileError
