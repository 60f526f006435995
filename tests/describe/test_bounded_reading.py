"""Reading a robot takes a bounded time and memory whatever it is given: files that never end, endless tags, names, counts."""
import os
import resource
import subprocess
import sys

import pytest

import mbros
from mbros.build.load import check
from mbros.describe import urdf
from mbros.describe.urdf import xml

ROBOT = '<robot name="{name}"><link name="{link}"{more}/></robot>'


def robot(name="r", link="a", more=""):
    return ROBOT.format(name=name, link=link, more=more)


@pytest.mark.parametrize("path", ["/proc/kmsg", "/proc/self/status", "/dev/zero", "/dev/tty", "/proc/self/pagemap"])
def test_trial_A13_what_is_no_file_on_a_disk_is_refused_at_once(path):
    # another process, as a call that blocks could not be ended here
    code = f"import mbros\ntry: mbros.load({path!r})\nexcept mbros.UrdfError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
    assert done.stdout.startswith(f"{path}: file: it"), done.stderr
    assert "Give the path of a URDF file" in done.stdout or "cannot be read" in done.stdout


def test_trial_A13_a_pipe_without_a_writer_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe.urdf")
    with pytest.raises(mbros.UrdfError, match="not a regular file"):
        mbros.load(tmp_path / "pipe.urdf")


def test_trial_A13_a_file_that_grows_is_read_with_a_bound(tmp_path, monkeypatch):
    """It has been opened and measured, and is written to while it is read: what counts is what is read."""
    path, measure = tmp_path / "grows.urdf", os.fstat

    def grows(file):
        status = measure(file)
        with open(path, "ab") as writer:
            writer.write(b" " * 100)
        return status

    path.write_bytes(b"<robot/>")
    monkeypatch.setattr(xml.os, "fstat", grows)
    monkeypatch.setattr(xml, "MAX_BYTES", 10**9)
    assert xml.read_file(path).startswith(b"<robot/>" + b" " * 100)
    path.write_bytes(b"<robot/>")
    monkeypatch.setattr(xml, "MAX_BYTES", 150)
    with pytest.raises(mbros.UrdfError, match="it has 151 bytes, more than the 150"):
        xml.read_file(path)


