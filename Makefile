# Every target sets up what it needs in .venv; no environment has to be active beforehand.
SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

# The first of these that is 3.11 or newer is used; one can be named: make setup PYTHON=/opt/python/bin/python3
PYTHON ?= python3.11 python3 python3.12 python3.13 python3.14
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
LOG := $(VENV)/install.log
BESIDE := $(VENV)/beside.log
SEEN := $(VENV)/coverage
AGAIN := $(MAKE) --no-print-directory
INSTALL := $(BIN)/python -m pip --no-input install --progress-bar off --constraint pins.txt --editable
# What pip says is of interest only when it fails.
QUIETLY := > $(LOG) 2>&1 || { tail -n 30 $(LOG); echo "Installing failed; all that pip said is in $(LOG)."; exit 1; } >&2

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test java chromium long redteam campaign licences lint style types docs pictures bench validate \
	format pins wheel clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

setup: $(VENV)/.dev ## create .venv with the project and all that its checks need

demo: $(VENV)/.run ## assess a bundled table, with a report
	@mkdir -p build
	$(BIN)/discreet assess --example religion --top 5 --report build/religion.html --record build/religion.record.json
	@echo "The report is $(CURDIR)/build/religion.html"

# The tests of a file share what they make, so one process runs them all. Tests wait for browsers and other processes now
# and then; types and documentation are checked meanwhile. Each process of a run leaves what it has seen in $(SEEN).
test: style java chromium ## all checks: style, types, layers, tests, documentation
	@echo "Types, layers and documentation are checked while the tests run; what they say follows."
	@$(AGAIN) --keep-going types docs > $(BESIDE) 2>&1 & beside=$$!; trap 'kill $$beside 2> /dev/null || true' EXIT INT TERM; \
	rm -rf $(SEEN); tests=0; DISCREET_COVERAGE=$(SEEN) $(BIN)/pytest -n $(WORKERS) --dist loadfile || tests=$$?; \
	$(BIN)/python tests/measuring.py report $(SEEN) || tests=$$?; \
	rest=0; wait $$beside || rest=$$?; cat $(BESIDE); \
	[ $$tests = 0 ] || echo "The tests failed; what they said is above types and documentation." >&2; \
	[ $$tests = 0 ] && [ $$rest = 0 ]

long: $(VENV)/.dev java chromium ## the tests that take minutes: full enumerations, large tables
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m long

redteam: $(VENV)/.dev ## attack 20,000 releases and write the table of refuted claims into docs/promise.md
	DISCREET_KERNELS=auto $(BIN)/python -m redteam --cases 20000 --workers $(WORKERS) --write

campaign: $(VENV)/.dev ## try hostile inputs, kills and pairs of originals, and write docs/reliability.md
	$(BIN)/python -m campaign --write

licences: $(VENV)/.dev ## list what discreet needs, with versions and licences
	@$(BIN)/python .ci/licences.py

java: # Spark, which tests compare with the embedded engine, runs on it
	@command -v java > /dev/null 2>&1 || { \
		echo "Installing Java 17, on which Spark runs"; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; \
		{ $$sudo apt-get -qq update && $$sudo apt-get -qq -y --no-install-recommends install openjdk-17-jre-headless; } \
			> $(LOG) 2>&1 || true; \
		command -v java > /dev/null 2>&1 || { \
			echo "Java is missing and apt could not install openjdk-17-jre-headless (see $(LOG));" \
				"install Java 17 or newer, then run make again" >&2; exit 1; }; \
	}

chromium: # the browser in which tests look at reports, and which prints them
	@command -v chromium > /dev/null 2>&1 || { \
		echo "Installing Chromium, in which the pages are tested"; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; \
		{ $$sudo apt-get -qq update && $$sudo apt-get -qq -y --no-install-recommends install chromium; } \
			> $(LOG) 2>&1 || true; \
		command -v chromium > /dev/null 2>&1 || { \
			echo "Chromium is missing and apt could not install it (see $(LOG)); install it, then run make again" >&2; \
			exit 1; }; \
	}

lint: style types ## the checks that run no test

