"""`python -m mbros.ros`: the node."""
from mbros.ros.process.ending import Ending, leave

if __name__ == "__main__":
    ending = Ending()                   # before anything that takes time
    from mbros.ros.process.main import main
    leave(main(ending=ending))
