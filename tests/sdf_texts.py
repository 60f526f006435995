"""SDF texts of tests."""


def link(name, inside="", pose="", mass=1.0, moment=0.1):
    """With a mass and moments of inertia that are all different."""
    moments = "".join(f"<{tag}>{value}</{tag}>" for tag, value in (("ixx", moment), ("iyy", 1.1 * moment), ("izz", 1.2 * moment)))
    return (f"<link name='{name}'>{pose}<inertial><pose>0.1 0.02 0.03 0 0 0</pose><mass>{mass}</mass><inertia>{moments}</inertia>"
            f"</inertial>{inside}</link>")


def joint(name, parent, child, kind="revolute", inside="<axis><xyz>0 0 1</xyz></axis>", pose=""):
    return f"<joint name='{name}' type='{kind}'>{pose}<parent>{parent}</parent><child>{child}</child>{inside}</joint>"


def model(*parts, name="m", more=""):
    return f"<model name='{name}' {more}>{''.join(parts)}</model>"


def sdf(*parts, version="1.9"):
    return f"<sdf version='{version}' xmlns:drake='http://drake.mit.edu'>{''.join(parts)}</sdf>"


def world(*parts, name="w"):
    return f"<world name='{name}'>{''.join(parts)}</world>"


def collision(shape="<box><size>1 1 1</size></box>", inside="", name="c"):
    return f"<collision name='{name}'><geometry>{shape}</geometry>{inside}</collision>"


PLANE = "<plane><normal>0 0 1</normal><size>9 9</size></plane>"
GROUND = model("<static>true</static>", f"<link name='link'>{collision(PLANE)}</link>", name="ground plane")
