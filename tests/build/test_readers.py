"""The root element says which reader a file is for, whatever the file is called."""
import pytest
from sdf_texts import link, model, sdf

import mbros
from mbros.build.readers import kind_of

URDF = "<robot name='r'><link name='a'/></robot>"
SDF = sdf(model(link("a")))


@pytest.mark.parametrize("text, kind", [
    (SDF, "sdf"), (URDF, "urdf"), ("\ufeff \n<?xml version='1.0'?>\n<!-- <robot> -- -->\n" + SDF, "sdf"),
    ("<!--" + "x" * 70000 + "-->" + SDF, "urdf"),
    ("<sdfx/>", "urdf"), ("<!DOCTYPE sdf>" + SDF, "sdf"), ("<mujoco/>", "mjcf"), ("", "urdf"), ("<", "urdf")])
def test_the_root_element_decides(text, kind, tmp_path):
    for ending in ("xml", "sdf", "world", "robot"):
        path = tmp_path / f"file.{ending}"
        path.write_text(text)
        assert kind_of(path) == kind
    if text:
        assert kind_of(text) == kind


def test_what_is_not_there_is_known_by_its_ending(tmp_path):
    assert [kind_of(tmp_path / f"none.{ending}") for ending in ("urdf", "urdf.xacro", "sdf", "world", "xml")] == [
        "urdf", "urdf", "sdf", "sdf", "urdf"]
    with pytest.raises(mbros.MbrosError, match="cannot be read: no such file"):
        mbros.load(tmp_path / "none.sdf")
    with pytest.raises(mbros.MbrosError, match="it is a folder"):
        mbros.load(f"{tmp_path}/")


def test_arguments_that_are_of_urdf_alone_are_refused(tmp_path):
    with pytest.raises(mbros.MbrosError, match="xacro_args: .* this is SDF"):
        mbros.load(SDF, xacro_args={"a": 1})
    path = tmp_path / "w.sdf"
    path.write_text(sdf(f"<world name='w'>{model(link('a'))}</world>"))
    with pytest.raises(mbros.MbrosError, match="srdf is given with the world"):
        mbros.load(path, srdf="a.srdf")


def test_sdf_that_comes_over_the_network_is_refused():
    from mbros.build.one_robot import describe_data

    with pytest.raises(mbros.UrdfError, match="the root element is not <robot>"):
        describe_data(SDF)
