"""What SDF may hold: what mbros reads, what it knows and leaves to others, and what nobody knows. What is not read is noted, once for each
kind, with file and line."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.urdf.numbers import shorten
from mbros.names import did_you_mean

if TYPE_CHECKING:
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

_TEXT: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
_POSE = (("relative_to", "frame", "rotation_format", "degrees"), ())
_AXIS = ((), ("xyz", "dynamics", "limit", "mimic", "use_parent_model_frame"))
_NOISE = (("type",), ("type", "mean", "stddev", "bias_mean", "bias_stddev", "dynamic_bias_stddev", "dynamic_bias_correlation_time"))

# path: (attributes read, children read); a path is "element" or "parent/element" where the parent matters
READ: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sdf": (("version",), ("model", "world")),
    "world": (("name",), ("model", "include", "joint", "frame", "gravity")),
    "include": (("merge",), ("uri", "name", "pose", "placement_frame", "static", "plugin")),
    "model": (("name", "canonical_link", "placement_frame"), ("static", "self_collide", "pose", "link", "joint", "frame", "model", "include",
                                                             "plugin", "ros2_control")),
    "frame": (("name", "attached_to"), ("pose",)),
    "link": (("name",), ("pose", "inertial", "collision", "visual", "sensor", "gravity", "self_collide")),
    "inertial": (("auto",), ("pose", "mass", "inertia", "density")),
    "inertial/pose": (("rotation_format", "degrees"), ()),
    "inertia": ((), ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")),
    "pose": _POSE,
    "collision": (("name",), ("pose", "geometry", "surface", "density", "drake:proximity_properties")),
    "visual": (("name",), ("pose", "geometry", "material", "transparency")),
    "geometry": ((), ("box", "sphere", "cylinder", "capsule", "ellipsoid", "cone", "plane", "mesh", "heightmap", "polyline", "image",
                      "empty")),
    "box": ((), ("size",)), "sphere": ((), ("radius",)), "ellipsoid": ((), ("radii",)), "plane": ((), ("normal", "size")),
    **{kind: ((), ("radius", "length")) for kind in ("cylinder", "capsule", "cone")},
    "mesh": ((), ("uri", "scale", "submesh")),
    "material": ((), ("diffuse",)),
    "surface": ((), ("friction", "contact")),
    "surface/friction": ((), ("ode", "bullet", "torsional")),
    "friction/ode": ((), ("mu", "mu2")), "friction/bullet": ((), ("friction", "friction2")),
    "torsional": ((), ("coefficient", "use_patch_radius", "patch_radius")),
    "surface/contact": ((), ("ode", "bullet", "collide_bitmask", "category_bitmask", "collide_without_contact")),
    "contact/ode": ((), ("kp", "kd")), "contact/bullet": ((), ("kp", "kd")),
    "drake:proximity_properties": ((), ("drake:mu_dynamic", "drake:mu_static", "drake:point_contact_stiffness", "drake:relaxation_time")),
    "joint": (("name", "type"), ("parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch", "gearbox_ratio",
                                "gearbox_reference_body", "sensor", "drake:rotor_inertia", "drake:gear_ratio")),
    "axis": _AXIS, "axis2": _AXIS,
    "xyz": (("expressed_in",), ()),
    "dynamics": ((), ("damping", "friction", "spring_reference", "spring_stiffness")),
    "limit": ((), ("lower", "upper", "effort", "velocity", "stiffness", "dissipation", "drake:acceleration")),
    "mimic": (("joint", "axis"), ("multiplier", "offset", "reference")),
    "sensor": (("name", "type"), ("pose", "update_rate", "imu", "force_torque", "contact")),
    "imu": ((), ("angular_velocity", "linear_acceleration")),
    **{each: ((), ("x", "y", "z")) for each in ("angular_velocity", "linear_acceleration")},
    **{each: ((), ("noise",)) for each in ("x", "y", "z")},
    "noise": _NOISE,
    "force_torque": ((), ("frame", "measure_direction", "force", "torque")),
    "force_torque/frame": _TEXT,
    "force_torque/force": ((), ("x", "y", "z")), "force_torque/torque": ((), ("x", "y", "z")),
    "sensor/contact": ((), ("collision",)),
    "contact/collision": _TEXT,
}
READ_ELSEWHERE = ("plugin", "ros2_control", "heightmap", "polyline", "image", "empty", "submesh")

# element: who it is for
UNUSED = {
    "light": "for viewers", "scene": "for viewers", "gui": "for viewers", "physics": "the step is the simulator's: mbros.Simulator(dt=...)",
    "magnetic_field": "magnetic fields are not simulated", "atmosphere": "air is not simulated", "wind": "wind is not simulated",
    "enable_wind": "wind is not simulated", "audio": "sound is not simulated", "audio_source": "sound is not simulated",
    "audio_sink": "sound is not simulated", "spherical_coordinates": "for sensors of position", "actor": "actors are not simulated",
    "road": "for viewers", "population": "populations are not made; write the models", "state": "a state of the world is not read; models "
    "start where their poses are", "plugin": "plug-ins of a world are for Gazebo", "battery": "batteries are not simulated",
    "projector": "for viewers", "particle_emitter": "for viewers", "velocity_decay": "damping of a body in space; joints have damping",
    "must_be_base_link": "for the Simbody engine", "kinematic": "for the Gazebo simulator", "allow_auto_disable": "nothing is put to sleep",
    "gripper": "for the Gazebo simulator", "laser_retro": "for sensors of light", "max_contacts": "all contacts count",
    "bounce": "blows are without bounce", "soft_contact": "for the DART engine", "slip1": "friction has no slip here", "slip2": "friction has "
    "no slip here", "slip": "friction has no slip here", "fdir1": "friction is the same in all directions", "rolling_friction": "for the Bullet "
    "engine; mbros has rolling_radius", "surface_radius": "a patch that grows with the depth is not simulated", "soft_cfm": "for the ODE "
    "engine", "soft_erp": "for the ODE engine", "max_vel": "for the ODE engine", "min_depth": "for the ODE engine", "split_impulse": "for the "
    "Bullet engine", "split_impulse_penetration_threshold": "for the Bullet engine", "poissons_ratio": "for the Gazebo simulator",
    "elastic_modulus": "for the Gazebo simulator", "collide_without_contact_bitmask": "for the Gazebo simulator", "cast_shadows": "for viewers",
    "visibility_flags": "for viewers", "meta": "for viewers", "script": "for viewers; <diffuse> is read", "shader": "for viewers",
    "ambient": "for viewers; <diffuse> is read", "specular": "for viewers; <diffuse> is read", "emissive": "for viewers; <diffuse> is read",
    "lighting": "for viewers", "pbr": "for viewers; <diffuse> is read", "render_order": "for viewers", "double_sided": "for viewers",
    "shininess": "for viewers", "always_on": "sensors of a bench are always on", "visualize": "for viewers", "topic": "topics here are named "
    "after the robot and the sensor", "enable_metrics": "for the Gazebo simulator", "initial_position": "write model poses, or "
    "mbros.Scene.add_robot(initial_positions=...)", "auto_inertia_params": "for the Gazebo simulator", "fluid_added_mass": "water is not "
    "simulated", "orientation_reference_frame": "the orientation is that in the world", "enable_orientation": "an inertial sensor has it",
    "experimental:params": "changes to an included model are not made", "optimization": "for the Gazebo simulator",
}


def note_unread(root: XmlElement, context: Context) -> None:
    """A note for every kind of element and attribute below `root` that the readers do not use."""
    stack = [(root, root.tag)]
    while stack:
        element, path = stack.pop()
        attributes, children = READ.get(path, _TEXT)
        if element.tag in READ_ELSEWHERE:
            continue
        for name in element.attributes:
            if name not in attributes and not name.startswith(("xmlns", "xml:")) and not context.notes.again((path, "@", name)):
                near = None if context.notes.full else did_you_mean(name, attributes, 0.75)
                context.notes.add((path, "@", name), element.line, f"<{element.tag}>", f"attribute {shorten(name)} is not used" + (
                    f"; did you mean {near!r}?" if near else ""), "warning" if near else "note")
        for child in reversed(element.children):
            nested = f"{element.tag}/{child.tag}"
            if child.tag in children:
                stack.append((child, nested if nested in READ else child.tag))
            else:
                _note(context, element, child, children)


def _note(context: Context, parent: XmlElement, child: XmlElement, children: tuple[str, ...]) -> None:
    key = ("unread", parent.tag, child.tag)
    if context.notes.again(key):
        return
    tag = shorten(child.tag)[1:-1]
    what, severity = f"<{tag}> in <{parent.tag}>", "note"
    near = None if child.tag in UNUSED or context.notes.full else did_you_mean(child.tag, children, 0.75)
    if parent.tag == "joint" and child.tag == "physics":
        reason = "not used: for the solver of another simulator"
    elif child.tag in UNUSED:
        reason = f"not used: {UNUSED[child.tag]}"
    elif ":" in child.tag and not child.tag.startswith("drake:joint"):
        reason = f"not used: {child.tag.partition(':')[0][:40]!r} is of another program"
        severity = "warning" if child.tag.startswith("drake:") else "note"
    elif near:
        reason, severity = f"not used: unknown element; did you mean <{near}>?", "warning"
    else:
        reason = "not used: unknown element"
    if child.tag in ("drake:joint", "state"):
        severity = "warning"
    context.notes.add(key, child.line, what, reason, severity)
