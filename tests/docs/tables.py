"""The tables in docs/*.md that come from the code. `python tests/docs/tables.py` writes them anew; a test checks they are current."""
import ast
import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MARK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(header, rows):
    """A Markdown table; bars inside cells are escaped."""
    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"

    return line(header) + "| " + " | ".join("---" for _ in header) + " |\n" + "".join(map(line, rows))


def parameters():
    from mbros.ros.parameters import markdown as table

    return table()


def drop_reasons():
    from mbros.ros.wire.commands import REASONS

    return markdown(["reason", "dropped because"], [(f"`{name}`", text) for name, text in REASONS.items() if name != "accepted"])


def standard():
    from mbros.ros.standard.table import ROWS

    return markdown(["service", "supported", "what"], [(f"`{row.name}`", "yes" if row.served else "no", row.doc) for row in ROWS])


def launch_arguments():
    """ARGUMENTS of the launch file, read without importing it: launch is not everywhere."""
    tree = ast.parse((ROOT / "launch" / "sim.launch.py").read_text(encoding="utf-8"))
    (value,) = (node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "ARGUMENTS")
    rows = []
    for row in value.elts:
        name, default, text = row.elts
        told = f"`{default.value}`" if isinstance(default, ast.Constant) and default.value else "" if isinstance(default, ast.Constant) \
            else "the one installed"
        rows.append((f"`{name.value}`", told, text.value))
    return markdown(["argument", "default", "meaning"], rows)


def built_in():
    import mbros
    from mbros.build.robots import BUILT_IN

    rows = []
    for name, robot in BUILT_IN.items():
        model = mbros.load(name)
        rows.append((f"`{name}`", robot.doc, robot.base, model.nv, f"{sum(body.mass for body in model.bodies):.4g} kg"))
    return markdown(["name", "robot", "base", "degrees of freedom", "mass"], rows)


def contact_numbers():
    from mbros_core.constraints.registry import CONTACT_NUMBERS

    return markdown(["number", "unit", "default", "meaning"], [(f"`{n.name}`", n.unit, f"{n.default:g}", n.doc) for n in CONTACT_NUMBERS])


def markdown_of(rows, readings=True, family=None):
    """Equations, numbers, and readings, of actuators, sensors or channels. family: of devices, which files have by their types."""
    from mbros.describe.devices.words import FAMILIES

    def words(name):
        found = [f"`{cls.type}`" for cls in FAMILIES.get(family, {}).values() if cls.row.name == name]
        return ", ".join(found) or f"`{name}`"

    def default(number):
        given = "" if number.default is None else number.default
        given = "none" if not isinstance(given, (str, tuple)) and abs(given) >= 1e300 else given
        if isinstance(given, tuple):
            return "identity" if len(set(given)) > 1 else "none" if abs(given[0]) >= 1e300 else f"{given[0]:.6g}"
        return given if isinstance(given, str) else f"{given:.6g}"

    def own(row):
        """Numbers that users give; of a drive behind a spring those of the spring."""
        drive = row.name.removeprefix("elastic_")
        others = {n.name for other in rows if other.name == drive != row.name for n in other.numbers}
        return [n for n in row.numbers if n.name not in {"dt", "of_velocity"} | others]

    kind = "kind" if family is None else "type"
    text = markdown([kind, "is", "equation"], [(words(row.name), row.doc, code(row.equation)) for row in rows]) + "\n"
    table = [(words(row.name) if k == 0 else "", f"`{n.name}`", n.unit, default(n), n.doc) for row in rows for k, n in enumerate(own(row))]
    table += [(words(row.name), "", "", "", f"those of {words(row.name.removeprefix('elastic_'))}, too")
              for row in rows if row.name.startswith("elastic_")]
    text += markdown([kind, "number", "unit", "default", "meaning"], table)
    if readings:
        text += "\n" + markdown([kind, "reading", "unit", "is"], [(words(row.name) if k == 0 else "", f"`{r.name}`", r.unit, r.doc)
                                                                   for row in rows for k, r in enumerate(row.readings)])
    return text


def actuators():
    from mbros_core.plant.actuators.registry import ROWS

    return markdown_of(ROWS, family="actuator")


def sensors():
    from mbros_core.plant.sensors.registry import ROWS

    return markdown_of(ROWS, family="sensor")


def channels():
    from mbros_core.plant.channels.registry import ROWS

    return markdown_of(ROWS, readings=False)


