"""Bad URDFs: each is refused with file, line, element, reason and remedy, quickly, and never with another exception."""
import re

import pytest

from mbros.build.load import check
from mbros.describe import urdf
from mbros.errors import Problem, UrdfError

INERTIAL = ('<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>')
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="5"/>'


def link(name, inside=INERTIAL):
    return f'<link name="{name}">{inside}</link>\n'


def joint(name="j", kind="revolute", parent="a", child="b", inside='<axis xyz="0 0 1"/>' + LIMIT):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>\n{inside}\n</joint>\n')


def robot(*parts):
    return '<?xml version="1.0"?>\n<robot name="bad">\n' + "".join(parts) + "</robot>\n"


def two_links(inside='<axis xyz="0 0 1"/>' + LIMIT, kind="revolute"):
    """A robot of two links whose one joint has `inside` on line 6."""
    return robot(link("a"), link("b"), joint(kind=kind, inside=inside))


def inertial(mass="1", ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0"):
    """A robot whose moving link b (line 4) has this inertia."""
    tensor = f'ixx="{ixx}" ixy="{ixy}" ixz="{ixz}" iyy="{iyy}" iyz="{iyz}" izz="{izz}"'
    return robot(link("a"), link("b", f'<inertial><mass value="{mass}"/><inertia {tensor}/></inertial>'), joint())


def axis(xyz):
    return two_links(f'<axis xyz="{xyz}"/>' + LIMIT)


def limit(text):
    return two_links(f'<axis xyz="0 0 1"/><limit {text}/>')


def one_link(inside):
    return robot(link("a", inside))


# name: (text, line, part of the element, part of the reason, part of the remedy); line None: any
CASES = {}


def case(name, text, line, element, reason, remedy):
    assert name not in CASES
    CASES[name] = text, line, element, reason, remedy


# --- XML
case("empty", "<", 1, "file", "not well-formed", "ends before")
case("only a declaration", '<?xml version="1.0"?>', 1, "file", "no element found", "ends before")
case("unclosed root", '<robot name="r">\n<link name="a"/>\n', 3, "<robot>", "no element found", "close <robot> opened at line 1")
case("unclosed link", '<robot name="r">\n<link name="a">\n</robot>', 3, "<link>", "mismatched tag", "Close <link> opened at line 2")
case("unclosed quote", '<robot name="r>\n<link name="a"/></robot>', 2, "file", "not well-formed", "missing quote")
case("unclosed token", '<robot name="r">\n<link name="a"', 2, "<robot>", "unclosed token", "ends too early")
case("duplicate attribute", '<robot name="r">\n<link name="a" name="b"/></robot>', 2, "<robot>", "duplicate attribute", "once")
case("attribute without quotes", "<robot name=r/>", 1, "file", "not well-formed", "missing quote")
case("two roots in the document", '<robot name="r"/>\n<robot name="s"/>', 2, "file", "junk after document element", "one root element")
case("undefined entity", '<robot name="r">\n&nbsp;</robot>', 2, "<robot>", "undefined entity", "Only &lt;")
case("ampersand", '<robot name="a & b"/>', 1, "file", "not well-formed", "'<', '>'")
case("control character", '<robot name="r">\n\x01</robot>', 2, "<robot>", "not well-formed", "valid UTF-8")
case("doctype", '<!DOCTYPE robot>\n<robot name="r"/>', 1, "<!DOCTYPE>", "refused", "Remove")
case("doctype with system id", '<!DOCTYPE robot SYSTEM "file:///etc/passwd">\n<robot name="r"/>', 1, "<!DOCTYPE>", "refused", "Remove")
case("external entity", '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<robot name="&x;"/>', 1, "<!DOCTYPE>", "refused", "Remove")
case("billion laughs", "<!DOCTYPE r [\n<!ENTITY l0 'lol'>\n" + "".join(
    f"<!ENTITY l{k} '{f'&l{k - 1};' * 10}'>\n" for k in range(1, 12)) + ']>\n<robot name="&l11;"/>', 1, "<!DOCTYPE>", "refused", "Remove")
case("quadratic blow-up", f"<!DOCTYPE r [<!ENTITY a '{'a' * 50_000}'>]><robot name='r'>" + "&a;" * 10_000 + "</robot>", 1,
     "<!DOCTYPE>", "refused", "Remove")
case("parameter entity", "<!DOCTYPE r [<!ENTITY % p SYSTEM 'http://127.0.0.1/x'> %p;]><robot name='r'/>", 1, "<!DOCTYPE>",
     "refused", "Remove")
case("declaration after an element", '<robot name="r">\n<?xml version="1.0"?></robot>', 2, "<robot>",
     "XML or text declaration not at start", "before <robot>")
case("NUL byte", '<robot name="r">\n<link name="a\x00"/></robot>', 2, "file", "NUL byte", "damaged")
case("deep nesting", '<robot name="r">' + "<link>" * 300 + "</link>" * 300 + "</robot>", 1, "<link>", "more than 256 deep", "six levels")
case("a million nested tags", '<robot name="r">' + "<g>" * 1_000_000, 1, "<g>", "more than 256 deep", "six levels")
case("too many elements", '<robot name="r">\n' + "<g/>" * 500_001 + "</robot>", 2, "<g>", "more than 500000 elements", "ModelBuilder")
case("too big", '<robot name="r">' + " " * (32 * 2**20) + "</robot>", None, "file", "more than the 33554432", "Meshes")
case("mjcf", "<mujoco/>", 1, "<mujoco>", "no <worldbody>", "A model has bodies")
case("collada", '<COLLADA/>', 1, "<COLLADA>", "not <robot>", "mesh")
case("html", "<html><body/></html>", 1, "<html>", "not <robot>", "<robot name=")

@pytest.mark.parametrize("comment", ["<!-- gz topic -t /x --msgtype a -->", "<!------->", "<!-- a ---->", "<!-- -- --\n-- -->"])
def test_hyphens_in_comments_are_let_pass(comment):
    """As in urdfdom and Gazebo, though XML forbids them; lines keep their numbers."""
    text = f'<robot name="r">{comment}<!-- b --><link name="a"/>\n<link name="a"/></robot>'
    problem, = [each for each in check(text)[0] if "already taken" in each.reason]
    assert problem.line == 2 + comment.count("\n")


# --- names and structure
case("no links", '<robot name="r"/>', 1, "robot 'r'", "no <link>", "at least one link")
case("link without name", robot("<link/>\n"), 3, "link", "'name' is missing", "<link name=")
case("link with empty name", robot('<link name=" "/>\n'), 3, "link", "is empty", "Give a name")
case("link with endless name", robot(f'<link name="{"x" * 2000}"/>\n'), 3, "link", "2000 characters", "at most 1000")
case("duplicate links", robot(link("a"), link("a")), 4, "link 'a'", "already taken", "name of its own")
case("duplicate joints", robot(link("a"), link("b"), link("c"), joint("j"), joint("j", child="c")), 9, "joint 'j'",
     "already taken by joint 'j' (the first is at line 6)", "name of its own")
case("two root links", robot(link("a"), link("b")), 4, "link 'b'", "2 root links: 'a' (line 3), 'b' (line 4)", "connect them")
case("twelve root links", robot(*(link(f"l{k}") for k in range(12))), 4, "link 'l1'", "12 root links", "connect them")
case("self parent", robot(link("a"), joint(parent="a", child="a")), 4, "joint 'j'", "the same link 'a'", "two links")
case("cycle of two", robot(link("a"), link("b"), joint("j"), joint("k", parent="b", child="a")), None, "joint",
     "closed loop", "Take one joint out")
case("cycle of five", robot(*(link(f"l{k}") for k in range(5)), *(joint(f"j{k}", parent=f"l{k}", child=f"l{(k + 1) % 5}")
                                                             for k in range(5))), None, "joint", "closed loop", "Take one joint out")
case("cycle beside a tree", robot(*(link(n) for n in "abcd"), joint("j"), joint("k", parent="c", child="d"),
                                  joint("m", parent="d", child="c")), None, "joint", "closed loop: ", "Take one joint out")
case("long cycle", robot(*(link(f"l{k}") for k in range(2000)), *(joint(f"j{k}", "fixed", f"l{k}", f"l{(k + 1) % 2000}", "")
                                                                  for k in range(2000))), None, "joint", "closed loop", "one joint out")
case("two parents", robot(link("a"), link("b"), link("c"), joint("j", child="c"), joint("k", parent="b", child="c")), 9,
     "joint 'k'", "already carried by joint 'j' at line 6", "one joint to its parent")
case("unknown parent", robot(link("base"), link("b"), joint(parent="bse")), 5, "joint 'j', <parent>",
     "no link 'bse'; did you mean 'base'?", "correct the name")
case("unknown child", robot(link("a"), joint(child="zzz")), 4, "joint 'j', <child>", "no link 'zzz'", "Add the link")
case("no parent", robot(link("a"), '<joint name="j" type="fixed"><child link="a"/></joint>'), 4, "joint 'j'", "<parent> is missing",
     "<parent link=")
case("no child", robot(link("a"), '<joint name="j" type="fixed"><parent link="a"/></joint>'), 4, "joint 'j'", "<child> is missing",
     "<child link=")
case("parent without link", robot(link("a"), '<joint name="j" type="fixed"><parent/><child link="a"/></joint>'), 4,
     "joint 'j'", "'link' is missing in <parent>", "<parent link=")
case("joint without name", robot(link("a"), link("b"), '<joint type="fixed"><parent link="a"/><child link="b"/></joint>'), 5,
     "joint", "'name' is missing", "<joint name=")
case("joint without type", robot(link("a"), link("b"), '<joint name="j"><parent link="a"/><child link="b"/></joint>'), 5,
     "joint 'j'", "'type' is missing", "revolute, continuous")
case("unknown type", two_links(kind="revolut"), 5, "joint 'j'", "type 'revolut' is unknown; did you mean 'revolute'?",
     "revolute, continuous")
case("ball joint", two_links(kind="ball"), 5, "joint 'j'", "type 'ball' is unknown", "revolute, continuous")
case("link called world that is carried", robot(link("a"), link("world"), joint(child="world")), 4, "link 'world'", "reserved", "Rename")

# --- axes
case("zero axis", axis("0 0 0"), 6, "joint 'j', <axis>", "xyz='0 0 0' has no direction", 'xyz="0 0 1"')
case("negative zero axis", axis("-0 0.0 0e5"), 6, "joint 'j', <axis>", "no direction", "not zero")
case("underflowing axis", axis("1e-400 0 0"), 6, "joint 'j', <axis>", "no direction", "not zero")
case("axis with two numbers", axis("0 1"), 6, "joint 'j', <axis>", "has 2 numbers, expected 3", "3 finite decimal numbers")
case("axis with four numbers", axis("0 0 0 1"), 6, "joint 'j', <axis>", "has 4 numbers, expected 3", "3 finite decimal numbers")
case("axis without xyz", two_links("<axis/>" + LIMIT), 6, "joint 'j', <axis>", "'xyz' is missing", "<axis xyz=")
case("axis of a letter", axis("z"), 6, "joint 'j', <axis>", "is not a number", "3 finite decimal numbers")
case("axis with commas", axis("0, 0, 1"), 6, "joint 'j', <axis>", "comma", "separated by blanks")
case("two axes", two_links('<axis xyz="0 0 1"/><axis xyz="1 0 0"/>' + LIMIT), 6, "joint 'j'", "2 <axis> elements", "Keep one")
case("zero planar axis", two_links('<axis xyz="0 0 0"/>', "planar"), 6, "joint 'j', <axis>", "no direction", "not zero")

# --- numbers: the eleven spellings, and more
for spelling, reason in {"nan": "not a finite number", "NaN": "not a finite number", "inf": "not a finite number",
                         "-Infinity": "not a finite number", "1e400": "larger than any double", "1_000": "underscore",
                         "\u0661\u0662": "outside ASCII", "0x10": "hexadecimal", "1,5": "comma", "": "is empty",
                         "1.0f": "not a number", "1e": "not a number", "--1": "not a number", "1 2": "has 2 numbers, expected 1",
                         ".": "not a number", "+": "not a number", "1e1.5": "not a number", "\uff11": "outside ASCII",
                         "${mass}": "xacro", "$(arg m)": "xacro", "1" * 500: "longer than 400",
                         "1\u00a0": "outside ASCII"}.items():
    case(f"mass {spelling[:12]!r}", inertial(mass=spelling), 4, "link 'b', <mass>", reason, "1 finite decimal number")
for where, text, line in (("origin xyz", two_links('<origin xyz="0 nan 0"/><axis xyz="0 0 1"/>' + LIMIT), 6),
                          ("origin rpy", two_links('<origin rpy="0 0 inf"/><axis xyz="0 0 1"/>' + LIMIT), 6),
                          ("collision origin",
                           one_link('<collision><origin xyz="1e999 0 0"/><geometry><sphere radius="1"/></geometry></collision>'), 3),
                          ("box size", one_link('<collision><geometry><box size="1 1"/></geometry></collision>'), 3),
                          ("sphere radius", one_link('<collision><geometry><sphere radius="nan"/></geometry></collision>'), 3),
                          ("cylinder length", one_link('<collision><geometry><cylinder radius="1"/></geometry></collision>'), 3),
                          ("mesh scale", one_link('<collision><geometry><mesh filename="m.stl" scale="1"/></geometry></collision>'), 3)):
    case("bad " + where, text, line, "<", "expected 3" if where in ("box size", "mesh scale") else "",
         "finite decimal" if "length" not in where else "Write")

# --- masses and inertias
case("negative mass", inertial(mass="-1"), 4, "link 'b', <mass>", "value='-1' is below 0", "0 or more")
case("no mass value", robot(link("a", "<inertial><mass/><inertia ixx='1' iyy='1' izz='1'/></inertial>")), 3, "link 'a', <mass>",
     "'value' is missing", "<mass value=")
case("no mass element", robot(link("a", "<inertial><inertia ixx='1' iyy='1' izz='1'/></inertial>")), 3, "link 'a'",
     "<mass> is missing", "<mass value=")
case("no inertia element", robot(link("a", "<inertial><mass value='1'/></inertial>")), 3, "link 'a'", "<inertia> is missing",
     "<inertia ixx=")
case("no izz", robot(link("a", "<inertial><mass value='1'/><inertia ixx='1' iyy='1'/></inertial>")), 3, "link 'a', <inertia>",
     "'izz' is missing", "<inertia izz=")
case("two inertials", robot(link("a", INERTIAL + INERTIAL)), 3, "link 'a'", "2 <inertial> elements", "Keep one")
case("triangle inequality", inertial(izz="2.5"), 4, "link 'b', inertial", "2.5 > 1 + 1", "inertia='as_given'")
case("negative moment", inertial(ixx="-1"), 4, "link 'b', inertial", "-1 is negative", "about the centre of mass")
case("products too large", inertial(ixy="1.5"), 4, "link 'b', inertial", "-0.5 is negative", "Compute")
case("inertia without mass", inertial(mass="0"), 4, "link 'b', inertial", "without mass there is no rotational inertia", "Compute")
case("huge product", inertial(iyz="1e20"), 4, "link 'b', inertial", "is negative", "Compute")
case("absurd inertia", inertial(ixx="1e200"), 4, "link 'b'", "inertia of 1e+200 is beyond 1e+30", "SI units")
case("absurd mass", inertial(mass="1e40"), 4, "link 'b'", "mass of 1e+40 is beyond 1e+30", "SI units")
case("absurd place", two_links('<origin xyz="0 0 1e15"/><axis xyz="0 0 1"/>' + LIMIT), 5, "joint 'j'", "placement of 1e+15", "SI units")
case("absurd damping", two_links('<axis xyz="0 0 1"/>' + LIMIT + '<dynamics damping="1e300"/>'), 5, "joint 'j'",
     "damping of 1e+300", "SI units")
case("absurd mimic", two_links('<axis xyz="0 0 1"/>' + LIMIT + '<mimic joint="j" multiplier="1e300"/>'), 5, "joint 'j'",
     "mimic of 1e+300", "SI units")
case("massless leaf", robot(link("a"), link("b", ""), joint()), 5, "joint 'j'", "'b', which has no mass", "rotor_inertia")
case("massless branch", robot(link("a"), link("b", ""), link("c", ""), joint("j"), joint("k", parent="b", child="c")), None,
     "joint", "has no mass", "make the joint fixed")
case("point mass on the axis", inertial(ixx="0", iyy="0", izz="0"), 5, "joint 'j'", "without inertia of its own", "rotor_inertia")

# --- limits and dynamics
case("revolute without limit", two_links('<axis xyz="0 0 1"/>'), 5, "joint 'j'", "<limit> is missing", "continuous")
case("prismatic without limit", two_links('<axis xyz="0 0 1"/>', "prismatic"), 5, "joint 'j'", "<limit> is missing", "<limit lower=")
case("limit without effort", limit('lower="-1" upper="1" velocity="1"'), 6, "joint 'j', <limit>", "'effort' is missing", "effort=")
case("limit without velocity", limit('lower="-1" upper="1" effort="1"'), 6, "joint 'j', <limit>", "'velocity' is missing", "velocity=")
case("lower above upper", limit('lower="1" upper="-1" effort="1" velocity="1"'), 6, "joint 'j', <limit>",
     "lower 1 is above upper -1", "Swap")
case("only lower, above 0", limit('lower="1" effort="1" velocity="1"'), 6, "joint 'j', <limit>", "lower 1 is above upper 0", "Write upper")
case("negative effort", limit('lower="-1" upper="1" effort="-5" velocity="1"'), 6, "joint 'j', <limit>", "effort='-5' is below 0",
     "0 or more")
case("negative velocity", limit('lower="-1" upper="1" effort="5" velocity="-1"'), 6, "joint 'j', <limit>", "velocity='-1' is below 0",
     "0 or more")
case("infinite limit", limit('lower="-inf" upper="1" effort="5" velocity="1"'), 6, "joint 'j', <limit>", "not a finite number", "finite")
case("two limits", two_links('<axis xyz="0 0 1"/>' + LIMIT + LIMIT), 6, "joint 'j'", "2 <limit> elements", "Keep one")
case("negative damping", two_links('<axis xyz="0 0 1"/>' + LIMIT + '<dynamics damping="-0.1"/>'), 6, "joint 'j', <dynamics>",
     "damping='-0.1' is below 0", "0 or more")
case("negative friction", two_links('<axis xyz="0 0 1"/>' + LIMIT + '<dynamics friction="-2"/>'), 6, "joint 'j', <dynamics>",
     "friction='-2' is below 0", "0 or more")
case("NaN damping", two_links('<axis xyz="0 0 1"/>' + LIMIT + '<dynamics damping="nan"/>'), 6, "joint 'j', <dynamics>",
     "not a finite number", "finite")
case("negative rotor inertia", two_links('<axis xyz="0 0 1"/>' + LIMIT + '<drake:rotor_inertia value="-1"/>'), 6,
     "joint 'j', <drake:rotor_inertia>", "below 0", "0 or more")
case("zero gear ratio", two_links('<axis xyz="0 0 1"/>' + LIMIT + '<drake:gear_ratio value="0"/>'), 6,
     "joint 'j', <drake:gear_ratio>", "value is 0", "no gear")

# --- mimic
Z = '<axis xyz="0 0 1"/>' + LIMIT


def mimics(*leaders):
    """Joints j0, j1, ... each with a mimic of the named joint."""
    n = len(leaders)
    return robot(*(link(f"l{k}") for k in range(n + 1)), *(
        joint(f"j{k}", parent=f"l{k}", child=f"l{k + 1}", inside=Z + (f'<mimic joint="{leader}"/>' if leader else ""))
        for k, leader in enumerate(leaders)))


case("mimic of itself", mimics("j0"), None, "joint 'j0', mimic", "mimics itself", "follows another")
case("mimic of nobody", mimics(None, "jj0"), None, "joint 'j1', mimic", "'jj0', which does not exist; did you mean 'j0'?",
     "follows another")
case("mimic cycle of two", mimics("j1", "j0"), None, "joint 'j0', mimic", "in a circle: j0 -> j1 -> j0", "ordinary joint")
case("mimic cycle of three", mimics("j1", "j2", "j0"), None, "joint 'j0', mimic", "in a circle", "ordinary joint")
case("mimic chain into a cycle", mimics("j1", "j2", "j1"), None, "joint 'j1', mimic", "in a circle: j1 -> j2 -> j1", "ordinary joint")
case("mimic of a fixed joint", robot(link("a"), link("b"), link("c"), joint("f", "fixed", inside=""),
                                     joint("m", parent="b", child="c", inside=Z + '<mimic joint="f"/>')), None,
     "joint 'm', mimic", "'f', which is weld", "follows another")
case("mimic without joint", two_links(Z + "<mimic/>"), 6, "joint 'j'", "'joint' is missing in <mimic>", "<mimic joint=")
case("mimic with NaN", two_links(Z + '<mimic joint="j" multiplier="nan"/>'), 6, "joint 'j', <mimic>", "not a finite number", "finite")
case("two mimics", two_links(Z + '<mimic joint="x"/><mimic joint="y"/>'), 6, "joint 'j'", "2 <mimic> elements", "Keep one")

# --- shapes
case("visual without geometry", one_link("<collision/>"), 3, "link 'a'", "<geometry> is missing", "<geometry>")
case("empty geometry", one_link("<collision><geometry/></collision>"), 3, "link 'a', <geometry>", "holds nothing", "Shapes: <box>")
case("two shapes", one_link('<collision><geometry><sphere radius="1"/><sphere radius="2"/></geometry></collision>'), 3,
     "link 'a', <geometry>", "<sphere>, <sphere>, expected one", "Shapes")
case("unknown shape", one_link("<collision><geometry><torus/></geometry></collision>"), 3, "link 'a', <geometry>", "<torus>", "Shapes")
case("mesh without file", one_link("<collision><geometry><mesh/></geometry></collision>"), 3, "link 'a', <mesh>", "'filename' is missing",
     "<mesh filename=")
case("negative radius", one_link('<collision><geometry><sphere radius="-1"/></geometry></collision>'), 3, "link 'a', <sphere>", "below 0",
     "0 or more")


def test_at_least_100_distinct_cases():
    assert len({text for text, *_ in CASES.values()}) >= 100


@pytest.mark.parametrize("name", CASES)
def test_refused_with_place_element_reason_remedy(name, tmp_path):
    text, line, element, reason, remedy = CASES[name]
    path = tmp_path / "bad.urdf"
    path.write_bytes(text.encode("utf-8"))
    problems, _ = check(path)
    assert problems
    matching = [p for p in problems if reason in p.reason and element in p.element]
    assert matching, [str(p) for p in problems]
    first = matching[0]
    assert first.severity == "error"
    assert first.file == str(path)
    assert line is None or first.line == line
    if "bytes" not in first.reason:
        assert first.line >= 1
    assert remedy in first.remedy
    assert re.match(re.escape(str(path)) + r"(:\d+)?: ", str(first)) and str(first).rstrip().endswith((".", "?", ")"))


@pytest.mark.parametrize("name", ["zero axis", "mass 'nan'", "triangle inequality", "two root links", "doctype", "massless leaf"])
def test_parse_raises_the_same(name):
    """The exception's own fields are those of its first problem, also for URDF given as text."""
    from mbros.build.compile.tree import compile_robot

    text, line, element, reason, _ = CASES[name]
    with pytest.raises(UrdfError) as caught:
        compile_robot(urdf.parse(text))
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.file, error.line) == ("<text>", line)
    assert element in error.element and reason in error.reason and error.remedy
    assert f"<text>:{line}: " in str(error)


