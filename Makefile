# Each target sets up what it needs. The environment is .venv; nothing else is installed but Java, where it is missing.
.DEFAULT_GOAL := help
.PHONY: demo test test-release test-spark-versions check soak lint wheel lock clean help
.DELETE_ON_ERROR:

# Python keeps what it compiles, also where the caller's environment says otherwise: tests start hundreds of processes,
# which would each compile all that they import.
export PYTHONDONTWRITEBYTECODE :=

BIN := .venv/bin
READY := .venv/ready
PYTEST := $(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder
ARGS :=# further arguments of pytest, for instance ARGS="-x -k geo"
ONLY :=# one of the campaigns, which are the names that tests give to the marker `soak`
CAMPAIGNS := broker-kills flips full-disk-spark live-oracle live-oracle-spark match-one parser random-jobs server-kills server-kills-spark spark-kills

demo: $(READY) ## run the main job on local Spark and show the result
	@scripts/with-java $(BIN)/wherecast demo

test: $(READY) ## run the tests of every package, in minutes (finds or installs Java)
	scripts/with-java $(PYTEST) -m "not release" $(ARGS)

test-release: $(READY) ## run the tests that only a release needs: cluster, wheel, notebook, demo, S3, kills, more SQL jobs
	scripts/with-java $(PYTEST) -m release $(ARGS)

test-spark-versions: ## run the Spark tests on the oldest and newest PySpark, and on Connect
	scripts/test-spark-versions

check: $(READY) ## run the fast tests, without Java
	$(PYTEST) -m "not spark and not slow and not release" $(ARGS)

soak: $(READY) ## run the long campaigns, about an hour, and print what they met; or one of them: make soak ONLY=NAME
	@$(if $(filter-out $(CAMPAIGNS),$(ONLY)),echo "There is no campaign $(ONLY). The campaigns are: $(CAMPAIGNS)" >&2; exit 2)
	scripts/with-java $(PYTEST) -m soak -rA $(if $(ONLY),--campaign $(ONLY)) $(ARGS)

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
	@echo "Campaigns of make soak: $(CAMPAIGNS)"

$(READY): requirements.lock pyproject.toml
	@scripts/setup-env
	@touch $@
