"""MJCF against MuJoCo itself: what a body weighs, where it is and how it moves, for every way to write it. tests/mjcf_peer.py compares."""
import struct

import numpy as np
import pytest

import mbros
from tests.mjcf_peer import both, differences, mujoco

EXACT = 1e-9
PRINCIPAL = 1e-8            # where MuJoCo turns an inertia to its principal axes, which it does to some 1e-9


def model(inside, before="", after="", name="m"):
    return f'<mujoco model="{name}">{before}<worldbody>{inside}</worldbody>{after}</mujoco>'


def arm(first, second='<joint axis="0 1 0"/>', geom='<geom type="box" size=".1 .2 .3"/>'):
    """Two bodies, each with what is given."""
    inner = f'<body name="b" pos=".4 0 .1" euler="10 20 30">{second}<geom size=".1"/></body>'
    return f'<body name="a" pos=".1 .2 .3">{first}{geom}{inner}</body>'


JOINTS = {
    "hinge": '<joint name="j" axis="1 2 3" pos=".1 0 .2" damping=".3" armature=".2"/>',
    "slide": '<joint type="slide" axis="1 1 0" ref=".1" stiffness="30" springref=".05"/>',
    "ball": '<joint type="ball" damping=".3" armature=".02" pos="0 .1 0"/>',
    "free": "<freejoint/>", "free with damping": '<joint type="free" damping=".4"/>',
    "ref": '<joint axis="0 0 1" ref="30" springref="10" stiffness="4" range="-90 90"/>',
    "springdamper": '<joint axis="0 1 0" springdamper=".2 .7" springref="20"/>',
    "three": '<joint type="slide" axis="1 0 0"/><joint axis="0 1 0" pos=".1 .2 0" ref="20"/><joint axis="1 0 0" pos="0 0 .1"/>',
    "slides and ball": '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="ball" pos=".1 0 0"/>',
    "none": "",
}


@pytest.mark.parametrize("kind", JOINTS)
def test_joints(kind):
    ours, theirs = both(model(arm(JOINTS[kind])))
    found = differences(ours, theirs)
    assert max(found.values()) < EXACT, found
    assert ours.nq == theirs.nq and np.allclose(ours.default_state().q, theirs.qpos0, atol=1e-15)


ORIENTATIONS = ['quat="1 2 3 4"', 'euler="10 20 30"', 'axisangle="1 2 3 40"', 'xyaxes="1 .2 0 0 1 .3"', 'zaxis="1 2 3"', 'zaxis="0 0 -1"']


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("compiler", ["", '<compiler angle="radian" eulerseq="zyx"/>', '<compiler eulerseq="XYZ"/>',
                                      '<compiler eulerseq="xYz"/>'])
def test_orientations(orientation, compiler):
    inside = (f'<body name="a" pos="1 2 3" {orientation}><joint axis="0 1 0"/><geom type="box" size=".1 .2 .3" pos=".1 0 0" {orientation}/>'
              f'<site name="s" pos=".1 .2 .3" {orientation}/></body>')
    found = differences(*both(model(inside, compiler)), states=4)
    assert max(found.values()) < EXACT, found


GEOMS = ['size=".1"', 'type="capsule" size=".1 .2"', 'type="cylinder" size=".1 .2"', 'type="box" size=".1 .2 .3"',
         'type="ellipsoid" size=".1 .2 .3"',
         'type="capsule" size=".1" fromto="0 0 0 .3 .2 .1"', 'type="box" size=".1" fromto=".1 0 0 .3 .2 .4"', 'type="ellipsoid" size=".1" '
                                                                                                              'fromto="0 0 1 0 0 0"',
         'type="cylinder" size=".1" fromto="0 0 0 0 0 1"']