style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy $(wildcard src tests benchmarks redteam campaign)
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/.dev chromium ## build the documentation into site/ and check it
	@rm -rf site
	$(BIN)/zensical build --strict --clean > $(VENV)/docs.log 2>&1 || { cat $(VENV)/docs.log >&2; exit 1; }
	$(BIN)/python .ci/check_docs.py $(VENV)/docs.log

pictures: $(VENV)/.dev chromium ## make the pictures of the documentation again
	$(BIN)/python .ci/pictures.py
	DISCREET_PICTURES=docs/assets/workbench $(BIN)/pytest -q tests/workbench/test_people.py tests/workbench/test_daily.py \
		tests/workbench/test_plans.py

bench: $(VENV)/.bench java chromium ## run every benchmark and write benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py

validate: $(VENV)/.run ## replay the papers into validation/
	$(BIN)/discreet study antal2014 --output validation/antal2014
	$(BIN)/discreet study antal2015 --output validation/antal2015
	$(BIN)/discreet study cohen2009 --output validation/cohen2009
	$(BIN)/discreet study domingo2002 --output validation/domingo2002

format: $(VENV)/.dev ## put the code into the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

pins: $(VENV)/.created ## resolve all dependencies afresh and write pins.txt
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(BIN)/python -m venv "$$fresh"; \
	"$$fresh/bin/python" -m pip -qq --no-input install --editable '.[dev,docs,bench]'; \
	"$$fresh/bin/python" -m pip freeze --exclude-editable > "$$fresh/frozen"; \
	grep -E '^[A-Za-z0-9._-]+==[^ ]+$$' "$$fresh/frozen" | LC_ALL=C sort -f > pins.txt; \
	echo "pins.txt: $$(wc -l < pins.txt) packages"

wheel: $(VENV)/.created ## build the wheel into dist/ and try it in an environment of its own
	@rm -rf dist build/lib
	@$(BIN)/python -m pip -qq --no-input wheel --no-deps --wheel-dir dist .
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(BIN)/python -m venv "$$fresh"; \
	"$$fresh/bin/python" -m pip -qq --no-input install --constraint pins.txt dist/*.whl; \
	cd "$$fresh" && bin/discreet risk --example religion > /dev/null; \
	echo "$(CURDIR)/$$(cd "$(CURDIR)" && ls dist/*.whl): installed and tried"

clean: ## remove what was built, but not .venv
	rm -rf site build dist src/discreet.egg-info .cache .hypothesis .import_linter_cache .mypy_cache \
		.pytest_cache .ruff_cache
	find src tests benchmarks redteam .ci -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The stamps lie in .venv, so that they vanish with it; new pins or a new pyproject.toml install again.
$(VENV)/.created:
	@chosen=; for python in $(PYTHON); do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then chosen=$$python; break; fi; \
	done; \
	if [ -z "$$chosen" ]; then \
		echo "discreet needs Python 3.11 or newer; tried $(PYTHON), and python3 is $$(python3 --version 2>&1 || true)." \
			"Install Python 3.11, or name one: make setup PYTHON=/path/to/python3.11" >&2; exit 1; \
	fi; \
	echo "Creating $(VENV) with $$("$$chosen" --version)"; \
	"$$chosen" -m venv $(VENV) || { \
		echo "$$chosen cannot create a virtual environment; install its venv module (on Debian: python3-venv)" >&2; exit 1; }
	@touch $@

$(VENV)/.run: $(VENV)/.created pyproject.toml pins.txt
	@echo "Installing discreet into $(VENV)"
	@$(INSTALL) . $(QUIETLY)
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml pins.txt
	@echo "Installing discreet and its development tools into $(VENV)"
	@$(INSTALL) '.[dev,docs]' $(QUIETLY)
	@touch $(VENV)/.run $@

$(VENV)/.bench: $(VENV)/.created pyproject.toml pins.txt
	@echo "Installing discreet and the peers it is measured against into $(VENV)"
	@$(INSTALL) '.[bench]' $(QUIETLY)
	@touch $(VENV)/.run $@