def test_trial_A13_a_million_attributes_are_refused_before_they_are_kept():
    text = robot(more="".join(f' a{i}="1"' for i in range(10**6)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(mbros.UrdfError, match=r"bytes without a new element, more than the 1048576 \(1 MiB\)") as caught:
        urdf.parse(text)
    assert caught.value.line == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024         # KiB; the text itself twice


def test_trial_A13_bounds_on_attributes_of_one_element_and_of_all():
    over = robot(more="".join(f' a{i}=""' for i in range(xml.MAX_OF_ONE)))
    with pytest.raises(mbros.UrdfError, match="<link>: it has 257 attributes, more than the 256 allowed"):
        urdf.parse(over)
    assert check(robot(more="".join(f' a{i}=""' for i in range(xml.MAX_OF_ONE - 1))))[0] == []
    element = "<x " + " ".join(f'a{i}=""' for i in range(250)) + "/>"
    with pytest.raises(mbros.UrdfError, match="1000000 attributes"):
        urdf.parse('<robot name="r"><link name="a"/>' + element * (xml.MAX_ATTRIBUTES // 250 + 1) + "</robot>")


@pytest.mark.parametrize("filler, bytes_of_it", [("<!--{}-->", xml.MAX_TAG - 10), ("{}", xml.MAX_TAG - 20)])
def test_long_comments_and_texts_pass_up_to_the_bound(filler, bytes_of_it):
    text = '<robot name="r"><link name="a"/>' + filler.format("x" * bytes_of_it) + "</robot>"
    assert check(text)[0] == []
    over = '<robot name="r"><link name="a"/>\n' + filler.format("x" * (xml.MAX_TAG + 1)) + "</robot>"
    problems, _ = check(over)
    assert "without a new element" in problems[0].reason
    assert problems[0].line == (2 if filler.startswith("<") else 1)


def test_a_comment_of_many_elements_may_be_longer():
    text = '<robot name="r"><link name="a"/><!-- ' + "<joint> </joint>\n" * 100_000 + " --></robot>"
    assert len(text) > xml.MAX_TAG and check(text)[0] == []


@pytest.mark.parametrize("name", ["x" * 31_000_000, "x" * 1001], ids=["31 MB", "1001"])
def test_trial_A13_a_robots_name_has_a_bound(name):
    with pytest.raises(mbros.UrdfError) as caught:
        mbros.load(robot(name=name))
    assert len(str(caught.value)) < 300
    if len(name) < 10_000:
        assert "its name 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'... has 1001 characters" in str(caught.value)
    assert mbros.load(robot(name="x" * 1000)).name == "x" * 1000


def test_the_same_note_is_made_once_and_counted():
    _, notes = check('<robot name="r"><link name="a"/>' + "<x/>" * 50_000 + "</robot>")
    assert [str(note) for note in notes] == ["<text>:1: <x> in <robot>: not used: unknown element (50000 times, this is the first)."]


NAMES = {"a newline": "a&#10;b", "a tab": "a&#9;b", "a C1 control": "a&#155;31m", "a line separator": "a&#8232;b",
         "a turn of the direction": "a&#8238;b"}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_trial_A15_names_of_a_file_that_could_act_are_refused(name):
    """Of the robot, a link, a joint, a frame and a force element, each with its line; and no message prints them."""
    text = f'''<robot name="{name}">
<link name="a"/><link name="{name}"/><link name="b"/>
<joint name="{name}" type="fixed"><parent link="a"/><child link="b"/></joint>
<mbros:frame name="{name}" link="a"/>
<mbros:body_wrench name="{name}" frame="a" force="0 0 0"/>
</robot>'''
    problems, notes = check(text)
    found = [p.line for p in problems if "cannot be printed" in p.reason]
    assert found == [1, 2, 3, 4, 5], [str(p) for p in problems]
    for told in (*problems, *notes, urdf_error(text)):
        assert all(line.isprintable() for line in str(told).split("\n"))


def urdf_error(text):
    with pytest.raises(mbros.UrdfError) as caught:
        mbros.load(text)
    return caught.value


@pytest.mark.parametrize("make", [
    lambda name: mbros.ModelBuilder(name),
    lambda name: mbros.ModelBuilder("r").add_body(name),
    lambda name: (b := mbros.ModelBuilder("r")).add_frame(name, b.world),
    lambda name: (b := mbros.ModelBuilder("r")).add_joint(mbros.FloatingJoint(name, b.world, b.add_body("a", mass=1))),
    lambda name: (b := mbros.ModelBuilder("r")).add_robot(b, name),
    lambda name: (b := mbros.ModelBuilder("r")).add_force_element(mbros.BodyWrench(b.world, name=name)),
], ids=["model", "body", "frame", "joint", "robot", "force element"])
@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2J", "x" * 1001, "", 3])
def test_trial_A15_names_in_python_follow_the_same_rule(make, name):
    with pytest.raises(mbros.ModelError, match="its name") as caught:
        make(name)
    assert str(caught.value).isprintable()


def test_trial_A15_a_name_set_later_is_refused_when_it_is_built():
    b = mbros.ModelBuilder("r")
    body = b.add_body("a", mass=1.0, inertia=(1, 1, 1))
    body.name = "a\nb"
    with pytest.raises(mbros.ModelError, match="cannot be printed"):
        b.build()
    body.name, b.description.name = "a", "r\x1b[2J"
    with pytest.raises(mbros.ModelError, match="model: its name"):
        b.build()


@pytest.mark.parametrize("wrong", [
    "<drake:linear_bushing_rpy/>", '<mbros:bushing frame_A="a"/>', '<mbros:joint_spring joint="none" stiffness="1"/>',
    '<mbros:constraint name="c" type="ball"/>', '<constraint name="c" type="distance"/>', "<drake:ball_constraint/>"])
def test_what_is_wrong_beyond_the_thousandth_problem_is_not_made(wrong):
    """Found by fuzzing: more than a thousand problems are not kept, but problems all the same."""
    with pytest.raises(mbros.UrdfError) as caught:
        urdf.parse('<robot name="r"><link name="a"/>' + "<joint/>" * 1000 + wrong + "</robot>")
    assert len(caught.value.problems) == 1000
