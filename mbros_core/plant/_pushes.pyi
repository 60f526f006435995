from mbros_core import Plant
from mbros_core.typing import Array, ArrayLike, Capsule

COLUMNS: dict[str, int]

class Pushes:
    """What pushes a plant from outside. table: (MOST, width), rows as COLUMNS names them.

    Attached for good to the plant that it is made for. While a loop has the plant, post() hands it a table."""
    plant: Plant
    table: Array
    def __new__(cls, plant: Plant) -> Pushes: ...
    @property
    def capsule(self) -> Capsule:
        """The plug for Plant._attach."""
    def put(self, table: ArrayLike) -> None:
        """This table from the next step on. The plant must be free."""
    def post(self, table: ArrayLike) -> None:
        """The same from another thread than the one that steps; rows with the number that they have now go on as they are."""
    def check(self, table: ArrayLike) -> None:
        """MbrosError where put() and post() would refuse it."""
