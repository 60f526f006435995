"""Actuators as topics: what each of them reads (mbros_core.plant.actuators.registry), such as temperature and current of a motor, in one
message.

Topics are the names of the actuators, with slashes for dots: joint2.motor is on joint2/motor. No message of ROS has all of a drive, so it
is an array, whose layout says in which order: PlotJuggler shows joint2/motor/data[3].
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mbros.names import printable

from mbros.ros.wire.bench import NodeBench, devices_of
from mbros.ros.wire.topics import device_topic

if TYPE_CHECKING:
    from mbros import Model
    from mbros.ros.typing import FillTopic

def actuator_topics(bench: NodeBench, model: Model, snapshot: int, say: Callable[[str], object]) -> list[tuple[str, FillTopic]]:
    """(topic, fill) of every actuator; those that ROS has no topic for are left out, and said: joints may be called as they like.

    fill(x, stamp) makes a std_msgs/Float64MultiArray from a snapshot of so many doubles with the devices' memory behind it: the readings as
    they came through their channels, in their own units; NaN before the first step."""
    found, unnamed = [], []
    for device, name, _ in devices_of(bench, model, bench.bench.actuators):
        topic = device_topic(name)
        if topic is None:
            unnamed.append(name)
            continue
        signals, words = bench.signals(name), [reading.name for reading in device.row.readings]
        found.append((topic, _fill(words, [snapshot + bench.value_at(signals[word]) for word in words])))
    if unnamed:
        say(f"no topics for what these actuators read, as ROS has none of such a name: {printable(', '.join(unnamed), 300)}")
    return found


def _fill(words: list[str], places: list[int]) -> FillTopic:
    from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

    dimension = MultiArrayDimension(label=", ".join(words), size=len(words), stride=len(words))
    layout = MultiArrayLayout(dim=[dimension])

    def fill(x: np.ndarray, stamp: int) -> object:
        return Float64MultiArray(layout=layout, data=x[places].tolist())

    return fill
