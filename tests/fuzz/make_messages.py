"""Writes tests/fuzz/corpus/messages: the messages of tests/ros/ros_plain.py, as rclpy serialises them. Run once, and when those change:

    python -m tests.fuzz.make_messages
"""
import sys
from pathlib import Path

from tests.fuzz.findings import CORPUS, ROOM, ROOT

sys.path.insert(0, str(ROOT / "tests" / "ros"))


def main():
    import ros_plain as plain
    import ros_trajectories as servo
    from rclpy.serialization import serialize_message
    from test_ros_dataplane import real
    from test_ros_trajectories import cdr

    folder = Path(CORPUS / "messages")
    for kind, cases in (("joint_state", plain.COMMANDS), ("array", plain.ARRAYS)):
        for name, (message, _) in cases.items():
            path = folder / f"{kind}-{name.replace(' ', '_').replace(',', '')}.cdr"
            path.write_bytes(serialize_message(real(message)))
    for name, (message, _) in servo.SERVO_COMMANDS.items():
        (folder / f"servo-{name.replace(' ', '_').replace(',', '')}.cdr").write_bytes(serialize_message(real(message)))
    for name, (message, _) in servo.TRAJECTORIES.items():
        data = cdr(message)
        if len(data) < ROOM:
            (folder / f"trajectory-{name.replace(' ', '_').replace(',', '')}.cdr").write_bytes(data)
    print(f"{len(list(folder.glob('*.cdr')))} messages in {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
