"""A page is for those who have its address: other sites, foreign names and guesses are refused, over HTTP and on the socket."""
import http.client
import inspect
import socket
import urllib.request

import pytest

import mbros
import viser
from mbros.errors import MbrosError, MbrosWarning
from mbros.view import guard as guards
from mbros.view.server import open_server, stop, url
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

PROTOCOL = f"viser-v{viser.__version__}"


@pytest.fixture(scope="module")
def page():
    server = open_server("guarded", port=0)
    yield server
    stop(server)


def answer(server, path, **headers):
    """(status, text) of a plain request; Host as given, or as it is."""
    asked = http.client.HTTPConnection("127.0.0.1", server.get_port(), timeout=20)
    asked.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": f"127.0.0.1:{server.get_port()}", **headers}.items():
        for each in value if isinstance(value, list) else [value]:
            asked.putheader(name, each)
    asked.endheaders()
    got = asked.getresponse()
    return got.status, got.read().decode(errors="replace")


def opened(server, path, **headers):
    """The first bytes that a socket is sent, or the status with which it is refused."""
    host = headers.pop("Host", f"127.0.0.1:{server.get_port()}")
    try:
        with connect(f"ws://{host}{path}", subprotocols=[PROTOCOL], origin=headers.get("Origin"), max_size=None, open_timeout=20,
                     sock=socket.create_connection(("127.0.0.1", server.get_port()))) as there:
            return there.recv(timeout=20)
    except InvalidStatus as refused:
        return refused.response.status_code


def cases(server):
    token, here = url(server).split("/")[3], f"127.0.0.1:{server.get_port()}"
    right = [{}, {"Origin": f"http://{here}"}, {"Host": "localhost:9000", "Origin": "http://localhost:9000"}]
    wrong = [("/" + token, {"Origin": "http://evil.example"}), ("/" + token, {"Origin": "null"}),
             ("/" + token, {"Origin": f"http://127.0.0.1:{server.get_port() + 1}"}),
             ("/" + token, {"Host": "evil.example"}), ("/" + token, {"Host": "evil.example", "Origin": "http://evil.example"}),
             ("/" + token, {"Host": "127.0.0.1.evil.example"}),
             ("/", {}), ("/", {"Origin": f"http://{here}"}), (f"/{token[:-1]}", {}), (f"/{token}x", {}), (f"/?{token}", {}), ("/%00", {})]
    return token, right, wrong


def test_trial_X5_the_page_is_for_those_who_have_its_address(page):
    token, right, wrong = cases(page)
    for headers in right:
        for path in (f"/{token}/", f"/{token}", f"/{token}/?a=b"):
            status, text = answer(page, path, **headers)
            assert status == 200 and "<html" in text, (path, headers, text[:200])
    for path, headers in wrong:
        status, text = answer(page, path, **headers)
        assert status == 403 and text.startswith("Not opened: ") and token not in text, (path, headers)
    for hosts in ([], ["127.0.0.1", "evil.example"]):
        assert answer(page, f"/{token}/", Host=hosts)[0] in (400, 403)
    assert answer(page, f"/{token}/", Upgrade="WebSocket", Origin="http://evil.example")[0] == 403


def test_trial_X5_the_socket_is_for_those_who_have_its_address(page):
    token, right, wrong = cases(page)
    for headers in right:
        assert len(opened(page, f"/{token}", **headers)) > 10, headers
    for path, headers in wrong:
        assert opened(page, path, **headers) == 403, (path, headers)


def test_trial_X5_a_browser_that_reconnects_is_let_in_again(page):
    """viser's client makes the address of its socket out of the page's, without what follows a question mark; and keeps it."""
    token, _, _ = cases(page)
    with connect(f"ws://127.0.0.1:{page.get_port()}/{token}", subprotocols=[PROTOCOL], max_size=None, proxy=None) as there:
        there.recv(timeout=20)
        page._websock_server.disconnect_all_clients()
        with pytest.raises(ConnectionClosed):
            while True:
                there.recv(timeout=20)
    assert len(opened(page, f"/{token}")) > 10


def test_trial_X5_nobody_can_open_the_page_to_the_internet(page):
    """viser takes a message by which any client has a public address made for it."""
    from viser import _messages

    assert _messages.ShareUrlRequest not in page._websock_server._incoming_handlers


def test_trial_X5_every_page_has_a_token_of_its_own_and_says_who_reaches_it():
    model = mbros.load("pendulum")
    with model.show(port=0) as one, model.show(port=0) as other:
        assert one.url.rpartition("/")[0][-32:] != other.url.rpartition("/")[0][-32:] and one.exposure == ""
        assert b"<html" in urllib.request.urlopen(one.url).read(2000)
    with pytest.warns(MbrosWarning, match="anyone who reaches port .* of this machine and has the whole address"):
        page = model.show(host="0.0.0.0", port=0)
    with page:
        assert page.url.startswith("http://localhost:") and b"<html" in urllib.request.urlopen(page.url).read(2000)


@pytest.mark.parametrize("change", ["unused", "without serve"])
def test_trial_X5_a_viser_that_serves_in_another_way_is_refused(monkeypatch, change):
    if change == "unused":
        monkeypatch.setattr(guards.Guard, "asked", property(lambda self: False, lambda self, value: None), raising=False)
    else:
        def serve(websockets, guard, given, process_request, more):
            return websockets.asyncio.server.serve(*given, process_request=process_request, **more)

        monkeypatch.setattr(guards, "_serve", serve)
    with pytest.raises(MbrosError, match="in a way that mbros does not know"):
        open_server("open", port=0)


def test_viser_calls_what_is_guarded():
    """What mbros.view.guard takes the place of, in the source of the viser that is installed."""
    from viser.infra import _infra

    assert inspect.getsource(_infra).count("websockets.asyncio.server.serve(") == 1


def test_trial_X5_a_browser_reloads_and_reconnects(tab):
    with mbros.load("pendulum").show(port=0) as page:
        tab.open(page.url)
        tab.until(lambda: len(page.server.get_clients()) == 1, "a client")
        tab.page.reload(wait_until="commit")
        tab.page.wait_for_selector("canvas")
        tab.image()
        before = set(page.server.get_clients())
        tab.until(lambda: len(page.server.get_clients()) == 1, "a client after the reload")
        page.server._websock_server.disconnect_all_clients()
        tab.until(lambda: set(page.server.get_clients()) - before, "a client that came again by itself")
        for _ in range(3):          # a click while the page says that it has lost its server goes nowhere
            tab.button("Play")
            if tab.comes(lambda: page.motion.sample().playing, 20.0):
                break
        assert page.motion.sample().playing, "what was asked for after that"
        tab.page.goto(page.url.rpartition("/")[0][:-1] + "x/", wait_until="commit")
        assert "Not opened" in tab.page.content()


def test_trial_X5_what_floods_of_names_leave_behind_is_bounded():
    from mbros.view import ros

    there = {str(k): None for k in range(ros.MOST)}
    assert ros.is_kept("3", there) and not ros.is_kept("new", there) and ros.is_kept("new", {}) and not ros.is_kept("n" * 1001, {})
    assert [("/" * 3 + "left/arm/hand")[k:] for k in ros.ends_of("///left/arm/hand")][-2:] == ["arm/hand", "hand"]
