# Each target sets up what it needs. The environment is .venv; nothing else is installed but Java, where it is missing.
.DEFAULT_GOAL := help
.PHONY: demo test test-spark-versions check soak lint wheel lock clean help
.DELETE_ON_ERROR:

BIN := .venv/bin
READY := .venv/ready
PYTEST := $(BIN)/pytest -n 2 --dist loadgroup

demo: $(READY) ## run the main job on local Spark and show the result
	@scripts/with-java $(BIN)/wherecast demo

test: $(READY) ## run all tests (finds or installs Java)
	scripts/with-java $(PYTEST)

test-spark-versions: ## run the Spark tests on the oldest and newest PySpark, and on Connect
	scripts/test-spark-versions

check: $(READY) ## run the fast tests, without Java
	$(PYTEST) -m "not spark and not slow"

soak: $(READY) ## run the long fault and load tests, about an hour, and print what was met (needs Java)
	scripts/with-java $(PYTEST) -m soak -rA

lint: $(READY) ## check style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

wheel: $(READY) ## build the wheel into dist/
	$(BIN)/python -m build --wheel --no-isolation --outdir dist

lock: $(READY) ## pin all dependencies anew in requirements.lock
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --upgrade --generate-hashes \
		--fork-strategy fewest --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		--quiet --output-file requirements.lock

clean: ## remove the environment, what was built and the caches
	rm -rf .venv .venvs dist build .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache

help: ## show these targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26

$(READY): requirements.lock pyproject.toml
	@scripts/setup-env
	@touch $@