def test_all_problems_are_reported_in_file_order():
    text = robot(link("a"), link("a"), link("b", "<inertial><mass value='x'/><inertia ixx='y' iyy='1' izz='1'/></inertial>"),
                 joint("j", "revolut"), joint("k", inside='<axis xyz="0 0 0"/>'))
    problems, _ = check(text)
    assert [p.line for p in problems] == sorted(p.line for p in problems)
    assert len(problems) == 4
    with pytest.raises(UrdfError) as caught:
        urdf.parse(text)
    assert str(caught.value).startswith("4 problems\n") and all(str(p) in str(caught.value) for p in problems)


def test_a_mass_is_looked_at_beside_an_inertia_that_is_missing():
    problems, _ = check("<robot name='r'>\n<link name='a'><inertial><mass value='-1'/></inertial></link>\n</robot>")
    assert [p.element for p in problems] == ["link 'a'", "link 'a', <mass>"], problems


def test_very_many_problems_stay_readable():
    with pytest.raises(UrdfError) as caught:
        urdf.parse(robot(*("<link/>" for _ in range(5000))))
    assert len(caught.value.problems) == 1000
    assert len(str(caught.value)) < 10_000 and "and 980 more" in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings(tmp_path, encoding):
    path = tmp_path / "wide.urdf"
    path.write_bytes('<?xml version="1.0"?><robot name="r"><link name="a"/></robot>'.encode(encoding))
    (problem,), _ = check(path)
    assert ("UTF-16" in problem.reason or "NUL" in problem.reason) and problem.remedy and problem.line == 1


