"""What an MJCF file may hold: what mbros reads, and what it knows and leaves. What is known and left and what is unknown are noted, once
for each kind, with the place where it stands first."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.mjcf.defaults import ACTUATORS, ORIENTATIONS
from mbros.describe.mjcf.sensors import READ as SENSORS
from mbros.describe.urdf.numbers import shorten
from mbros.names import did_you_mean

if TYPE_CHECKING:
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

_POSE = ("pos", *ORIENTATIONS)
_OF_BODY = ("body", "frame", "replicate", "inertial", "joint", "freejoint", "geom", "site")
_LIMITED = ("limited", "range")
_GIVES = ("ctrllimited", "ctrlrange", "forcelimited", "forcerange", "gear", "armature", "damping", "joint", "jointinparent", "tendon",
          "site",
          "refsite", "slidersite", "cranksite", "body")
_TENDON = (*_LIMITED, "springlength", "stiffness", "damping", "frictionloss", "armature")
_ELEMENTS = ("name", "class")

# element, or section/element where the section matters: (attributes read, children read)
READ: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "mujoco": (("model",), ("compiler", "option", "default", "asset", "worldbody", "contact", "tendon", "equality", "actuator", "sensor",
                            "keyframe")),
    "compiler": (("coordinate", "angle", "eulerseq", "autolimits", "balanceinertia", "discardvisual", "strippath", "fitaabb", "boundmass",
                  "boundinertia", "settotalmass", "inertiafromgeom", "inertiagrouprange", "assetdir", "meshdir"), ()),
    "option": (("gravity", "wind", "density", "viscosity"), ("flag",)),
    "flag": (("contact", "constraint", "equality", "gravity", "limit", "frictionloss", "spring", "damper", "clampctrl", "filterparent"),
             ()),
    "default": (("class",), ("default", "mesh", "material", "joint", "geom", "site", "pair", "equality", "tendon", *ACTUATORS)),
    "asset": ((), ("mesh", "hfield", "material", "model")),
    "mesh": ((*_ELEMENTS, "file", "vertex", "face", "refpos", "refquat", "scale", "inertia", "builtin"), ()),
    "hfield": (("name", "file", "nrow", "ncol", "size", "elevation"), ()),
    "material": ((*_ELEMENTS, "rgba"), ()),
    "worldbody": ((), (*_OF_BODY, "camera", "light", "composite", "flexcomp", "attach")),
    "body": (("name", "childclass", "mocap", "gravcomp", *_POSE), (*_OF_BODY, "camera", "light", "composite", "flexcomp", "attach")),
    "frame": (("name", "childclass", *_POSE), (*_OF_BODY, "camera", "light", "composite", "flexcomp", "attach")),
    "replicate": (("count", "offset", "euler", "sep", "childclass"), (*_OF_BODY, "camera", "light", "composite", "flexcomp", "attach")),
    "inertial": (("mass", "diaginertia", "fullinertia", *_POSE), ()),
    "joint": ((*_ELEMENTS, "type", "pos", "axis", *_LIMITED, "actuatorfrclimited", "actuatorfrcrange", "stiffness", "ref", "springref",
               "springdamper",
               "armature", "damping", "frictionloss"), ()),
    "freejoint": (("name",), ()),
    "geom": ((*_ELEMENTS, "type", "contype", "conaffinity", "condim", "group", "size", "material", "friction", "mass", "density",
              "shellinertia",
              "solref", "solimp", "fromto", "hfield", "mesh", "rgba", *_POSE), ()),
    "site": ((*_ELEMENTS, "fromto", *_POSE), ()),
    "contact": ((), ("pair", "exclude")),
    "pair": ((*_ELEMENTS, "geom1", "geom2", "condim", "friction", "solref", "solreffriction", "solimp", "gap", "margin", "adhesion"), ()),
    "exclude": (("name", "body1", "body2"), ()),
    "tendon": ((), ("fixed", "spatial")),
    "default/tendon": (_TENDON, ()),
    "fixed": ((*_ELEMENTS, *_TENDON), ("joint",)),
    "spatial": ((*_ELEMENTS, *_TENDON), ("site", "geom", "pulley")),
    "fixed/joint": (("joint", "coef"), ()),
    "spatial/site": (("site",), ()),
    "spatial/geom": (("geom", "sidesite"), ()),
    "pulley": (("divisor",), ()),
    "equality": ((), ("connect", "weld", "joint", "tendon")),
    "default/equality": (("active",), ()),
    "connect": ((*_ELEMENTS, "active", "body1", "body2", "anchor", "site1", "site2"), ()),
    "weld": ((*_ELEMENTS, "active", "body1", "body2", "anchor", "site1", "site2", "relpose"), ()),
    "equality/joint": ((*_ELEMENTS, "active", "joint1", "joint2", "polycoef"), ()),
    "equality/tendon": ((*_ELEMENTS, "active", "tendon1", "tendon2", "polycoef"), ()),
    "actuator": ((), ACTUATORS),
    "general": ((*_ELEMENTS, *_GIVES, "actrange", "dyntype", "gaintype", "biastype", "dynprm", "gainprm", "biasprm"), ()),
    "motor": ((*_ELEMENTS, *_GIVES), ()),
    "position": ((*_ELEMENTS, *_GIVES, "kp", "kv", "dampratio", "timeconst", "inheritrange"), ()),
    "velocity": ((*_ELEMENTS, *_GIVES, "kv"), ()),
    "intvelocity": ((*_ELEMENTS, *_GIVES, "kp", "kv", "dampratio", "actrange", "inheritrange"), ()),
    "damper": ((*_ELEMENTS, *_GIVES, "kv"), ()),
    "dcmotor": ((*_ELEMENTS, *_GIVES, "motorconst", "resistance", "nominal", "inductance", "saturation", "input", "cogging", "lugre",
                 "thermal", "controller"), ()),
    "sensor": ((), SENSORS),
    "keyframe": ((), ("key",)),
    "key": (("name", "time", "qpos", "qvel", "act", "mpos", "mquat", "ctrl"), ()),
}
SENSOR = ("name", "site", "joint", "objtype", "objname", "reftype", "refname", "noise", "cutoff", "delay", "interval", "nsample")
NOTED_WHERE_READ = ("cylinder", "muscle", "adhesion", "pid", "orientation", "camera", "light", "composite", "flexcomp", "attach",
                    "model")

# element: why it is not used
UNUSED = {
    "visual": "for viewers", "statistic": "for viewers", "size": "room for MuJoCo's own arrays", "custom": "for programs of users",
    "extension": "plugins of MuJoCo are not read", "plugin": "plugins of MuJoCo are not read", "texture": "for viewers",
    "skin": "for viewers",
    "camera": "for viewers", "light": "for viewers", "layer": "for viewers", "lengthrange": "for muscles",
    "flex": "deformable bodies are not read",
    "flexvert": "deformable bodies are not read", "flexstrain": "deformable bodies are not read",
}
# attribute of any element: why it is not used
LEFT = {
    "user": "for programs of users", "group": "for viewers", "texturedir": "for viewers", "usethread": "for MuJoCo's own compiler",
    "maxhullvert": "hulls have all their vertices here", "content_type": "the ending of the name counts", "material": "for viewers",
    "rgba": "for viewers", "width": "for viewers", "texture": "for viewers", "texrepeat": "for viewers", "texuniform": "for viewers",
    "emission": "for viewers", "specular": "for viewers", "shininess": "for viewers", "reflectance": "for viewers",
    "metallic": "for viewers",
    "roughness": "for viewers", "normal": "for viewers", "texcoord": "for viewers", "smoothnormal": "for viewers",
    "fitscale": "the mesh is taken",
    "fusestatic": "welded bodies are one in the engine anyway, and keep their names",
    "alignfree": "q of a free joint is the pose of its body",
    "align": "q of a free joint is the pose of its body", "saveinertial": "for MuJoCo's own compiler",
    "conflict": "for MuJoCo's own compiler",
    "margin": "contacts and limits begin where things touch here", "gap": "contacts begin where things touch here",
    "priority": "the numbers of two shapes are joined (docs/shapes.md)", "solmix": "the numbers of two shapes are joined (docs/shapes.md)",
    "solreflimit": "stops have stiffness and damping of their own here (docs/forces.md)",
    "solimplimit": "stops have stiffness and damping of their own here (docs/forces.md)",
    "solreffriction": "friction of joints is exact here", "solimpfriction": "friction of joints is exact here",
    "solref": "constraints hold exactly here", "solimp": "constraints hold exactly here", "torquescale": "constraints hold exactly here",
    "fluidshape": "there is no fluid here", "fluidcoef": "there is no fluid here", "sleep": "nothing sleeps here",
    "simple": "for MuJoCo's own solver",
    "actuatorgravcomp": "gravcomp acts on the body here", "surfacevel": "surfaces do not move here",
    "adhesion": "nothing sticks here", "lengthrange": "for muscles", "ctrllimited": "ranges count", "interp": "for MuJoCo's own actuators",
    "nsample": "for MuJoCo's own actuators", "delay": "channels delay commands here (docs/bench.md)",
    "actlimited": "of the state of the actuator",
    "actdim": "of the state of the actuator", "actearly": "of the state of the actuator", "actrange": "of the state of the actuator",
    "input": "of the state of the actuator", "velrange": "not read", "ffrange": "not read", "cranklength": "slider-cranks are not read",
    "size": "for viewers", "type": "for viewers", "actuatorfrclimited": "of the tendon", "actuatorfrcrange": "of the tendon",
    "timestep": "dt is the simulator's", "integrator": "integrator= is the simulator's", "magnetic": "there is no magnetometer here",
}
OPTIONS = ("impratio", "tolerance", "ls_tolerance", "noslip_tolerance", "ccd_tolerance", "sleep_tolerance", "o_margin", "o_solref",
           "o_solimp",
           "o_friction", "cone", "jacobian", "solver", "iterations", "ls_iterations", "noslip_iterations", "ccd_iterations",
           "sdf_iterations",
           "sdf_initpoints", "actuatorgroupdisable")
FLAGS = ("actuation", "warmstart", "refsafe", "sensor", "midphase", "eulerdamp", "autoreset", "nativeccd", "island", "multiccd", "override",
         "energy",
         "fwdinv", "invdiscrete", "sleep", "diagexact", "passive")
CHANGES = ("surfacevel", "adhesion", "actuatorgravcomp", "velrange", "ffrange", "cranklength")          # what moves otherwise


def note_unused(root: XmlElement, context: Context) -> None:
    """A note for every kind of element and attribute that is not read."""
    stack = [(root, "mujoco")]
    while stack:
        element, key = stack.pop()
        attributes, children = READ.get(key, ((), ()))
        if element.text.strip():
            context.notes.add(("text", element.tag), element.line, f"<{element.tag}>", "there is text in it, which is not used", "warning")
        if element.tag in SENSORS:
            attributes = SENSOR
        for name in element.attributes:
            if name not in attributes and not name.startswith(("xmlns", "xml:")):
                _attribute(context, element, key, name, attributes)
        for child in reversed(element.children):
            nested = f"{element.tag}/{child.tag}"
            if child.tag in NOTED_WHERE_READ and element.tag != "default":
                continue
            if child.tag in children:
                stack.append((child, nested if nested in READ else child.tag))
            else:
                _element(context, element, child, children)


def _attribute(context: Context, element: XmlElement, key: str, name: str, attributes: tuple[str, ...]) -> None:
    if context.notes.again((key, "@", name)):
        return
    severity = "warning" if name in CHANGES else "note"
    if key == "option" and name in OPTIONS or key == "flag" and name in FLAGS:
        reason = f"{name} is not used: of MuJoCo's own solver"
    elif name in LEFT or element.tag in NOTED_WHERE_READ:
        reason = f"{name} is not used: {LEFT.get(name, 'not read')}"
    else:
        near = None if context.notes.full else did_you_mean(name, attributes, 0.75)
        reason = f"attribute {shorten(name)} is unknown, and not used" + (f"; did you mean {near!r}?" if near else "")
        severity = "warning"
    context.notes.add((key, "@", name), element.line, f"<{element.tag}>", reason, severity)


def _element(context: Context, parent: XmlElement, child: XmlElement, children: tuple[str, ...]) -> None:
    if context.notes.again((parent.tag, child.tag)):
        return
    what = f"<{shorten(child.tag)[1:-1]}> in <{parent.tag}>"
    severity = "note"
    if child.tag in UNUSED:
        reason = f"not used: {UNUSED[child.tag]}"
        severity = "warning" if child.tag in ("plugin", "flex", "flexvert", "flexstrain") else "note"
    elif parent.tag == "sensor":
        reason = "not used: the bench has no such sensor"
    else:
        near = None if context.notes.full else did_you_mean(child.tag, children, 0.75)
        reason = f"not used: unknown element; did you mean <{near}>?" if near else "not used: unknown element"
        severity = "warning"
    context.notes.add((parent.tag, child.tag), child.line, what, reason, severity)
