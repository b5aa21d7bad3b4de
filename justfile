# What a developer does here; `just` lists it. Every recipe is one command that also works without just.
python := ".venv/bin/python"

_list:
    @just --list

# Make the environment with everything for development.
setup:
    python3 -m venv .venv && .venv/bin/pip install -q -e '.[dev]'

# Show the main job on real notes.
demo:
    .venv/bin/vault-memory demo

# The default tests; `just test tests/files` runs some of them.
test *paths:
    {{python}} -m pytest {{paths}}

# The tests that take long.
test-slow *paths:
    {{python}} -m pytest -m slow {{paths}}

# Style, types and layers.
lint:
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/mypy
    .venv/bin/lint-imports

# Put the code into its one format.
format:
    .venv/bin/ruff check --fix .
    .venv/bin/ruff format .

# Write the generated pages anew.
docs:
    {{python}} scripts/generate_docs.py

# All that a change must pass, in a new environment.
ci:
    bash .ci/run