@pytest.mark.parametrize("declared", ["utf-7", "utf-16", "cp1252", "koi8-r", "x" * 300])
def test_declared_encodings(tmp_path, declared):
    path = tmp_path / "odd.urdf"
    path.write_bytes(f'<?xml version="1.0" encoding="{declared}"?>\n<robot name="r"><link name="a"/></robot>'.encode())
    (problem,), _ = check(path)
    assert "encoding" in problem.reason and problem.line == 1 and problem.remedy


def test_invalid_utf8(tmp_path):
    path = tmp_path / "bytes.urdf"
    path.write_bytes(b'<robot name="r">\n<link name="\xff\xfe\xfa"/></robot>')
    (problem,), _ = check(path)
    assert problem.line == 2 and "not well-formed" in problem.reason and "UTF-8" in problem.remedy


def test_places_that_are_not_files(tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe.urdf")
    (tmp_path / "empty.urdf").write_text(" \n")
    for name, reason in (("missing.urdf", "cannot be read: no such file"), (".", "folder"), ("pipe.urdf", "not a regular file"),
                         ("empty.urdf", "it is empty")):
        (problem,), _ = check(tmp_path / name)
        assert reason in problem.reason and problem.remedy and problem.file == str(tmp_path / name)
    with open(tmp_path / "huge.urdf", "wb") as file:
        file.truncate(33 * 2**20)
    (problem,), _ = check(tmp_path / "huge.urdf")
    assert "32 MiB" in problem.reason


def test_300_000_unknown_attributes_do_not_hang():
    links = "".join(f'<link name="{i}" ' + " ".join(f'a{k}="1"' for k in range(200 * i, 200 * i + 200)) + "/>" for i in range(1500))
    joints = "".join(f'<joint name="{i}" type="fixed"><parent link="0"/><child link="{i}"/></joint>' for i in range(1, 1500))
    problems, notes = check(f'<robot name="r">{links}{joints}</robot>')
    assert not problems and 1 < len(notes) <= 301
    assert "there are more findings of other kinds (299700 times" in str(notes[-1])


def test_random_damage_raises_nothing_else():
    """Bytes of a good robot changed, cut or doubled at random: accepted or refused, never another exception."""
    import random

    from mbros.build.robots import path

    good = path("scara").read_text()
    rng = random.Random(4)
    refused = 0
    for _ in range(400):
        text = good
        for _ in range(rng.randint(1, 4)):
            k, n = rng.randrange(len(text)), rng.randint(1, 30)
            text = rng.choice([text[:k] + text[k + n:], text[:k] + rng.choice("<>\"'=/ 0-e.&\u0661") + text[k + 1:],
                               text[:k] + text[k:k + n] * 2 + text[k + n:], text[:k]]) or "<"
        problems, notes = check("<" + text.lstrip("<"))
        assert all(isinstance(p, Problem) for p in [*problems, *notes])
        refused += bool(problems)
    assert 200 < refused < 400
