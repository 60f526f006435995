"""An MCAP file, opened to be read: from its start to its end once, record by record. Nothing that it says of itself (index, summary, sizes,
counts) is taken for true before it is compared with what is there; what is damaged is one refusal in words (docs/recording.md)."""
from __future__ import annotations

import importlib
import os
import struct
import zlib
from collections.abc import Callable, Collection, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from mbros_core.support.files import open_regular
from mbros_core.support.numbers import short

from mbros.errors import MbrosError
from mbros.record.mcap_file import package
from mbros.record.recorder import _reason

REMEDY = "record again, or let `mcap recover` make a file of what can still be read"
MAGIC = b"\x89MCAP0\r\n"
HEAD, MESSAGE = struct.Struct("<BQ"), struct.Struct("<HIQQ")        # of a record: what it is, its length; of a message
FOOTER, SCHEMA, CHANNEL, LOGGED, CHUNK, ATTACHMENT, METADATA, DATA_END = 2, 3, 4, 5, 6, 9, 12, 15
MOST = 1 << 27          # bytes of a record, as it is in the file and as it is unpacked
MOST_NOTE = 1 << 24     # of a note
TIMES, AND = 200, 1 << 24           # all chunks together hold at most so many times what the file has, and so many bytes more


class Damaged(Exception):
    """What is wrong in a file, in words."""


class Message(NamedTuple):
    """log_time: ns."""

    log_time: int
    data: bytes


