"""mbros node: hand over to the ROS 2 side, which reads its own arguments."""
from __future__ import annotations


def run(argv: list[str]) -> int:
    """argv: what follows `mbros node`, with --ros-args and all."""
    from mbros.ros import main as node

    own = argv[:argv.index("--ros-args")] if "--ros-args" in argv else argv
    if "-h" in own or "--help" in own:
        node.parser().print_help()
        return 0
    return node.main([word for word in argv if word != "--debug"])
