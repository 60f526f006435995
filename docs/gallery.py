"""The gallery of built-in robots, made when the site is built: the tree of each, a log, and where it is there, the interactive view.

docs/views/<robot>.html is an offline view (log.save_html, or a viewer's recording); a robot that has one shows it.
"""
from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
MADE, VIEWS = HERE / "generated", HERE / "views"

HEAD = """# Gallery

The robots that come with mbros: `mbros.load(name)`. The pictures are `model.plot_tree()`: blue turns, orange slides, green does more, and a
bar is the range of motion.
"""


def make(app, config) -> None:
    """Writes generated/gallery.md and its pictures."""
    import mbros
    from mbros.build.robots import BUILT_IN

    MADE.mkdir(exist_ok=True)
    parts = [HEAD]
    for name, robot in BUILT_IN.items():
        model = mbros.load(name)
        model.plot_tree(MADE / f"tree_{name}.svg")
        parts.append(f"## {name}\n\n{robot.doc[0].upper()}{robot.doc[1:]}.\n\n![the tree of {name}](tree_{name}.svg)\n")
        if (VIEWS / f"{name}.html").exists():
            parts.append(f'<iframe src="../{name}.html" width="100%" height="480" loading="lazy" title="{name}"></iframe>\n')
    (MADE / "gallery.md").write_text("\n".join(parts), encoding="utf-8")
    falling()


def falling() -> None:
    """The picture of docs/plots.md."""
    import mbros

    model = mbros.load("arm7")
    state = model.default_state()
    state.q[1] = 0.5
    log = mbros.Simulator(model, state=state).run(2.0, every=5)
    log.plot(["joint2", "joint4", "joint2.velocity", "energy", "kinetic_energy"], MADE / "log.svg")


def setup(app) -> None:
    if VIEWS.is_dir():
        app.config.html_extra_path = [*app.config.html_extra_path, str(VIEWS)]
    app.connect("config-inited", make)
