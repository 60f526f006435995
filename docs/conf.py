"""The documentation as a site: `make docs`, then open build/site/index.html.

Pages are the Markdown files of this folder, as they are; the API comes from the docstrings (docs/docstrings.py says how), and the
gallery from the built-in robots, when the site is built. Every warning is an error.
"""
import gc
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import docstrings                                                                                                # noqa: E402
import gallery                                                                                                   # noqa: E402

import mbros                                                                                                     # noqa: E402

gc.set_threshold(50_000)        # the trees of all pages live to the end; looking for garbage among them every 700 objects is slow

project, author, version = "mbros", "mbros developers", mbros.__version__
html_title, html_theme = f"mbros {version}", "furo"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "toc.not_included"]     # tables may begin at any level; pages of detail are reached by links
smartquotes = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "inherited-members": True}
python_maximum_signature_line_length = 110
add_module_names = False
viewcode_line_numbers = True
html_static_path, html_css_files = ["_static"], ["site.css"]
html_copy_source, html_show_copyright = False, False
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}


shared = {}         # (depth of a page, options): navigation tree


def share_navigation(app, pagename, templatename, context, doctree):
    """The pages of sources stand in no table of contents: those of one depth have the same tree, relative links and all."""
    make, depth = context.get("toctree"), pagename.count("/")

    def toctree(**options):
        key = (depth, *sorted(options.items()))
        if key not in shared:
            shared[key] = make(**options)
        return shared[key]

    if make and pagename.startswith("_modules/"):
        context["toctree"] = toctree


def setup(app):
    docstrings.setup(app)
    gallery.setup(app)
    app.connect("html-page-context", share_navigation, priority=100)        # before the theme's own
