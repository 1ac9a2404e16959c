# Two commands are all that a user needs: `make demo` and `make test`. Each does its own set-up.
.PHONY: demo test setup lint bench lock proto clean
PY := .venv/bin/python
WORKERS ?= auto

demo:
	@scripts/setup.sh base
	@$(PY) -m worldwright demo -o runs/demo

test: setup lint
	@$(PY) -m pytest -n $(WORKERS) --dist loadfile

setup:
	@scripts/setup.sh dev

lint: setup
	@$(PY) -m ruff format --check --quiet . && $(PY) -m ruff check --quiet .
	@$(PY) -m mypy

bench:
	@scripts/setup.sh bench
	@$(PY) benchmarks/all.py

lock: setup
	@scripts/lock.sh

proto: setup
	@cd src/worldwright/take && ../../../$(PY) -m grpc_tools.protoc -I. --python_out=. --pyi_out=. take.proto

clean:
	@rm -rf .venv .venv-bpy runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
