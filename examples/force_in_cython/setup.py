"""Builds the example beside this file: python setup.py build_ext --inplace"""
from pathlib import Path

import mbros_core
from Cython.Build import cythonize
from setuptools import Extension, setup

include = str(Path(mbros_core.__file__).resolve().parent.parent)        # where "mbros_core/user.hpp" is found
setup(name="hardening", ext_modules=cythonize([Extension("hardening", ["hardening.pyx"], include_dirs=[include], language="c++")]))
