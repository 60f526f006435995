"""Where problems are, in xacro files too; and what may stand before <?xml, and in names. trial-2, M3 and M4."""
import pytest

import mbros
from mbros.build.load import check
from mbros.describe.urdf.packages import resolve

MACROS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="part" params="name m">
  <link name="${name}">
    <inertial>
      <mass value="${m}"/><inertia ixx="1" iyy="1"
        izz="1"/>
    </inertial>
  </link>
</xacro:macro>
</robot>"""
ROBOT = """<?xml version="1.0"?>
<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:include filename="macros.xacro"/>
<link name="base"/>
<xacro:part name="one" m="1"/>
<xacro:part name="two" m="%s"/>
<xacro:if value="true">
  <joint name="j" type="continuous"><parent link="base"/><child link="one"/>
    <axis xyz="%s"/></joint></xacro:if>
<joint name="k" type="continuous"><parent link="base"/><child link="%s"/></joint>
</robot>"""


def places(tmp_path, text, macros=MACROS):
    pytest.importorskip("xacro")
    (tmp_path / "macros.xacro").write_text(macros)
    (tmp_path / "r.urdf.xacro").write_text(text)
    problems, _ = check(tmp_path / "r.urdf.xacro")
    return [(problem.place.replace(str(tmp_path) + "/", ""), problem.element) for problem in problems]


def test_trial_M3_problems_of_xacro_files_have_the_file_and_line_of_the_source(tmp_path):
    assert places(tmp_path, ROBOT % ("heavy", "0 0 0", "tow")) == [
        ("macros.xacro:5", "link 'two', <mass>"), ("r.urdf.xacro:9", "joint 'j', <axis>"), ("r.urdf.xacro:10", "joint 'k', <child>")]
    assert places(tmp_path, ROBOT % ("1", "0 0 1", "one")) == [("r.urdf.xacro:10", "joint 'k'")]       # of the tree, not of an element


@pytest.mark.parametrize(("text", "place", "words"), [
    (ROBOT % ("${nobody}", "1 0 0", "two"), "r.urdf.xacro:6", "nobody"),
    ((ROBOT % ("1", "1 0 0", "two")).replace("xacro:part name=\"two\"", "xacro:prat name=\"two\""), "r.urdf.xacro:6", "xacro:prat"),
    ((ROBOT % ("1", "1 0 0", "two")).replace("macros.xacro", "macro.xacro"), "r.urdf.xacro:3", "macro.xacro"),
    ((ROBOT % ("1", "${1/0} 0 0", "two")), "r.urdf.xacro:9", "division by zero"),
    ((ROBOT % ("1", "1 0 0", "two")).replace("</joint></xacro:if>", "</xacro:if>"), "r.urdf.xacro:9", "mismatched tag"),
    ((ROBOT % ("1", "1 0 0", "two")).replace('m="1"', ""), "r.urdf.xacro:5", "[m]")])
def test_trial_M3_what_xacro_itself_refuses_has_a_place(tmp_path, text, place, words):
    (found, _), = places(tmp_path, text)
    assert found == place
    said = str(check(tmp_path / "r.urdf.xacro")[0][0])
    assert words in said and "Errno" not in said and "<class" not in said, said


def test_trial_M3_what_xacro_goes_on_after_is_no_place(tmp_path):
    text = (ROBOT % ("${nobody}", "1 0 0", "two")).replace("<link", '<xacro:include filename="none.xacro" optional="true"/><link', 1)
    assert places(tmp_path, text)[0][0] == "r.urdf.xacro:6"


def test_trial_M3_sources_of_a_model_are_those_of_the_xacro(tmp_path):
    places(tmp_path, ROBOT % ("1", "0 0 1", "two"))
    model = mbros.load(tmp_path / "r.urdf.xacro")
    assert [repr(body.source).rpartition("/")[2] for body in model.description.bodies] == ["r.urdf.xacro:4", *["macros.xacro:3"] * 2]
    assert "mbros" not in model.description.text and model.description.file == str(tmp_path / "r.urdf.xacro")


DECLARED = '<?xml version="1.0" encoding="{}"?>\n<robot name="r"><link name="a"/>\n<joint/></robot>'


@pytest.mark.parametrize("before", ["", "\n", " \n\t\n", "<!-- a -->\n", "\n<!-- a\n --> <!-- <?xml b --> \n", "\ufeff",
                                    "\ufeff\n<!-- a -->"])
@pytest.mark.parametrize("kind", ["text", "r.urdf", "r.urdf.xacro"])
def test_trial_M4_what_may_stand_before_the_declaration(tmp_path, before, kind):
    text = before + DECLARED.format("utf-8")
    source = text
    if kind != "text":
        pytest.importorskip("xacro")
        source = tmp_path / kind
        source.write_text(text, encoding="utf-8")
    problems, _ = check(source)
    assert problems and {problem.line for problem in problems} == {before.count("\n") + 3}, [str(problem) for problem in problems]
    good = text.replace("<joint/>", "")
    model = mbros.load(good if kind == "text" else (source.write_text(good, encoding="utf-8"), source)[1])
    assert model.description.text.lstrip().startswith("<") and "<?xml" in model.description.text


def test_trial_M4_a_latin_1_file_keeps_its_encoding(tmp_path):
    text = DECLARED.format("latin-1").replace("<joint/>", "").replace('"a"', '"b\u00f6"')
    (tmp_path / "r.urdf").write_bytes(("\n" + text).encode("latin-1"))
    assert mbros.load(tmp_path / "r.urdf").bodies[-1].name == "b\u00f6"


def test_trial_M4_a_declaration_is_found_in_time_that_grows_with_the_text():
    from mbros.describe.urdf.xml import declaration_first

    for text in (b"<!--" * 500_000, b" " * 5_000_000, b"<!-- -->" * 500_000 + b"<?xml ?>"):
        declaration_first(text)


@pytest.mark.parametrize("folder", ["my robot", "b\u00f6t", "100%", "a%20b"])
@pytest.mark.parametrize("file", ["part one.stl", "\u00e4rm.stl", "50%.stl", "a%20b.stl", "a.stl"])
def test_trial_M4_blanks_letters_and_percent_signs_in_names(tmp_path, folder, file):
    from urllib.parse import quote

    path = tmp_path / folder / "meshes" / file
    path.parent.mkdir(parents=True)
    path.write_text("x")
    model = tmp_path / folder / "urdf" / "r.urdf"
    for name in (f"package://{folder}/meshes/{file}", f"package://{quote(folder)}/meshes/{quote(file)}"):
        assert resolve(name, model) == path
    (tmp_path / folder / "package.xml").write_text("<package><name>named_otherwise</name></package>")
    for name in (f"../meshes/{file}", f"../meshes/{quote(file)}", f"file://{quote(str(path))}", f"package://named_otherwise/meshes/{file}"):
        assert resolve(name, model) == path
