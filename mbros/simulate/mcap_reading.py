"""An MCAP file, opened to be read: whatever the package mcap makes of damaged bytes is one refusal in words (docs/recording.md)."""
from __future__ import annotations

import os
import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from mbros_core.files import open_regular
from mbros_core.numbers import short

from mbros.errors import MbrosError
from mbros.simulate.mcap_file import package
from mbros.simulate.recorder import _reason

REMEDY = "record again, or let `mcap recover` make a file of what can still be read"


class McapReading:
    """Notes, attachments and messages of a file; `refusal`, with the file's name and what is wrong, where it cannot be read."""

    def __init__(self, path: Path, refusal: type[MbrosError]) -> None:
        self.path, self._refusal, self._mcap = path, refusal, package()
        try:
            self._file = open_regular(path)
        except (OSError, ValueError) as e:
            raise refusal(f"{path} cannot be read: {_reason(e) if isinstance(e, OSError) else e}") from e
        try:
            size = os.fstat(self._file.fileno()).st_size
            self._reader = self._mcap.reader.SeekingReader(self._file, record_size_limit=size)
        except Exception as e:          # as below
            self.close()
            raise self._refused(e) from e

    def notes(self) -> dict[str, dict[str, str]]:
        """{name: words}."""
        return {note.name: note.metadata for note in self._asked(self._reader.iter_metadata)}

    def attachments(self) -> dict[str, bytes]:
        """{name: bytes}."""
        return {piece.name: piece.data for piece in self._asked(self._reader.iter_attachments)}

    def messages(self, topics: Collection[str], in_order_of_time: bool) -> Iterator[tuple[str, str, Any]]:
        """(topic, name of the type, or "", message): as they were logged, or as they stand in the file."""
        for schema, channel, message in self._asked(lambda: self._reader.iter_messages(topics=topics, log_time_order=in_order_of_time)):
            yield channel.topic, schema.name if schema is not None else "", message

    def _asked(self, what: Callable[[], Iterable[Any]]) -> Iterator[Any]:
        try:
            yield from what()           # mcap's code alone: what is done with these is not under this `try`
        except Exception as e:          # it trusts what a file says, and fails in any way where that is damaged
            raise self._refused(e) from e

    def _refused(self, e: Exception) -> MbrosError:
        broken = self._mcap.exceptions
        if isinstance(e, (broken.EndOfFile, struct.error)):
            why = "it ends too soon"
        elif isinstance(e, (broken.RecordLengthLimitExceeded, OSError, OverflowError, MemoryError)):
            why = "it says that there is more in it than there is"
        elif isinstance(e, broken.McapError):
            why = str(e) or type(e).__name__
        else:
            why = f"one part of it does not fit another ({type(e).__name__}: {short(str(e))})"
        return self._refusal(f"{self.path} is no MCAP file, was cut off or is damaged: {why}; {REMEDY}")

    def close(self) -> None:
        self._file.close()
