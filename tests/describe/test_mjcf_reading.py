"""What an MJCF file may not hold, and what is said of what is not used: sentences with element, file and line; nothing outside its
folder."""
import time
import warnings

import pytest

import mbros
from mbros.build.readers import kind_of

BODY = "<body name='b'><joint name='j'/><geom name='g' size='.1'/></body>"


def text(inside=BODY, before="", after=""):
    return f"<mujoco>\n{before}\n<worldbody>\n{inside}\n</worldbody>\n{after}\n</mujoco>"


REFUSED = {
    "global coordinates": (text(before="<compiler coordinate='global'/>"), "coordinate is 'global'"),
    "an angle": (text(before="<compiler angle='degrees'/>"), "angle='degrees' is unknown; did you mean 'degree'"),
    "euler axes": (text(before="<compiler eulerseq='xyw'/>"), "eulerseq is 'xyw'"),
    "a number": (text("<body><geom size='a'/></body>"), "size='a' is not a number"),
    "too many numbers": (text("<body pos='1 2 3 4'><geom size='1'/></body>"), "has 4 numbers, expected 3"),
    "a number that is none": (text("<body pos='nan 0 0'><geom size='1'/></body>"), "nan"),
    "no size": (text("<body><geom type='box' size='1'/></body>"), "A box needs 3 positive numbers"),
    "two orientations": (text("<body quat='1 0 0 0' euler='0 0 0'><geom size='1'/></body>"), "it has quat and euler"),
    "a zero axis": (text("<body><joint axis='0 0 0'/><geom size='1'/></body>"), "its axis is zero"),
    "no direction": (text("<body xyaxes='1 0 0 2 0 0'><geom size='1'/></body>"), "has no direction"),
    "a range": (text("<body><joint range='2 1'/><geom size='1'/></body>"), "range is 2 to 1"),
    "a range without a word": (text("<body><joint range='1 2'/><geom size='1'/></body>", "<compiler autolimits='false'/>"),
                               "autolimits is false"),
    "a class": (text("<body><joint class='leg'/><geom size='1'/></body>"), "there is no default class 'leg'"),
    "the same class": (text(before="<default><default class='a'/><default class='a'/></default>"), "there is a class 'a' above"),
    "a mesh": (text("<body><geom type='mesh' mesh='m'/></body>"), "there is no mesh 'm'"),
    "two names": (text(BODY + BODY), "already taken by another body"),
    "joints that turn after a ball": (text("<body><joint type='ball'/><joint/><geom size='1'/></body>"), "a ball joint is followed by one "
                                                                                                         "that turns"),
    "a free joint inside": (text("<body><geom size='1'/><body><freejoint/><geom size='1'/></body></body>"), "A free joint stands alone"),
    "a joint of the world": (text("<joint/>"), "the world does not move"),
    "composites": (text("<composite type='cable'/>"), "composites are not read"),
    "models in models": (text("<attach model='m' prefix='p'/>"), "models inside"),
    "deformables": (text("<flexcomp name='f'/>"), "deformable bodies are not read"),
    "a massless body": (text("<body name='b'><joint name='j'/></body>"), "it moves body 'b', which has no mass"),
    "no worldbody": ("<mujoco/>", "it has no <worldbody>"), "damping": (text("<body><joint damping='-1'/><geom size='1'/></body>"),
                                                                        "damping is -1"),
    "an inertia": (text("<body><joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 9'/></body>"), "triangle inequality"),
    "condim": (text("<body><geom size='1' condim='2'/></body>"), "condim is 2"),
    "a joint of an actuator": (text(after="<actuator><motor joint='k'/></actuator>"), "there is no joint 'k'"),
    "kv and dampratio": (text(after="<actuator><position joint='j' kv='1' dampratio='1'/></actuator>"), "it has kv and dampratio"),
    "a body of an exclusion": (text(after="<contact><exclude body1='b' body2='c'/></contact>"), "there is no body 'c'"),
    "a tendon without joints": (text(after="<tendon><fixed name='t'/></tendon>"), "it has no <joint>"),
    "an include of a text": (text("<include file='x.xml'/>"), "given as text, which has no folder"),
    "a document type": ("<!DOCTYPE m [<!ENTITY a 'b'>]><mujoco>&a;</mujoco>", "entities can hide other files"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_wrong_is_said_with_its_line(what):
    given, expected = REFUSED[what]
    with pytest.raises(mbros.ModelError) as caught:
        mbros.load(given)
    assert expected in str(caught.value)
    assert all(problem.line for problem in caught.value.problems) and not isinstance(caught.value, mbros.UrdfError)
    problems, _ = mbros.build.load.check(given)
    assert expected in "".join(map(str, problems))


def test_all_problems_at_once():
    with pytest.raises(mbros.ModelError) as caught:
        mbros.load(text("<body><joint axis='0 0 0'/><geom size='-1'/></body><body pos='x'><geom type='bix' size='1'/></body>"))
    assert len(caught.value.problems) == 4, [str(p) for p in caught.value.problems]


NOTED = {
    "<visual><global fovy='3'/></visual>": "<visual> in <mujoco>: not used: for viewers", "<size njmax='9'/>": "<size> in <mujoco>",
    "<option timestep='.1' solver='PGS' wind='1 0 0'/>": "wind is not used", "<compiler fusestatic='true'/>": "fusestatic is not used",
    "<compiler anglee='degree'/>": "attribute 'anglee' is unknown, and not used; did you mean 'angle'",
    "<bodies/>": "<bodies> in <mujoco>: not used: unknown element",
    "<default><geom margin='1' solmix='2' user='3'/></default>": "margin is not used",
    "<extension><plugin plugin='a'/></extension>": "plugins of MuJoCo are not read", "<statistic/><custom/>": "<custom>",
}


@pytest.mark.parametrize("before", NOTED)
def test_what_is_not_used_is_said(before):
    notes = mbros.load(text(before=before)).description.notes
    found = [note for note in notes if NOTED[before] in f"{note.element}: {note.reason}"]
    assert found and found[0].line == 2, [str(note) for note in notes]


def test_every_attribute_is_read_or_said():
    """Of each element that is read, an attribute that nobody knows."""
    whole = text("<camera x='1'/><light x='1'/><body name='a' x='1'><joint x='1'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1' "
                 "x='1'/><geom size='1' x='1'/>"
                 "<site name='s' x='1'/></body>" + BODY, "<compiler x='1'/><option x='1'/><asset><material name='m' x='1'/></asset>",
                 "<contact><exclude body1='b' body2='a' x='1'/></contact><actuator><motor joint='j' x='1'/></actuator><sensor><gyro "
                 "site='s' x='1'/></sensor>"
                 "<equality><connect body1='b' anchor='0 0 0' x='1'/></equality><keyframe><key x='1'/></keyframe>")
    elements = {note.element for note in mbros.load(whole).description.notes if "'x' is unknown" in note.reason}
    tags = "body joint inertial geom site compiler option material exclude motor gyro connect key"
    assert elements == {f"<{tag}>" for tag in tags.split()}


def write(folder, **files):
    for name, content in files.items():
        (folder / f"{name}.xml").write_text(content)
    return folder / "m.xml"


def test_includes_stay_in_the_folder(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret.xml").write_text(f"<mujoco>{BODY}</mujoco>")
    (home / "link.xml").symlink_to(tmp_path / "secret.xml")
    for name in ("../secret.xml", str(tmp_path / "secret.xml"), "link.xml", "file:///etc/passwd", "missing.xml"):
        with pytest.raises(mbros.ModelError, match="<include>"):
            mbros.load(write(home, m=text(f"<include file='{name}'/>")))
    with pytest.raises(mbros.MbrosError, match="leads outside"):
        mbros.load(write(home, m=text("<body><geom type='mesh' mesh='a'/></body>", "<asset><mesh name='a' file='../a.stl'/></asset>")))


def test_includes_have_an_end(tmp_path):
    for files in ({"m": text("<include file='m.xml'/>")}, {"m": text("<include file='a.xml'/>"), "a": "<mujoco><include "
                                                                                                      "file='m.xml'/></mujoco>"},
                  {"m": text("<include file='a.xml'/><include file='a.xml'/>"), "a": "<mujoco/>"}):
        with pytest.raises(mbros.ModelError, match="is included already"):
            mbros.load(write(tmp_path, **files))
    names = [f"f{k}" for k in range(300)]
    many = write(tmp_path, m=text("".join(f"<include file='{name}.xml'/>" for name in names)), **{name: "<mujoco/>" for name in names})
    with pytest.raises(mbros.ModelError, match="more than 200 files"):
        mbros.load(many)
    with pytest.raises(mbros.ModelError, match="the root element is not <mujoco>"):
        mbros.load(write(tmp_path, m=text("<include file='a.xml'/>"), a="<robot/>"))


def test_a_problem_in_an_included_file_names_it(tmp_path):
    path = write(tmp_path, m=text("<include file='a.xml'/>"), a="<mujoco>\n<body>\n<geom size='x'/></body></mujoco>")
    with pytest.raises(mbros.ModelError) as caught:
        mbros.load(path)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == (str(tmp_path / "a.xml"), 3)


BOMBS = {
    "replicate": "<replicate count='999'><replicate count='999'><replicate count='999'>" + BODY + "</replicate></replicate></replicate>",
    "bodies": "<replicate count='1001'><body><freejoint/><geom size='1'/></body></replicate>",
    "nested": "<body>" * 190 + "<geom size='1'/>" + "</body>" * 190,
    "geoms": "<body>" + "<geom size='1' contype='1' conaffinity='2'/>" * 4001 + "</body>",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bounds(bomb):
    begun = time.process_time()
    try:
        mbros.load(text(BOMBS[bomb]))
    except mbros.ModelError as error:
        assert "more than" in str(error)
    assert time.process_time() - begun < 10.0


def test_what_says_which_reader():
    assert [kind_of(data) for data in ("<mujoco/>", "\ufeff <?xml version='1.0'?><!-- <robot> --><mujoco a='1'>",
                                       "<!DOCTYPE mujoco><mujoco/>", "<!-- <mujoco>", "<x")] == ["mjcf", "mjcf", "mjcf", "urdf", "urdf"]


@pytest.mark.parametrize("ending", ["xml", "mjcf", "urdf"])
def test_files_of_any_ending(tmp_path, ending):
    path = tmp_path / f"robot.{ending}"
    path.write_text(text())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = mbros.load(str(path))
    assert model.nv == 1 and model.name == "robot"
    with pytest.raises(mbros.MbrosError, match="no .xacro file"):
        mbros.load(path, xacro_args={"a": 1})