@pytest.mark.parametrize("geom", GEOMS)
@pytest.mark.parametrize("more", ["", 'density="200"', 'mass="3"', 'shellinertia="true" density="5"'])
def test_geoms_weigh_what_they_do_in_mujoco(geom, more):
    inside = f'<body name="a"><freejoint/><geom {geom} {more}/><geom size=".05" pos=".4 .1 .2" mass=".3"/></body>'
    found = differences(*both(model(inside)), states=4)
    assert max(found.values()) < (1e-6 if "ellipsoid" in geom and "shell" in more else EXACT), found


INERTIALS = {
    "diagonal": ('<inertial pos=".1 .2 .3" mass="2" diaginertia=".2 .3 .4" euler="10 20 30"/>', ""),
    "full": ('<inertial pos=".1 .2 .3" mass="2" fullinertia=".2 .3 .4 .01 .02 .03"/>', ""),
    "from geoms anyway": ('<inertial pos=".1 .2 .3" mass="2" diaginertia=".2 .3 .4"/>', '<compiler inertiafromgeom="true"/>'),
    "some groups": ("", '<compiler inertiagrouprange="1 2"/>'),
    "balanced": ('<inertial pos=".1 .2 .3" mass="2" diaginertia=".1 .2 .4"/>', '<compiler balanceinertia="true"/>'),
    "bounded": ('<inertial pos=".1 .2 .3" mass="2" diaginertia=".2 .3 .4"/>', '<compiler boundmass="2.5" boundinertia=".25"/>'),
    "a total": ("", '<compiler settotalmass="7"/>'), "fused": ("", '<compiler fusestatic="true"/>'),
    "without what is seen": ("", '<compiler discardvisual="true"/>'),
}


@pytest.mark.parametrize("kind", INERTIALS)
def test_masses(kind):
    inertial, compiler = INERTIALS[kind]
    inside = (f'<body name="a"><joint axis="1 1 0"/>{inertial}<geom type="box" size=".1 .2 .3" group="1"/><geom size=".1" pos=".3 0 0" '
              'group="3"/>'
              '<geom size=".2" pos="0 .3 0" group="2" contype="0" conaffinity="0"/>'
              '<body name="b" pos=".2 0 0"><geom size=".1" group="1"/><body name="c" pos="0 .2 0"><joint/><geom size=".15" '
              'group="2"/></body></body></body>')
    ours, theirs = both(model(inside, compiler))
    M = np.zeros((theirs.nv, theirs.nv))
    data = mujoco.MjData(theirs)
    for qpos in np.random.default_rng(1).uniform(-1.0, 1.0, (10, theirs.nq)):
        data.qpos[:] = qpos
        mujoco.mj_forward(theirs, data)
        mujoco.mj_fullM(theirs, data, M)
        assert np.allclose(ours.mass_matrix(ours.default_state().set_q(qpos)), M, rtol=PRINCIPAL, atol=1e-12)
    if kind != "fused":
        assert sum(body.mass for body in ours.description.bodies) == pytest.approx(theirs.body_mass.sum(), rel=1e-12)


def tetrahedra():
    """Vertices and triangles of two tetrahedra that point outwards, far from symmetric."""
    vertices = np.array([[0, 0, 0], [0.3, 0, 0.1], [0, 0.2, 0], [0.1, 0.1, 0.4], [0.5, 0.5, 0.1], [0.7, 0.5, 0.2], [0.5, 0.8, 0.2], [0.55,
        0.6, 0.5]], "<f4")
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], "<i4")
    return vertices, np.vstack([faces, faces + 4])


def write_mesh(path):
    vertices, faces = tetrahedra()
    if path.suffix == ".stl":
        path.write_bytes(b"\0" * 80 + struct.pack("<I", len(faces)) + b"".join(
            struct.pack("<12fH", 0, 0, 0, *vertices[f].ravel(), 0) for f in faces))
    elif path.suffix == ".msh":
        path.write_bytes(struct.pack("<4i", len(vertices), 0, 0, len(faces)) + vertices.tobytes() + faces.tobytes())
    else:
        path.write_text("".join(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in vertices)
                        + "".join("f {} {} {}\n".format(*(f + 1)) for f in faces))


