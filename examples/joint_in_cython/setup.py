"""python setup.py build_ext --inplace, where mbros is installed or its folder is on PYTHONPATH."""
from pathlib import Path

import mbros_core
from setuptools import Extension, setup

setup(name="cycloid", ext_modules=[Extension("cycloid", ["cycloid.pyx"], include_dirs=[str(Path(mbros_core.__file__).parents[1])])])
