# setup, run, test, lint, bench, docs: the whole interface. Everything is built in release mode, once, into .venv.
VENV := .venv
PY := $(VENV)/bin/python
PYTHON ?= python3
# Property tests draw the same cases every time; `make test SEED=7` draws others.
SEED ?= 1
SOURCES := $(shell find rust python -name '*.rs' -o -name '*.toml' -o -name '*.py' -o -name '*.pyi' 2>/dev/null) Cargo.toml Cargo.lock

# Modules that the lists of scores and searches declare by a macro, where `cargo fmt` does not see them.
LISTED := $(shell find rust/score rust/search rust/core -name '*.rs')

.PHONY: setup run test tests-built lint bench docs clean
setup: $(VENV)/.built

# What builds the package, and apart from it what tests and lints it: `make run` need not wait for that.
$(VENV)/.tools: pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade "pip>=25.1"
	$(PY) -m pip install --quiet --group build
	touch $@

$(VENV)/.checkers: pyproject.toml $(VENV)/.tools
	$(PY) -m pip install --quiet --group test --group lint
	touch $@

$(VENV)/.built: $(VENV)/.tools $(SOURCES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin develop --release --locked --quiet
	touch $@

run: setup
	$(PY) examples/learn.py

# A crate's rooms are tested in its own program, what the crates do together in that of arbornet-core; the readers, whose memory is
# counted, and the examples in the docs have their own.
CORE := $(patsubst %,-p arbornet-%,table model score search step1 core)

# What `test` runs of Rust, compiled.
tests-built:
	cargo test --locked $(CORE) --lib --no-run
	cargo test --locked -p arbornet-core --profile dev --test readers --no-run

test: setup $(VENV)/.checkers
	PROPTEST_RNG_SEED=$(SEED) cargo test --locked $(CORE) --lib
	PROPTEST_RNG_SEED=$(SEED) cargo test --locked -p arbornet-core --profile dev --test readers
	cargo test --locked $(CORE) --profile dev --doc
	$(PY) -m pytest --hypothesis-seed=$(SEED) -n 4 --dist loadfile

lint: setup $(VENV)/.checkers
	cargo fmt --all --check
	rustfmt --edition 2024 --check $(LISTED)
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(VENV)/bin/lint-imports --no-logo --no-cache
	$(PY) -m mypy
	$(PY) -m mypy.stubtest arbornet._core --concise --allowlist tests/stubtest-allowlist.txt

docs: setup
	$(PY) -m pip install --quiet --group docs
	$(PY) -m mkdocs build --strict --quiet

bench: setup
	cargo bench --locked -p arbornet-benches

clean:
	rm -rf target site $(VENV)
