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
    "model": (("name", "canonical_link", "placement_frame"), ("static", "self_collide", "pose", "link", "joint", "frame", "model",
                                                             "include", "plugin", "ros2_control")),
    "frame": (("name", "attached_to"), ("pose",)),
    "link": (("name",), ("pose", "inertial", "collision", "visual", "sensor", "gravity", "self_collide")),
    "inertial": (("auto",), ("pose", "mass", "inertia", "density")),
    "inertial/pose": (("rotation_format", "degrees"), ()),
    "inertia": ((), ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")),
    "pose": _POSE,
    "collision": (("name",), ("pose", "geometry", "surface", "density", "drake:proximity_properties")),
    "visual": (("name",), ("pose", "geometry", "material", "transparency")),
    "geometry": ((), ("box", "sphere", "cylinder", "capsule", "ellipsoid", "cone", "plane", "mesh", "heightmap", "polyline", "image",
                      "empty", "drake:capsule", "drake:ellipsoid")),
    "box": ((), ("size",)), "sphere": ((), ("radius",)), "ellipsoid": ((), ("radii",)), "plane": ((), ("normal", "size")),
    "drake:ellipsoid": ((), ("a", "b", "c")),
    **{kind: ((), ("radius", "length")) for kind in ("cylinder", "capsule", "cone", "drake:capsule")},
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

# why what is known is not read: elements
_WHY = {
    "for viewers": ("light", "scene", "gui", "road", "projector", "particle_emitter", "cast_shadows", "visibility_flags", "meta",
                    "lighting", "render_order", "double_sided", "shininess", "visualize"),
    "for viewers; <diffuse> is read": ("script", "shader", "ambient", "specular", "emissive", "pbr"),
    "for the Gazebo simulator": ("gripper", "poissons_ratio", "elastic_modulus", "collide_without_contact_bitmask", "enable_metrics",
                                 "auto_inertia_params", "kinematic", "optimization"),
    "for the solver of another simulator": ("soft_cfm", "soft_erp", "max_vel", "min_depth", "split_impulse", "soft_contact",
                                            "split_impulse_penetration_threshold", "must_be_base_link"),
    "the step is the simulator's: mbros.Simulator(dt=...)": ("physics",),
    "wind and air are not simulated": ("wind", "enable_wind", "atmosphere"),
    "magnetic fields are not simulated": ("magnetic_field",),
    "sound is not simulated": ("audio", "audio_source", "audio_sink"),
    "batteries are not simulated": ("battery",), "water is not simulated": ("fluid_added_mass",),
    "for sensors of position": ("spherical_coordinates",), "for sensors of light": ("laser_retro",),
    "actors are not simulated": ("actor",), "write the models themselves": ("population",),
    "models start where their poses are": ("state",), "plug-ins of a world are Gazebo's": ("plugin",),
    "joints have damping, bodies in space have none": ("velocity_decay",), "nothing is put to sleep": ("allow_auto_disable",),
    "all contacts count": ("max_contacts",), "blows are without bounce": ("bounce",), "friction has no slip": ("slip", "slip1", "slip2"),
    "friction is the same in all directions": ("fdir1",), "mbros has rolling_radius, m": ("rolling_friction",),
    "a patch does not grow with the depth": ("surface_radius",), "sensors of a bench are always on": ("always_on",),
    "topics are named after robot and sensor": ("topic",), "joints start at zero; initial_positions of a scene file says otherwise":
    ("initial_position",), "the orientation is that in the world": ("orientation_reference_frame", "enable_orientation"),
    "changes to an included model are not made": ("experimental:params",),
}
UNUSED = {tag: why for why, tags in _WHY.items() for tag in tags}
SERIOUS = ("state", "experimental:params", "population")            # without which the world is another


# what nothing here does, and without which a robot would be another one: it is refused
REFUSED = {"drake:joint": "mbros reads SDF's own joints; a planar base is base='planar'",
           "drake:linear_bushing_rpy": "build it with mbros.LinearBushingRollPitchYaw", "drake:ball_constraint": "write a <joint "
           "type=\"ball\"> that closes the loop", "drake:deformable_properties": "bodies that deform are not simulated"}


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
            if child.tag in REFUSED:
                context.problem(child.line, f"<{child.tag}> in <{element.tag}>", "it is not read, and the robot would be another one",
                                f"{REFUSED[child.tag][:1].upper()}{REFUSED[child.tag][1:]}.")
            elif child.tag in children:
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
    elif ":" in child.tag:
        reason = f"not used: {child.tag.partition(':')[0][:40]!r} is of another program"
        severity = "warning" if child.tag.startswith("drake:") else "note"
    elif near:
        reason, severity = f"not used: unknown element; did you mean <{near}>?", "warning"
    else:
        reason = "not used: unknown element"
    if child.tag in SERIOUS:
        severity = "warning"
    context.notes.add(key, child.line, what, reason, severity)
