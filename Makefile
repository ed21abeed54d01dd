.POSIX:
.PHONY: bench bench-quick clean conformance demo docs help lint live matrix serve setup soak test types

BIN = .venv/bin
# Development mode warns of what is left open or never awaited. Its memory allocator looks for faults of C code, at twice
# the time, and is left out.
PYTEST = PYTHONMALLOC=pymalloc $(BIN)/python -X dev -m pytest
STAMP = .venv/.set-up
PORT = 8000

help:
	@echo "make setup   a virtual environment in .venv with everything the other targets need"
	@echo "make demo    the example site, called by the official MCP client"
	@echo "make serve   the example site on port $(PORT), with configuration for MCP clients (PORT=... for another)"
	@echo "make test    the test suite"
	@echo "make live    the tests that start real servers, called by Python and TypeScript clients"
	@echo "make soak    ten thousand calls with injected failures; nothing may be lost or left behind"
	@echo "make conformance   the official conformance suite"
	@echo "make matrix  the test suite on the newest Python and Django"
	@echo "make bench-quick   the cost of a request beside a view written by hand, in this process (half a minute)"
	@echo "make bench   the same over HTTP, beside other packages, on three servers; growth (ten minutes)"
	@echo "make lint types docs"

setup: $(STAMP)

$(STAMP): pyproject.toml
	@sh tools/venv.sh .venv
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(STAMP)

test: $(STAMP)
	$(PYTEST) --cov --cov-report=term

live: $(STAMP)
	$(PYTEST) -m live tests/live

soak: $(STAMP)
	@$(BIN)/python -X dev -m tests.soak.run

conformance: $(STAMP)
	@$(BIN)/python -m tests.conformance.run

bench-quick: $(STAMP)
	@$(BIN)/python -m benchmarks.quick

bench:
	@sh benchmarks/environments.sh .bench
	@.bench/own/bin/python -m benchmarks.growth
	@.bench/own/bin/python -m benchmarks.over_http .bench

matrix: $(STAMP)
	@sh tools/matrix.sh

demo: $(STAMP)
	@$(BIN)/python -m example_project.demo

serve: $(STAMP)
	@$(BIN)/python manage.py migrate --verbosity 0
	@$(BIN)/python manage.py seed
	@$(BIN)/python manage.py clients http://127.0.0.1:$(PORT)/mcp
	@exec $(BIN)/python manage.py runserver 127.0.0.1:$(PORT)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(STAMP)
	$(BIN)/mypy

docs: $(STAMP)
	$(BIN)/sphinx-build --fresh-env --fail-on-warning --keep-going --quiet -b html docs docs/_build/html

clean:
	rm -rf .bench tests/node/node_modules
	rm -rf .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .tox build dist docs/_build
	rm -f example_project/db.sqlite3
