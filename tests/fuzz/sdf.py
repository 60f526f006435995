"""Models and worlds for the SDF reader, grown by atheris as robots are for that of URDF (urdf.py), with the same promises."""
from tests.fuzz import urdf
from tests.fuzz.findings import CORPUS

check = repeat = urdf.repeat


def run(seconds: float, seed: int, count: int | None = None) -> int:
    """Let atheris work for a time; returns how many texts it tried."""
    return urdf.grow("sdf", [CORPUS / "sdf"], seconds, seed, count)


if __name__ == "__main__":
    urdf.main("mbros.describe.sdf")
