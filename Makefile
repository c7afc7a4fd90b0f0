# make demo       a tour of dpsql on a made-up hospital, in a few seconds once .venv stands
# make demo-postgres   the same tour with the hospital in PostgreSQL, by a server of its own
# make demo-spark      the same on Spark Connect, by a Sail server of its own; SAIL_WORKERS=2 makes it a cluster
# make test       everything but what is marked slow; make test-slow runs that too, from a fresh SEED that it prints, and
#                 looks whether queries became slower beside their raw queries than docs/benchmarks.md says. Of a few
#                 sweeps that take many minutes SEED chooses a part; TURN=all asks all of them (see tests/turns.py)
# make test-doors real clients at the doors of a server, which it installs where it may, and skips where they are missing;
#                 and the commands of README.md and of other pages as a reader types them
# make test-spark what test-doors asks of Sail, asked of Apache Spark 4: it installs that beside .venv (400 MB), and needs Java 17
# make check      formatting, lint, types, the layers and sizes of the house, and the chance that make test fails for nothing
# make bench      the timings in docs/, with the machine and commit they were made on
# make schema     writes anew what is generated: the policy's JSON Schema, docs/functions.md, docs/reference.md, dpsql/ROOMS.md
# make wheel      the package, in dist/: the same bytes whenever and wherever it is made of one commit
# make lock       what .ci/run installs, written anew with hashes, and the bill of materials, .ci/bom.cdx.json
# make docs       the pages as a site, in .site/html; it fails on a link that leads nowhere
PYTHON ?= python3
BIN := .venv/bin
SEED := $(strip $(or $(SEED),$(shell od -An -N4 -tu4 /dev/urandom)))
TURN ?= $(SEED)
ASK := XDG_STATE_HOME=$(CURDIR)/.demo/state $(BIN)

unexport PYTHONDONTWRITEBYTECODE  # the tests start hundreds of processes: none shall compile all modules anew

.PHONY: demo demo-postgres demo-spark test test-slow test-doors test-spark check bench schema wheel lock docs

demo: .venv/installed
	@rm -rf .demo && mkdir .demo && cp policies/hospital.yaml .demo/
	@$(BIN)/python examples/hospital.py .demo/hospital.duckdb
	@$(ASK)/python examples/tour.py .demo/hospital.yaml
	@printf '\nYour turn:\n    %s\n' '$(ASK)/dpsql query .demo/hospital.yaml "SELECT ..." --analyst ana'

demo-postgres: .venv/installed-postgres
	@rm -rf .demo && mkdir .demo && cp policies/hospital.yaml .demo/
	@$(BIN)/python examples/hospital.py .demo/hospital.duckdb
	@$(ASK)/python examples/postgres.py .demo

demo-spark: .venv/installed-sail
	@rm -rf .demo && mkdir .demo && cp policies/hospital.yaml .demo/
	@$(BIN)/python examples/hospital.py .demo/hospital.duckdb
	@$(ASK)/python examples/spark.py .demo

test test-slow: check
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder $(if $(filter test,$@),-m "not slow and not doors",-m "not doors" --hypothesis-seed=$(SEED) --turn=$(TURN) --durations=25)
	$(if $(filter test-slow,$@),$(BIN)/python bench/speed.py --check --rounds 7)

test-doors: .venv/installed-doors
	sh tests/doors/install
	$(BIN)/python -m pytest -q -m doors tests

test-spark: .venv/installed-doors
	test -x .venv/apache/bin/pip || $(PYTHON) -m venv .venv/apache
	.venv/apache/bin/pip install --quiet --disable-pip-version-check 'pyspark[connect]>=4.3,<5'
	SPARK_HOME=$$(echo .venv/apache/lib/*/site-packages/pyspark) && \
	SPARK_HOME=$(CURDIR)/$$SPARK_HOME $(BIN)/python -m pytest -q -m doors tests/doors -k "spark or cluster"

check: .venv/installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.house && $(BIN)/python -m tests.false_alarms

bench: .venv/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	set -e; for script in bench/*.py; do $(BIN)/python $$script; done

schema: .venv/installed
	$(BIN)/dpsql schema > schemas/policy.schema.json
	$(BIN)/python -m dpsql.plan.functions > docs/functions.md
	$(BIN)/python -m tests.reference > docs/reference.md
	$(BIN)/python -m tests.rooms > dpsql/ROOMS.md

wheel:
	rm -rf .source && mkdir .source && git archive HEAD | (umask 022 && tar -x --no-same-permissions -C .source)
	umask 022 && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --wheel --outdir dist .source
	rm -rf .source

lock: .venv/installed-test
	.ci/lock

docs: .venv/installed-docs
	$(BIN)/python docs/site.py .site
	cd .site && $(CURDIR)/$(BIN)/python -m zensical build --clean --strict

.venv/installed .venv/installed-postgres .venv/installed-sail .venv/installed-test .venv/installed-doors .venv/installed-docs: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dpsql needs Python 3.11 or newer: make PYTHON=python3.12")'
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.$(patsubst installed-%,[%],$(filter installed-%,$(@F)))' && touch $@