@pytest.mark.parametrize("ending", ["stl", "obj", "msh"])
@pytest.mark.parametrize("how", ['', 'scale="2 3 .5"', 'scale="1 1 -1"', 'refpos=".1 .2 .3" refquat="1 2 3 4"', 'inertia="shell"',
                                 'inertia="exact"',
                                 'inertia="convex"', 'refquat="1 0 0 1" scale="1 2 3"'])
def test_meshes_weigh_what_they_do_in_mujoco(tmp_path, ending, how):
    (tmp_path / "meshes").mkdir()
    write_mesh(tmp_path / "meshes" / f"part.{ending}")
    path = tmp_path / "m.xml"
    path.write_text(model('<body name="a"><freejoint/><geom type="mesh" mesh="part" pos=".1 .2 .3" euler="10 20 30" density="500"/>'
                          '<geom type="box" size=".1 .1 .2"/></body>',
                          f'<compiler meshdir="meshes"/><asset><mesh file="part.{ending}" {how}/></asset>'))
    found = differences(mbros.load(path), mujoco.MjModel.from_xml_path(str(path)), states=4)
    assert max(found.values()) < 1e-6 if "shell" in how or "convex" in how else max(found.values()) < PRINCIPAL, found


def test_a_mesh_that_stands_in_the_file():
    vertices, faces = tetrahedra()
    numbers = " ".join(f"{x:.9g}" for x in vertices.ravel())
    for face in ("", f'face="{" ".join(map(str, faces.ravel()))}"'):
        text = model('<body name="a"><freejoint/><geom type="mesh" mesh="m" mass="2"/></body>', f'<asset><mesh name="m" vertex="{numbers}" '
                                                                                                f'{face}/></asset>')
        found = differences(*both(text), states=4)
        assert max(found.values()) < PRINCIPAL, found


def test_shapes_of_meshes_are_where_their_files_say(tmp_path):
    """Corners of the compiled shape in the world against those of the file, refpos, refquat and scale taken off by hand."""
    write_mesh(tmp_path / "part.obj")
    path = tmp_path / "m.xml"
    for how, move in (('scale="2 2 2" refpos=".1 .2 .3" refquat="1 0 0 1"', lambda x: 2.0 * ((x - (0.1, 0.2, 0.3)) @ [[0, -1, 0], [1, 0, 0],
        [0, 0, 1]])),
                      ('scale="1 2 3" refquat="1 0 0 1"', lambda x: (x @ [[0, -1, 0], [1, 0, 0], [0, 0, 1]]) * (1, 2, 3))):
        path.write_text(model('<geom type="plane" size="1 1 1" pos="0 0 -9"/><body name="a" pos="1 0 0"><freejoint/>'
                              '<geom name="g" type="mesh" mesh="part" pos="0 0 1"/></body>',
                              f'<asset><mesh file="part.obj" {how}/></asset>'))
        ours = mbros.load(path)
        shape = next(s for s in ours.description.bodies[0].collisions)
        points = np.asarray(shape.geometry.vertices if hasattr(shape.geometry, "vertices") else tetrahedra()[0] * shape.geometry.scale)
        found = points @ shape.X_BG.R.T + shape.X_BG.p
        expected = move(tetrahedra()[0].astype(float)) + (0, 0, 1)
        assert np.allclose(found, expected, atol=1e-6)


def test_springs_dampers_and_weights():
    inside = ('<site name="ceiling" pos="0 0 2"/>'
              '<body name="a" gravcomp=".7"><joint name="j" axis="0 1 0" stiffness="5" springref="20" ref="30" damping=".2"/><geom '
              'type="box" size=".3 .1 .1" pos=".3 0 0"/>'
              '<site name="tip" pos=".6 0 0"/><body name="b" pos=".6 0 0" gravcomp="1.5"><joint name="k" axis="0 1 0" ref="10"/><geom '
              'size=".1" pos=".1 0 .1"/></body></body>')
    tendons = ('<tendon><spatial name="t" stiffness="40" damping="3"><site site="ceiling"/><site site="tip"/></spatial>'
               '<spatial stiffness="20" springlength="1.1"><site site="ceiling"/><site site="tip"/></spatial>'
               '<fixed name="f" stiffness="7" damping=".5"><joint joint="k" coef="-2"/></fixed></tendon>')
    found = differences(*both(model(inside, '<option gravity="1 2 -5"/>', tendons)))
    assert max(found.values()) < EXACT, found


