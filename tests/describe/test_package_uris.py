"""package:// and its spellings lead inside a package or nowhere."""
import os

import pytest

from mbros.describe.urdf.packages import package_roots, resolve
from mbros.errors import MbrosError


@pytest.fixture
def world(tmp_path, monkeypatch):
    """secret.stl outside; packages bot (beside the model file) and lib (in ROS_PACKAGE_PATH) and inst (in AMENT_PREFIX_PATH)."""
    for file in ("secret.stl", "ws/bot/meshes/a.stl", "ws/bot/urdf/bot.urdf", "ws/bot/urdf/near.stl", "libs/lib/b.stl",
                 "ament/share/inst/c.stl", "extra/given/d.stl", "libs/libevil/e.stl"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("x")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "libs"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    return tmp_path


@pytest.mark.parametrize("uri, file", [
    ("package://bot/meshes/a.stl", "ws/bot/meshes/a.stl"), ("package://lib/b.stl", "libs/lib/b.stl"),
    ("package://inst/c.stl", "ament/share/inst/c.stl"), ("package://given/d.stl", "extra/given/d.stl"),
    ("package://bot/urdf/../meshes/a.stl", "ws/bot/meshes/a.stl"), ("near.stl", "ws/bot/urdf/near.stl"),
    ("package://bot//meshes/./a.stl", None)])
def test_found(world, uri, file):
    def find():
        return resolve(uri, world / "ws/bot/urdf/bot.urdf", [world / "extra"])

    if file is None:
        with pytest.raises(MbrosError):
            find()
    else:
        assert find() == world / file


def spellings():
    up = "../"
    for depth in range(1, 9):
        for package in ("bot", "lib", "inst"):
            yield f"package://{package}/" + up * depth + "secret.stl"
            yield f"package://{package}/meshes/" + up * depth + "secret.stl"
            yield f"package://{package}/./" + up * depth + "etc/passwd"
    for tail in ("/etc/passwd", "//etc/passwd", "///etc/passwd", "/../etc/passwd", "/dev/null", "/dev/zero", "/proc/self/environ"):
        yield "package://bot" + tail if not tail.startswith("/etc") else "package://bot/" + tail
        yield "file://" + tail
        yield tail
    for name in ("..", ".", "", "../bot", "bot\x00", "lib evil", "%2e%2e", "b\u00f6t", "~", "$HOME", "..%2f", "-rf"):
        yield f"package://{name}/secret.stl"
        yield f"package://{name}"
    for scheme in ("http", "https", "ftp", "model", "data", "jar", "PACKAGE", "Package", "smb", "git", "s3", "javascript"):
        yield f"{scheme}://bot/meshes/a.stl"
    yield from ("..\\secret.stl", "package://bot\\..\\secret.stl", "a\x00b", "../secret.stl", "../../../secret.stl", "package://bot/pipe",
                "package://bot/meshes", "package://bot", "package://bot/", "package://bot/out.stl", "package://bot/out/secret.stl",
                "package://bot/loop", "package://bot/chain.stl", "package://lib/../libevil/e.stl", "package://bot/meshes/a.stl/",
                "meshes/" * 5000)


def test_200_spellings_never_leave(world):
    """Every answer is a regular file inside a package root; nothing else is ever answered."""
    bot = world / "ws/bot"
    os.mkfifo(bot / "pipe")
    (bot / "out.stl").symlink_to(world / "secret.stl")
    (bot / "out").symlink_to(world)
    (bot / "loop").symlink_to(bot / "loop")
    (bot / "chain.stl").symlink_to(bot / "out.stl")
    tried = refused = 0
    for uri in spellings():
        for model in (bot / "urdf/bot.urdf", None):
            tried += 1
            try:
                found = resolve(uri, model)
            except MbrosError as error:
                assert len(str(error)) > 20 and "\x00" not in str(error)
                refused += 1
            else:
                assert found.is_file() and any(found.is_relative_to(world / root) for root in ("ws/bot", "libs/lib", "ament/share/inst"))
    assert tried >= 200 and refused > 0.9 * tried


def test_reasons_and_remedies(world):
    (world / "ws/bot/out.stl").symlink_to(world / "secret.stl")
    for uri, words in {"package://nobody/x": ["no package 'nobody'", "package_dirs"],
                       "package://bot/no.stl": ["no such file", str(world / "ws/bot")],
                       "package://bot/../../secret.stl": ["outside its package"], "package://bot/out.stl": ["outside its package"],
                       "http://x/y": ["http", "not supported"], "package://../x": ["not a package name"]}.items():
        with pytest.raises(MbrosError) as caught:
            resolve(uri, world / "ws/bot/urdf/bot.urdf")
        assert all(word in str(caught.value) for word in words), str(caught.value)


def test_order_of_the_search(world):
    (world / "extra/lib").mkdir()
    assert package_roots("lib", None, [world / "extra"]) == [world / "extra/lib", world / "libs/lib"]
    assert package_roots("lib", None, [world / "extra/lib"])[0] == world / "extra/lib"
    assert package_roots("nobody") == []
