"""What the tests of the viewer's layers share: a page that the test draws, and a layer that is hidden and shown."""


def drawing(source):
    """A page whose own thread has ended: the test draws."""
    page = source.show(port=0)
    page.end()
    page._thread.join()
    return page


def check_hidden_and_shown(page, layer, things):
    """Hidden, nothing of the layer is in the scene; shown again, its things are."""
    layer.visible = False
    page.look()
    assert layer._shown == []
    layer.visible = True
    page.look()
    assert len(layer._shown) == things
