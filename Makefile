# Every target does its own set-up: a Python from 3.11 on is all that has to be there.

PYTHON := $(shell for candidate in "$$PYTHON" python3.11 python3 python3.12 python3.13 python; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo "$$candidate" && break; done)
BIN := .venv/bin
# The linters import the settings and connect to nothing.
CHECKING := ENVIRONMENT=development DATABASE_URL=postgresql://127.0.0.1/none REDIS_URL=redis://127.0.0.1/0
WITH_SERVERS := $(BIN)/python -m annotation_app.launcher run --fast --folder var/check --

.NOTPARALLEL:
.PHONY: help demo test test-deep bench lint types format lock clean clean-data python embedded dev browser

help:
	@echo "make demo        the whole application on http://127.0.0.1:8000, with a study in it, and a marketplace"
	@echo "make test        linters, types, import rules and the whole suite"
	@echo "make test-deep   the same with the long runs"
	@echo "make bench       what is measured, in one run"
	@echo "make lint        the linters alone"
	@echo "make format      format the code"
	@echo "make lock        write constraints.txt anew, after a change of pyproject.toml"
	@echo "make clean       remove what is installed and cached; the data in var stays"
	@echo "make clean-data  remove var: the demo's database, images and releases"

demo: embedded
	@$(BIN)/python -m annotation_app.launcher demo

test: browser lint
	@$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -m "not deep"

test-deep: browser lint
	@$(BIN)/python -m pytest

bench: dev
	@$(BIN)/python -m bench all

lint: dev types
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/lint-imports --no-logo
	@$(WITH_SERVERS) $(BIN)/python manage.py makemigrations --check --dry-run
	@$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

types: dev
	@$(CHECKING) $(BIN)/mypy .

format: dev
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .

lock: python
	@rm -rf var/lock
	@$(PYTHON) -m venv var/lock
	@var/lock/bin/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@var/lock/bin/pip freeze --exclude-editable | grep -v ' @ ' | sed 's/+cpu$$//' > constraints.txt
	@rm -rf var/lock

clean:
	@rm -rf .venv staticfiles build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -not -path './var/*' -prune -exec rm -rf {} +

clean-data: embedded
	@$(BIN)/python -m annotation_app.launcher erase

python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; set PYTHON to its path." >&2; exit 1; }

embedded: python
	@$(PYTHON) annotation_app/install.py embedded

dev: python
	@$(PYTHON) annotation_app/install.py dev

browser: python
	@$(PYTHON) annotation_app/install.py dev --browser
