"""cached_property, which type checkers and editors see as a property: jedi offers what functools' own is made of, too."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    cached_property = property
else:
    from functools import cached_property as cached_property
