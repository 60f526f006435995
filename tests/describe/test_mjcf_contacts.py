"""What touches what in MJCF, and how: pairs of shapes against MuJoCo's own filters, friction, solref, height fields; loops that close."""
import struct
import zlib

import numpy as np
import pytest

import mbros
from mbros.describe.mujoco_contact import compliance
from tests.mjcf_peer import both, mujoco

FLOOR = '<geom name="floor" type="plane" size="1 1 .1"/>'


def balls(bits, more=""):
    """A tower of free balls that overlap, each a body of its own, with the given contype and conaffinity."""
    return "".join(f'<body pos="{0.3 * k} 0 {0.09 + 0.001 * k}"><freejoint/><geom name="g{k}" size=".2" contype="{a}" '
                   f'conaffinity="{b}"/></body>'
                   for k, (a, b) in enumerate(bits)) + more


def touching(model, state):
    """Pairs of names that touch."""
    return {frozenset((contact.shape_a, contact.shape_b)) for contact in model.contacts(state)}


def theirs_touching(theirs, data):
    return {frozenset(theirs.geom(int(g)).name for g in contact.geom) for contact in data.contact}


@pytest.mark.parametrize("bits", [[(1, 1), (1, 1), (1, 0), (1, 0)], [(2, 1), (1, 2), (2, 2), (4, 4)], [(1, 0), (0, 1), (1, 0), (0, 0)],
                                  [(3, 3), (4, 1), (1, 4), (8, 8)]])
def test_contype_and_conaffinity(bits):
    text = f'<mujoco><worldbody>{FLOOR}{balls(bits)}</worldbody></mujoco>'
    ours, theirs = both(text)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    names, found = theirs_touching(theirs, data), touching(ours, ours.default_state())
    assert found == names


def test_pairs_touch_whatever_their_bits_say():
    text = f"""<mujoco><worldbody>{FLOOR}{balls([(0, 0), (0, 0), (0, 0)])}</worldbody>
      <contact><pair geom1="g0" geom2="g1"/><pair geom1="g2" geom2="floor" condim="4"/></contact></mujoco>"""
    ours, theirs = both(text)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    names, found = theirs_touching(theirs, data), touching(ours, ours.default_state())
    assert found == names == {frozenset(("g0", "g1")), frozenset(("g2", "floor"))}
    assert "condim is not used" in "".join(map(str, ours.description.notes))


def test_exclusions_and_neighbours():
    """What a chain of several joints connects does not touch, nor what <exclude> names."""
    joints = '<joint type="slide" axis="1 0 0"/><joint axis="0 1 0"/>'
    text = f"""<mujoco><worldbody>{FLOOR}<body name="a" pos="0 0 1"><freejoint/><geom name="ga" size=".2"/>
      <body name="b" pos=".3 0 0">{joints}<geom name="gb" size=".2"/><body name="c" pos=".01 0 .01">{joints}<geom name="gc"
      size=".25"/></body></body></body>
      <body name="d" pos="0 .3 1"><freejoint/><geom name="gd" size=".2"/></body></worldbody>
      <contact><exclude body1="a" body2="d"/></contact></mujoco>"""
    ours, theirs = both(text)
    data = mujoco.MjData(theirs)
    data.qpos[7] = -0.6         # apart at the reference positions is what mbros wants of what may touch later
    q = np.array(data.qpos)
    mujoco.mj_forward(theirs, data)
    names, found = theirs_touching(theirs, data), touching(ours, ours.default_state().set_q(q))
    assert frozenset(("ga", "gd")) not in found | names and frozenset(("gb", "gc")) not in found | names


def test_friction_is_that_of_the_geom():
    text = f"""<mujoco><default><geom friction=".7 .02 .003"/></default><worldbody>{FLOOR}<body><freejoint/>
      <geom name="one" size=".1" condim="1"/><geom name="three" size=".1" friction=".5"/><geom name="four" size=".1" condim="4"/>
      <geom name="six" size=".1" condim="6"/></body></worldbody></mujoco>"""
    shapes = {shape.name: shape for shape in mbros.load(text).description.bodies[0].collisions}
    assert [shapes[name].friction for name in ("one", "three", "four", "six")] == [0.0, 0.5, 0.7, 0.7]
    assert shapes["six"].torsional_radius == pytest.approx(0.02 / 0.7) and shapes["six"].rolling_radius == 0.003
    assert shapes["three"].torsional_radius is None and shapes["four"].rolling_radius is None