def faults():
    from mbros_core.plant.faults.registry import ROWS

    table = [(f"`{row.name}`" if k == 0 else "", row.target if k == 0 else "", code(row.equation) if k == 0 else "",
              row.doc if k == 0 else "", f"`{n.name}`" if n else "", n.unit if n else "", n.doc if n else "")
             for row in ROWS for k, n in enumerate(row.numbers or (None,))]
    return markdown(["kind", "of a", "from step k0 on", "is", "number", "unit", "meaning"], table)


def sources():
    from mbros.describe.devices.source import NUMBERS

    rows = [(f"`{n.name}`", n.unit, "none" if n.default == float("inf") else f"{n.default:g}", n.doc) for n in NUMBERS]
    return markdown(["number", "unit", "default", "meaning"], rows)


def unused():
    from mbros.describe.urdf.schema import UNUSED

    return reasons(UNUSED)


def sdf_unused():
    from mbros.describe.sdf.schema import UNUSED

    return reasons(UNUSED)


def reasons(tags):
    by_reason = {}
    for tag, reason in tags.items():
        by_reason.setdefault(reason, []).append(f"`{tag}`")
    return markdown(["elements", "not used because"], [(", ".join(tags), reason) for reason, tags in by_reason.items()])


SHOWN = (   # cases of tests/describe/test_malformed.py, one of each kind
    "unclosed link", "undefined entity", "doctype", "NUL byte", "deep nesting", "no links", "link without name", "duplicate joints",
    "two root links", "cycle of two", "two parents", "unknown parent", "unknown type", "zero axis", "axis with two numbers", "mass 'nan'",
    "mass '1,5'", "negative mass", "no inertia element", "triangle inequality", "massless leaf", "revolute without limit",
    "lower above upper", "negative effort", "negative damping", "mimic of nobody", "mimic cycle of two", "unknown shape",
)


def errors():
    from mbros.build.load import check

    spec = importlib.util.spec_from_file_location("malformed", ROOT / "tests" / "describe" / "test_malformed.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = []
    for name in SHOWN:
        text, _, element, reason, _ = module.CASES[name]
        problem = next(p for p in check(text)[0] if element in p.element and reason in p.reason)
        rows.append((name, code(f"{problem.element}: {problem.reason}"), code(problem.remedy)))
    return markdown(["for example", "message", "remedy"], rows)


def code(text):
    """Text as it is, in Markdown's code type."""
    assert "`" not in text and "\n" not in text
    return f"`{text}`"


def joint_kinds():
    from mbros_core.joints.registry import ROWS

    def named(names, units):
        return ", ".join(f"{name} {f'({unit})' if unit else ''}".strip() for name, unit in zip(names, units))

    rows = [(f"`{row.name}`", row.doc, named(row.position_names, row.position_units), named(row.velocity_names, row.velocity_units))
            for row in ROWS]
    return markdown(["kind", "motion of M in F", "q", "v"], rows)


def libraries():
    from mbros.conventions.convention import CONVENTIONS

    return [name for name in CONVENTIONS if name != "drake_2018"]


def conventions():
    from mbros.conventions.maps import MAPS

    rows = []
    for kind, maps in MAPS.items():
        rows += [(f"`{kind}`", f'"{name}"', maps[name].text if name in maps else "same") for name in libraries()]
    shown = [(kind if k % len(libraries()) == 0 else "", *rest) for k, (kind, *rest) in enumerate(rows)]
    return markdown(["kind", "library", "q and v there"], shown)


def rows():
    from mbros.spatial.rows import ROWS

    order = {"angular": "angular first", "linear": "linear first"}
    force = {"angular": "torque first", "linear": "force first"}
    return markdown(["library", "is", "Jacobian", "twist", "wrench"],
                    [(f'"{name}"', row.text, order[row.jacobian], order[row.twist], force[row.wrench]) for name, row in ROWS.items()])


def sensor_messages():
    from mbros.ros.wire.sensor_messages import KINDS

    return markdown(["sensor", "message", "from its readings"],
                    [(f"`{name}`", f"{kind.package}/{kind.message}", ", ".join(f"`{word}`" for word in kind.needs))
                     for name, kind in KINDS.items()])


def written(text):
    """The text with every table made anew."""
    return MARK.sub(lambda match: match.group(1) + globals()[match.group(2)]() + match.group(3), text)


def pages():
    """Every page of the documentation but the decisions."""
    return [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "seeds").glob("*.md"))]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = written(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print("written", page.relative_to(ROOT))
