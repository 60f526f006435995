"""`python -m mbros.ros`: the node."""
from mbros.ros.ending import Ending, leave

if __name__ == "__main__":
    ending = Ending()                   # before anything that takes time
    from mbros.ros.main import main
    leave(main(ending=ending))
