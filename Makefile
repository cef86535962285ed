# make demo | install | test | check | slow | every | bounds | soak | mutate | site | films | clean. Everything is installed into .venv, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A process for each core and one more, up to four, of one thread each: some tests wait for others, for
# a browser or a rank. Tests that want more threads start their own.
WORKERS := $(shell $(PYTHON) -c 'import os; print(min(4, (os.cpu_count() or 1) + 1))')
PYTEST := NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal
STAMP := $(VENV)/.installed-$(shell cksum < pyproject.toml | cut -d' ' -f1)

.PHONY: demo install test check slow every bounds soak mutate site films clean

demo: $(STAMP)
	$(BIN)/rushhour demo

install: $(STAMP)

# Kernels are compiled before: the processes of pytest would all want the same ones first.
test: $(STAMP)
	$(BIN)/rushhour compile
	$(PYTEST)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Reading all 300 files takes each process longer than most of these tests.
slow: $(STAMP)
	$(PYTEST) -m "slow and not soak" --durations=10 $$(grep -l 'mark\.slow' tests/test_*.py)

# Fast and slow tests at once: files are read, and kernels loaded, by each process once. Files with tests
# of 15 s and more are begun first, so that no core waits for them at the end.
LONGEST := $(patsubst %,tests/test_%.py,ranks ranks_command docs fit_siouxfalls journey real_runs every_option study study_engines notebooks capacity fuzz viewer_window)
every: $(STAMP)
	$(BIN)/rushhour compile
	$(PYTEST) -m "not soak" --durations=10 $(LONGEST) $(filter-out $(LONGEST),$(wildcard tests/test_*.py))

# Not optimised to the end: that takes longer here than it saves.
bounds: $(STAMP)
	NUMBA_OPT=1 NUMBA_BOUNDSCHECK=1 $(BIN)/rushhour compile
	NUMBA_OPT=1 NUMBA_BOUNDSCHECK=1 $(PYTEST) -m "small_world and not slow"

soak: $(STAMP) bounds
	$(PYTEST) -m soak

# What the tests notice of small faults, sampled: make mutate SEED=2 COUNT=100
SEED := 1
COUNT := 40
mutate: $(STAMP)
	$(BIN)/python bench/mutate.py --seed $(SEED) --count $(COUNT)

# A film of each driving system, in out/films; the race tracks are data.
films: $(STAMP)
	$(BIN)/python bench/films.py

# The docs as pages to read, in out/site; a link that leads nowhere fails.
site: $(STAMP)
	$(BIN)/mkdocs build --strict

# An environment that already has everything is taken as it is, without the network.
$(STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rushhour needs Python 3.11 or newer; try make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python tests/installed.py || $(BIN)/python -m pip install --disable-pip-version-check --quiet -e '.[dev]'
	@rm -f $(VENV)/.installed-*
	@touch $@

clean:
	rm -rf $(VENV) build dist out *.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
