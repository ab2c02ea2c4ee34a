# `make help` lists the targets. Each version of Python has a virtual environment of its own in .venv/.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help

VERSIONS := 3.11 3.12 3.13
FOUND := $(foreach v,$(VERSIONS),$(if $(shell sh tests/find_python.sh $(v)),$(v)))
MISSING := $(filter-out $(FOUND),$(VERSIONS))
FIRST := $(lastword $(FOUND))
SHIM := minijit/_shim.c $(wildcard minijit/shim/*.h)
PYTEST_ARGS ?=

.PHONY: help demo test check lint types wheel clean python
.PRECIOUS: .venv/%/ready

help: ## show this list
	@grep -E '^[a-z%.-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

python:
	@test -n "$(FOUND)" || { echo "minijit: none of Python $(VERSIONS) was found"; exit 1; }

# Made anew when the metadata changes; the shim is built anew when one of its sources changes.
.venv/%/ready: setup.cfg pyproject.toml $(SHIM)
	test -x .venv/$*/bin/python || "$$(sh tests/find_python.sh $*)" -m venv .venv/$*
	rm -f minijit/_shim.cpython-$(subst .,,$*)*.so
	rm -rf build/*cpython-$(subst .,,$*)*
	.venv/$*/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

demo: python ## compile a real function and show what became of it
	@$(MAKE) --no-print-directory .venv/$(FIRST)/ready
	@.venv/$(FIRST)/bin/python examples/demo.py

test: python ## run the tests on each of 3.11, 3.12 and 3.13 that is found
	@$(if $(MISSING),echo "minijit: Python $(MISSING) was not found and is not tested")
	@for v in $(FOUND); do $(MAKE) --no-print-directory .venv/$$v/ready; done
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target --keep-going $(FOUND:%=test-%)
	@echo "minijit: passed on Python $(FOUND)$(if $(MISSING),; not found: $(MISSING))"

test-%: .venv/%/ready ## run the tests on one version, as in `make test-3.12`
	@echo "== Python $*"
	@.venv/$*/bin/pytest -q $(PYTEST_ARGS)

check: lint types ## lint and type-check

lint: python .venv/tools/ready ## run ruff
	.venv/tools/bin/ruff check --config tests/ruff.toml .

# mypy sees the sources laid out as they install, through a tree of links.
types: python .venv/tools/ready ## run mypy in strict mode
	rm -rf build/types && mkdir -p build/types/minijit
	ln -s $(CURDIR)/minijit/* $(CURDIR)/interpreter $(CURDIR)/codegen build/types/minijit/
	cd build/types && ../../.venv/tools/bin/mypy --config-file ../../setup.cfg -p minijit \
	  | sed -E 's#^minijit/(interpreter|codegen)/#\1/#'

.venv/tools/ready: setup.cfg
	test -x .venv/tools/bin/python || "$$(sh tests/find_python.sh $(firstword $(FOUND)))" -m venv .venv/tools
	.venv/tools/bin/python -m pip install --quiet --disable-pip-version-check 'ruff==0.17.6' 'mypy==2.4.1' bytecode rich astor pytest
	touch $@

wheel: python ## build a wheel into dist/
	@$(MAKE) --no-print-directory .venv/$(FIRST)/ready
	rm -rf build/lib* build/bdist* dist
	.venv/$(FIRST)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist

clean: ## remove everything that was made
	rm -rf .venv build dist minijit/_shim.*.so *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