@pytest.mark.parametrize("solref, solimp", [("0.02 1", "0.9 0.95 0.001"), ("0.01 0.7", "0.8 0.8 0.001"), ("-4000 -90", "0.9 0.9 0.001")])
def test_solref_sinks_in_as_deep_as_in_mujoco(solref, solimp):
    """A ball on the floor: at rest, the depth is MuJoCo's."""
    text = f"""<mujoco><option timestep=".0005"/><default><geom solref="{solref}" solimp="{solimp}"/></default>
      <worldbody>{FLOOR}<body pos="0 0 .1"><freejoint/><geom size=".1" mass="3"/></body></worldbody></mujoco>"""
    ours, theirs = both(text)
    data = mujoco.MjData(theirs)
    for _ in range(6000):
        mujoco.mj_step(theirs, data)
    sim = mbros.Simulator(ours, dt=1e-3)
    for _ in range(2000):
        sim.step()
    depth, theirs_depth = 0.1 - sim.state.q[2], 0.1 - data.qpos[2]
    assert depth == pytest.approx(theirs_depth, rel=0.01) and depth > 1e-6
    (body,) = ours.description.bodies
    given = compliance(tuple(map(float, solref.split())), (*map(float, solimp.split()), 0.5, 2.0), 3.0)
    assert body.collisions[0].stiffness == given["stiffness"] and body.collisions[0].relaxation_time == given["relaxation_time"]


def test_height_fields(tmp_path):
    heights = np.arange(12, dtype="<f4").reshape(3, 4) ** 2
    (tmp_path / "hills.bin").write_bytes(struct.pack("<ii", 3, 4) + heights.tobytes())
    write_png(tmp_path / "grey.png", heights, 1)
    write_png(tmp_path / "red.png", heights, 3)
    for asset in ('file="hills.bin"', 'file="grey.png"', 'file="red.png"', 'nrow="3" ncol="4" '
                                                                           f'elevation="{" ".join(map(str, heights[::-1].ravel()))}"'):
        path = tmp_path / "m.xml"
        path.write_text(f'<mujoco><asset><hfield name="hills" {asset} size="2 1.5 .5 .1"/></asset><worldbody><geom type="hfield" '
                        'hfield="hills" pos="0 0 .2"/>'
                        '<body pos=".7 .4 2"><freejoint/><geom size=".1"/></body></worldbody></mujoco>')
        ours, theirs = mbros.load(path), mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(theirs)
        mujoco.mj_forward(theirs, data)
        (field,) = ours.description.world.collisions
        for x, y in np.random.default_rng(2).uniform(-1.0, 1.0, (20, 2)) * (1.9, 1.4):
            geom = np.zeros(1, np.int32)
            down = mujoco.mj_ray(theirs, data, np.array([x, y, 9.0]), np.array([0.0, 0.0, -1.0]), None, 1, -1, geom, None)
            assert down > 0.0 and height(field.geometry, x, y) == pytest.approx(9.0 - down - 0.2, abs=0.08)
        assert np.allclose(field.geometry.heights.T, 0.5 * theirs.hfield_data.reshape(3, 4), atol=1e-7)