def test_default_classes():
    before = """<default><geom type="capsule" size=".1 .2" rgba="1 0 0 1"/><joint damping=".3" axis="0 1 0"/>
      <default class="thick"><geom size=".2" density="300"/><default class="thicker"><geom size=".3"/><joint
      damping=".9"/></default></default></default>"""
    inside = """<body name="a"><joint/><geom/><body name="b" pos=".3 0 0" childclass="thick"><joint/><geom/><frame childclass="thicker"
    pos="0 .1 0">
      <body name="c" pos=".3 0 0"><joint/><geom/><geom class="main" pos="1 0 0"/></body></frame><body name="d" pos="0 0 .3"><joint
      class="thicker"/><geom/></body></body></body>"""
    ours, theirs = both(model(inside, before))
    found = differences(ours, theirs)
    assert max(found.values()) < EXACT, found
    assert [joint.damping[0] for joint in ours.description.joints] == [0.3, 0.3, 0.9, 0.9]


def test_frames_and_what_is_repeated():
    inside = """<frame pos="1 0 0" euler="0 0 90"><body name="a" pos="0 1 0"><frame euler="0 30 0" pos=".1 0 0"><joint name="j" axis="1 0
    0" pos=".1 0 0"/>
      <geom type="box" size=".1 .2 .3"/><site name="s" pos="0 0 .1"/></frame></body></frame>
      <replicate count="12" offset=".1 .2 0" euler="0 0 20" sep="-"><body name="r" pos="1 0 0"><joint name="r" axis="0 1 0"/><geom
      size=".1" pos=".1 0 0"/></body></replicate>"""
    ours, theirs = both(model(inside))
    assert "r-00" in ours.bodies and "r-11" in ours.joints
    found = differences(ours, theirs, states=4)
    assert max(found.values()) < EXACT, found


def test_includes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "m.xml").write_text(model('<include file="parts/arm.xml"/>', '<include file="parts/settings.xml"/>'))
    (tmp_path / "parts/settings.xml").write_text('<mujoco><compiler angle="radian"/><default><include file="geom.xml"/></default></mujoco>')
    (tmp_path / "parts/geom.xml").write_text('<mujocoinclude><geom density="10"/></mujocoinclude>')
    (tmp_path / "parts/arm.xml").write_text(f"<mujoco>{arm(JOINTS['hinge'])}</mujoco>")
    path = tmp_path / "m.xml"
    ours = mbros.load(path)
    found = differences(ours, mujoco.MjModel.from_xml_path(str(path)), states=4)
    assert max(found.values()) < EXACT, found
    assert ours.description.bodies[0].source.file == str(tmp_path / "parts/arm.xml")


def test_a_base_that_is_asked_for():
    text = model('<body name="a" pos="0 0 1" quat="1 1 0 0"><geom size=".1"/><body name="b" pos=".2 0 0"><joint/><geom '
                 'size=".1"/></body></body>')
    free, usual = mbros.load(text, base="floating"), mbros.load(text)
    assert (free.nv, usual.nv) == (7, 1)
    for body in "ab":
        assert np.allclose(free.pose(free.default_state(), body).matrix, usual.pose(usual.default_state(), body).matrix, atol=1e-15)
    assert np.allclose(mbros.load(model("<body><freejoint/><geom size='.1'/></body>"), base="fixed").nv, 0)
    with pytest.raises(mbros.MbrosError, match="2 bodies stand on the world"):
        mbros.load(model("<body><geom size='.1'/></body><body><geom size='.1'/></body>"), base="floating")
