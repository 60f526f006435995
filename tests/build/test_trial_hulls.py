"""Hulls of mesh files are kept by content (M8): a second load finds them, and nothing that stands in their folder is believed."""
import io

import numpy as np
import pytest

import mbros
from mbros.build.compile import mesh_hulls
from mbros.build.sealed import seal
from mbros_core.errors import MbrosError
from mbros_core.geometry import Shape, convex

TEXT = """<robot name="ball"><link name="ball"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="ball.stl" scale="{0} {0} {0}"/></geometry></collision></link></robot>"""


def stl(points):
    """A binary file of triangles through the points, whatever they bound."""
    corners = points[:len(points) // 3 * 3].reshape(-1, 9).astype("<f4")
    rows = np.zeros(len(corners), dtype=[("numbers", "<f4", 12), ("spare", "<u2")])
    rows["numbers"][:, 3:] = corners
    return bytes(80) + np.uint32(len(rows)).tobytes() + rows.tobytes()


@pytest.fixture
def ball(tmp_path, monkeypatch):
    """(load, its cache): load(scale) is the hull of a robot whose mesh has 1200 vertices."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "package.xml").write_text("<package><name>ball</name></package>")
    points = np.random.default_rng(0).normal(size=(1200, 3))
    (tmp_path / "ball.stl").write_bytes(stl(points / np.linalg.norm(points, axis=1)[:, None]))

    def load(scale=1.0):
        (tmp_path / "ball.urdf").write_text(TEXT.format(scale))
        return mbros.load(tmp_path / "ball.urdf", collisions=True).spec.shape_geometry[0]

    return load, tmp_path / "cache" / "mbros" / "hulls"


def same(a, b):
    return np.array_equal(a.points, b.points) and all(np.array_equal(x, y) for x, y in zip(a.faces, b.faces))


def test_trial_M8_a_second_load_does_not_read_the_mesh(ball, monkeypatch):
    load, folder = ball
    first, other = load(), load(2.0)
    assert len(list(folder.iterdir())) == 2 and len(first.points) > 1000 and not same(first, other)

    def triangles(*_):
        raise AssertionError("read again")

    monkeypatch.setattr(mesh_hulls, "triangles", triangles)
    assert same(load(), first) and same(load(2.0), other)
    with pytest.raises(AssertionError, match="read again"):
        load(3.0)


def test_trial_M8_another_file_of_the_same_name_is_another_hull(ball, tmp_path):
    load, folder = ball
    first = load()
    (tmp_path / "ball.stl").write_bytes(stl(np.random.default_rng(1).normal(size=(1200, 3))))
    assert not same(load(), first) and len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("harm", ["cut", "bit", "link", "open", "indices", "surface", "pickle"])
def test_trial_M8_what_is_damaged_or_foreign_is_found_again(ball, harm, tmp_path):
    load, folder = ball
    first = load()
    path = next(folder.iterdir())
    data = path.read_bytes()
    starts, corners = (x.copy() for x in first.faces)
    if harm == "cut":
        path.write_bytes(data[:len(data) // 2])
    elif harm == "bit":
        path.write_bytes(data[:999] + bytes([data[999] ^ 1]) + data[1000:])
    elif harm == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    elif harm == "open":
        path.chmod(0o777)
    else:
        corners[7] = {"indices": 1 << 30, "surface": corners[9], "pickle": corners[7]}[harm]
        parts = io.BytesIO()
        for array in (first.points, starts, corners) if harm != "pickle" else (np.array([{}], dtype=object),):
            np.save(parts, array, allow_pickle=True)
        (tmp_path / "made").write_bytes(parts.getvalue())
        seal(tmp_path / "made", path)
    assert same(load(), first)
    assert path.read_bytes() == data and not path.is_symlink()


def test_trial_M8_no_folder_of_ones_own_no_cache(ball):
    load, folder = ball
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert len(load().points) > 1000 and not list(folder.iterdir())


def test_trial_M8_the_oldest_goes(ball, monkeypatch):
    load, folder = ball
    load()
    size = next(folder.iterdir()).stat().st_size
    monkeypatch.setattr(mesh_hulls, "MOST_BYTES", 5 * size // 2)
    for scale in (2.0, 3.0, 4.0):
        load(scale)
    assert len(list(folder.iterdir())) == 2


def test_trial_M8_faces_that_are_kept_are_checked():
    cube = convex(np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]))
    starts, corners = cube.faces
    assert same(Shape("convex", (), cube.points, cube.faces), cube) and starts.tolist() == [0, 4, 8, 12, 16, 20, 24]
    for bad in ((starts[:-1], corners), (starts.astype(np.int64), corners), (starts, corners + 1), (starts, np.roll(corners, 1))):
        with pytest.raises(MbrosError, match="convex: its faces are"):
            Shape("convex", (), cube.points, bad)