def write_png(path, heights, channels):
    """Grey or coloured, each row with another filter."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = np.zeros((*heights.shape, channels), np.uint8)
    pixels[:, :, 0] = heights[::-1] * 2
    pixels[:, :, 1:] = pixels[:, :, :1]
    rows, raw, above = pixels.reshape(len(heights), -1).astype(int), b"", np.zeros(heights.shape[1] * channels, int)
    for k, row in enumerate(rows):
        left, corner = np.roll(row, channels), np.roll(above, channels)
        left[:channels] = corner[:channels] = 0
        a, b, c = left, above, corner
        best_of_two = np.where(abs(a - c) <= abs(a + b - 2 * c), b, c)
        paeth = np.where((abs(b - c) <= abs(a - c)) & (abs(b - c) <= abs(a + b - 2 * c)), a, best_of_two)
        kind = (4, 3, 1, 2)[k % 4]
        raw += bytes([kind]) + ((row - (left, above, (left + above) // 2, paeth)[kind - 1]) % 256).astype(np.uint8).tobytes()
        above = row
    header = struct.pack(">IIBBBBB", heights.shape[1], heights.shape[0], 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def height(geometry, x, y):
    """By bilinear interpolation: each cell is two triangles, in one way or the other."""
    grid, (nx, ny) = geometry.heights, geometry.heights.shape
    u, v = (x / geometry.size[0] + 0.5) * (nx - 1), (y / geometry.size[1] + 0.5) * (ny - 1)
    i, j = min(int(u), nx - 2), min(int(v), ny - 2)
    a, b = u - i, v - j
    return ((1 - a) * (1 - b) * grid[i, j] + a * (1 - b) * grid[i + 1, j] + (1 - a) * b * grid[i, j + 1] + a * b * grid[i + 1, j + 1])


EQUALITIES = {
    "connect": '<connect body1="b" body2="c" anchor=".1 0 .2"/>', "connect to the world": '<connect body1="b" anchor=".1 0 .2"/>',
    "sites": '<connect site1="s" site2="t"/>', "weld": '<weld body1="b" body2="c" anchor=".1 .2 0"/>',
    "weld as given": '<weld body1="b" body2="c" relpose=".1 .2 .3 1 1 0 0"/>', "welded sites": '<weld site1="s" site2="t"/>',
    "joints": '<joint joint1="j" joint2="k" polycoef=".2 -3"/>', "tendons": '<tendon tendon1="f" polycoef=".1"/>',
}


@pytest.mark.parametrize("name", EQUALITIES)
def test_equalities_are_those_of_mujoco(name):
    """At a random state, ours are at zero exactly where MuJoCo's are: both are assembled, and the other looks at what came out."""
    text = f"""<mujoco><worldbody><body name="b" pos=".1 .2 .3" euler="10 20 30"><freejoint/><geom size=".1"/><site name="s" pos=".1 0 0"
    euler="5 0 0"/></body>
      <body name="c" pos=".4 0 .1" euler="0 40 0"><freejoint/><geom size=".1"/><site name="t" pos="0 .1 0"/>
      <body pos=".3 0 0"><joint name="j" ref="20"/><geom size=".1"/><body pos=".3 0 0"><joint name="k" ref="-10"/><geom
      size=".1"/></body></body></body></worldbody>
      <tendon><fixed name="f"><joint joint="j" coef="2"/><joint joint="k"
      coef=".5"/></fixed></tendon><equality>{EQUALITIES[name]}</equality></mujoco>"""
    ours, theirs = both(text)
    state = ours.default_state()
    rng = np.random.default_rng(3)
    state = ours.assemble(ours.default_state().set_q(ours.integrate(state.q, 0.05 * rng.normal(size=ours.nv))))
    data = mujoco.MjData(theirs)
    data.qpos[:] = state.q
    mujoco.mj_forward(theirs, data)
    assert data.ne and np.abs(data.efc_pos[:data.ne]).max() < 1e-8


def test_what_is_not_coupled_so_is_said():
    ours = mbros.load("""<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body><body><joint name="k"/><geom
    size=".1"/></body></worldbody>
      <equality><joint joint1="j" joint2="k" polycoef="0 1 2"/><joint joint1="k" polycoef=".3"/><joint joint1="j" joint2="k"
      active="false"/></equality></mujoco>""")
    assert not len(ours.constraints) and ours.joint("k").is_locked(ours.default_state())
    assert ours.default_state().q[1] == 0.3
    notes = "".join(map(str, ours.description.notes))
    assert "straight lines here" in notes and "locked" in notes and "switched off" in notes


def test_ropes():
    text = """<mujoco><worldbody><site name="top" pos="0 0 1"/><body pos="0 0 .5"><freejoint/><geom size=".1"/><site
    name="s"/></body></worldbody>
      <tendon><spatial name="r" range="0 .8"><site site="top"/><site site="s"/></spatial><spatial range=".1 .9" stiffness="0 1"><site
      site="top"/><site
      site="s"/></spatial></tendon></mujoco>"""
    ours = mbros.load(text)
    assert [(c.name, c.kind) for c in ours.constraints] == [("r.rope", "distance"), ("tendon2.rope", "distance")]
    assert "of stiffness the first number is taken" in "".join(map(str, ours.description.notes))
    assert "only the upper end" in "".join(map(str, ours.description.notes))
    sim = mbros.Simulator(ours, dt=1e-3)
    for _ in range(3000):
        sim.step()
    assert np.linalg.norm(sim.state.q[:3] - (0, 0, 1)) <= 0.8 + 1e-4
