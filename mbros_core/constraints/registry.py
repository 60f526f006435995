"""The numbers of a shape in contact, column by column: documentation, live parameters and descriptions iterate this table."""
from __future__ import annotations

from typing import NamedTuple


class ContactNumber(NamedTuple):
    name: str
    unit: str
    default: float
    doc: str


# In this order in ModelSpec.shape_parameters, the field contact_parameters of a State, and the enum of contact.pxd.
CONTACT_NUMBERS = (
    ContactNumber("stiffness", "N/m", 1e6, "k of one contact point, for usual robots (below); a pair has k_a k_b / (k_a + k_b)"),
    ContactNumber("relaxation_time", "s", 0.005, "tau of the normal force k max(0, depth + tau d(depth)/dt); a pair has tau_a + tau_b"),
    ContactNumber("friction", "", 0.8, "mu of Coulomb's law; a pair has 2 mu_a mu_b / (mu_a + mu_b)"),
    ContactNumber("static_friction", "", 0.0, "mu of what stands still, where it is above friction; a pair as friction"),
    ContactNumber("torsional_radius", "m", 0.0, "moment against spinning, over mu times the normal force; a pair has the larger"),
    ContactNumber("rolling_radius", "m", 0.0, "moment against rolling, over the normal force; a pair has the larger"),
)
CONTACT_COLUMNS = len(CONTACT_NUMBERS)
MOST_CONTACT_NUMBER = 1e15      # of all of them: Gazebo's own default stiffness is 1e12, and products of two stay far from overflow


def unfit(number: ContactNumber, value: float) -> str:
    """What was expected of a number of a shape in contact that cannot be; "" where it can."""
    if not value <= MOST_CONTACT_NUMBER:
        return f"at most {MOST_CONTACT_NUMBER:g}"
    if number.name == "stiffness":
        return "" if value > 0.0 else "positive"
    return "" if value >= 0.0 else "zero or more"


MOST_ITERATIONS = 100           # of a step's convex problem, unless the plant says otherwise
