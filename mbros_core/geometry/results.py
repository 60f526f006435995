"""What queries return."""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mbros_core.typing import Array, IntArray


class Contacts(NamedTuple):
    """Up to four contact points. points (k, 3): in the world, midway between the surfaces, m. normals (k, 3): unit, from A to B.
    depths (k,): m, positive in penetration. features (k,): what of the two shapes made a point; points are in their order."""

    points: Array
    normals: Array
    depths: Array
    features: IntArray


class ManyContacts(NamedTuple):
    """counts (n,), points (n, 4, 3), normals (n, 4, 3), depths (n, 4), features (n, 4): as in Contacts; zeros behind the counts."""

    counts: IntArray
    points: Array
    normals: Array
    depths: Array
    features: IntArray


class BroadPairs(NamedTuple):
    """pairs (k, 2): numbers of shapes whose boxes overlap, the smaller first, sorted. lost: how many more there were than room."""

    pairs: IntArray
    lost: int