class McapReading:
    """Notes, attachments and messages of a file; `refusal`, with the file's name, the place and what is wrong, where it cannot be read."""

    def __init__(self, path: Path, refusal: type[MbrosError]) -> None:
        self.path, self._refusal, self._records, self._at = path, refusal, package().records, 0
        try:
            self._file = open_regular(path)
        except (OSError, ValueError) as e:
            raise refusal(f"{path} cannot be read: {_reason(e) if isinstance(e, OSError) else e}") from e
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            list(self._asked(self._ends))
        except BaseException:
            self.close()
            raise

    def notes(self, name: str) -> dict[str, str]:
        """The words of the note of that name, the last one; none where there is none."""
        found: dict[str, str] = {}
        for note in self._asked(lambda: self._pieces(METADATA, self._records.Metadata, MOST_NOTE, (name,))):
            found = note.metadata
        return dict(found)

    def attachments(self, names: Collection[str]) -> dict[str, bytes]:
        """{name: bytes} of those."""
        return {piece.name: piece.data for piece in self._asked(lambda: self._pieces(ATTACHMENT, self._records.Attachment, MOST, names))}

    def messages(self, topics: Collection[str]) -> Iterator[tuple[str, str, Message]]:
        """(topic, name of the type, or "", message) as they stand in the file."""
        return self._asked(lambda: self._logged(topics))

    # --- the file

    def _ends(self) -> Iterator[None]:
        yield
        if self._take(0, 8) != MAGIC:
            raise Damaged("it does not begin as one")
        if self._size < 2 * len(MAGIC) or self._take(self._size - 8, 8) != MAGIC:
            raise Damaged("it ends too soon")
        for kind, at, length in self._walk():
            if kind == DATA_END:
                given = self._take(at, length)[:4]
                self._file.seek(0)
                left, crc = at - HEAD.size, 0
                while left and (data := self._file.read(min(left, 1 << 20))):
                    left, crc = left - len(data), zlib.crc32(data, crc)
                _same(given, crc, "what is before it")

    def _walk(self) -> Iterator[tuple[int, int, int]]:
        """(what it is, where it begins, its length) of every record, up to the summary, which repeats what is before it. The last one,
        DATA_END, holds their checksum."""
        at, end = len(MAGIC), self._size - len(MAGIC)
        while at + HEAD.size <= end:
            kind, length = HEAD.unpack(self._take(at, HEAD.size))
            if kind == FOOTER:
                return
            if kind == 0:
                raise Damaged("there is no record where one should be")
            if length > end - at - HEAD.size:
                raise Damaged(f"it says that {length} bytes follow, and there are {end - at - HEAD.size}")
            yield kind, at + HEAD.size, length
            if kind == DATA_END:
                return
            at += HEAD.size + length
        raise Damaged("it ends too soon")

    def _take(self, at: int, length: int, most: int = MOST) -> bytes:
        self._at = at
        if length > most:
            raise Damaged(f"a part of it has {length} bytes, more than the {most} that mbros reads")
        self._file.seek(at)
        data = self._file.read(length)
        if len(data) != length:
            raise Damaged("it ends too soon")
        return data

    def _pieces(self, wanted: int, record: Any, most: int, names: Collection[str]) -> Iterator[Any]:
        for kind, at, length in self._walk():
            if kind == wanted:
                body = self._take(at, length, most)
                piece = record.read(_stream(body))
                if piece.name in names:
                    if wanted == ATTACHMENT:
                        _same(body[-4:], zlib.crc32(body[:-4]), f"the attached {short(piece.name)}")
                    yield piece

    def _logged(self, topics: Collection[str]) -> Iterator[tuple[str, str, Message]]:
        schemas: dict[int, str] = {0: ""}
        channels: dict[int, tuple[str, int] | None] = {}           # None: of another topic
        left = TIMES * self._size + AND
        for kind, at, length in self._walk():
            if kind == CHUNK:
                data = self._unpacked(self._records.Chunk.read(_stream(self._take(at, length))), left)
                left -= len(data)
                inside = self._inside(data)
            elif kind in (SCHEMA, CHANNEL, LOGGED):
                inside = iter([(kind, memoryview(self._take(at, length)))])
            else:
                continue
            for what, body in inside:
                if what == SCHEMA:
                    schema = self._records.Schema.read(_stream(body))
                    schemas[schema.id] = schema.name[:256]
                elif what == CHANNEL:
                    channel = self._records.Channel.read(_stream(body))
                    channels[channel.id] = (channel.topic, channel.schema_id) if channel.topic in topics else None
                elif what == LOGGED:
                    if len(body) < MESSAGE.size:
                        raise Damaged(f"a message has {len(body)} bytes")
                    number, _, log_time, _ = MESSAGE.unpack_from(body)
                    if number not in channels:
                        raise Damaged(f"a message is of channel {number}, of which nothing is said before it")
                    of = channels[number]
                    if of is not None:
                        if of[1] not in schemas:
                            raise Damaged(f"a message is of schema {of[1]}, of which nothing is said before it")
                        yield of[0], schemas[of[1]], Message(log_time, bytes(body[MESSAGE.size:]))

    def _inside(self, data: bytes) -> Iterator[tuple[int, memoryview]]:
        view, at = memoryview(data), 0
        while at < len(data):
            if at + HEAD.size > len(data):
                raise Damaged("what is in a chunk ends too soon")
            kind, length = HEAD.unpack_from(view, at)
            at += HEAD.size
            if length > len(data) - at:
                raise Damaged(f"it says that {length} bytes follow in a chunk, and there are {len(data) - at}")
            yield kind, view[at:at + length]
            at += length

    def _unpacked(self, chunk: Any, left: int) -> bytes:
        """What is in a chunk, as long as it says that it is."""
        size = chunk.uncompressed_size
        if size > min(MOST, left):
            raise Damaged(f"a chunk says that {size} bytes are in it, of which mbros reads {min(MOST, left)} at most: {MOST} in a chunk, "
                          f"and in all of them {TIMES} times what the file has; write it again with the topics that are wanted alone")
        if not chunk.compression:
            data = chunk.data
        elif chunk.compression == "zstd":
            import zstandard        # brought by mcap

            unpacker = zstandard.ZstdDecompressor(max_window_size=MOST)
            data = unpacker.stream_reader(BytesIO(chunk.data), read_across_frames=True).read(size + 1)
        elif chunk.compression == "lz4":
            lz4 = importlib.import_module("lz4.frame")              # as above; without types
            data = lz4.LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
        else:
            raise Damaged(f"a chunk is compressed by {short(chunk.compression)}, which mbros does not read")
        if len(data) != size:
            raise Damaged(f"a chunk says that {size} bytes are in it, and there are {'more' if len(data) > size else len(data)}")
        _same(struct.pack("<I", chunk.uncompressed_crc), zlib.crc32(data), "what is in a chunk")
        return bytes(data)

    def _asked(self, what: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        try:
            yield from what()           # mcap's code and this file's: what is done with these is not under this `try`
        except Exception as e:          # the first trusts what a record says, and fails in any way where that is damaged
            raise self._refused(e) from e

    def _refused(self, e: Exception) -> MbrosError:
        if isinstance(e, Damaged):
            why = str(e)
        elif isinstance(e, (package().exceptions.EndOfFile, struct.error)):
            why = "it ends too soon"
        elif isinstance(e, (OSError, OverflowError, MemoryError)):
            why = "it says that there is more in it than there is"
        else:
            why = f"one part of it does not fit another ({type(e).__name__}: {short(str(e))})"
        return self._refusal(f"{self.path} is no MCAP file, was cut off or is damaged: at byte {self._at}: {why}; {REMEDY}")

    def close(self) -> None:
        self._file.close()


def _same(given: bytes, crc: int, what: str) -> None:
    """given: the checksum (CRC-32) that the file has of it; 0: none was written."""
    written = int.from_bytes(given, "little")
    if written not in (0, crc):
        raise Damaged(f"{what} has changed since it was written: its checksum is {crc:08x}, and was {written:08x}")


def _stream(body: bytes | memoryview) -> Any:
    from mcap.data_stream import ReadDataStream      # start-up time: who does not read does not pay

    return ReadDataStream(BytesIO(body))
