"""Keys of random streams: 64 bits from a seed and a name, by BLAKE2b. The same name and seed give the same stream in every bench."""
from __future__ import annotations

from hashlib import blake2b


def stream_key(seed: int, name: str) -> tuple[int, int]:
    """Two words of 32 bits."""
    digest = blake2b(f"{seed}/{name}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:], "little")
