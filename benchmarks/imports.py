"""How long `import mbros` takes on top of NumPy, each time in a new interpreter."""
import subprocess
import sys

CODE = """
import sys, time
import numpy
t = time.perf_counter()
import {module}
{use}
print(time.perf_counter() - t)
"""


def milliseconds(module, use="", runs=9):
    """(best, median) over NumPy; nan where the module is missing."""
    times = []
    for _ in range(runs):
        done = subprocess.run([sys.executable, "-c", CODE.format(module=module, use=use)], capture_output=True, text=True)
        if done.returncode:
            return float("nan"), float("nan")
        times.append(float(done.stdout) * 1e3)
    return min(times), sorted(times)[len(times) // 2]


def main():
    """Prints the lines; returns the best time of `import mbros` with its engine, ms."""
    print("\nImport, over NumPy: best / median in ms")
    rows = [("import mbros", "mbros", ""), ("import mbros, its engine and load", "mbros", "mbros.Model; mbros.load"),
            ("import pinocchio", "pinocchio", ""), ("import mujoco", "mujoco", "")]
    results = {}
    for label, module, use in rows:
        results[label] = milliseconds(module, use)
        print(f"  {label:36s} {results[label][0]:7.1f} / {results[label][1]:.1f}")
    return results["import mbros, its engine and load"][1]
