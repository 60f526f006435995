"""mbros node: hand over to the ROS 2 side, which reads its own arguments. --view opens a page beside it, which it knows nothing of."""
from __future__ import annotations

from typing import Any

VIEW = "--view"


def run(argv: list[str]) -> int:
    """argv: what follows `mbros node`, with --ros-args and all."""
    from mbros.ros.process import main as node      # start-up time
    from mbros.ros.process.arguments import parser as make_parser

    own = argv[:argv.index("--ros-args")] if "--ros-args" in argv else argv
    if "-h" in own or "--help" in own:
        parser = make_parser()
        parser.add_argument(VIEW, action="store_true", help="open the viewer beside the node, on 127.0.0.1; prints its URL")
        parser.print_help()
        return 0
    rest = [word for word in argv if word != "--debug" and not (word == VIEW and word in own)]
    return node.main(rest, beside=_open_beside if VIEW in own else None)


def _open_beside(sim: Any) -> Any:
    # Optional packages, viser and trimesh. And not earlier: threads begun before the node has blocked its signals would take them
    from mbros.view.beside_node import open_beside

    return open_beside(sim)
