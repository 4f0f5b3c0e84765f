# Everything a person or CI runs. `make help` lists it; the logic lives in scripts/ and in management commands.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PORT ?= 8000
DEMO_DIR ?= .local
PY := .venv/bin/python

export PORT DEMO_DIR

.PHONY: help setup demo demo-stop ask test lint format typecheck messages lock docs bench

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: ## install what is missing and make .venv
	@scripts/setup.sh

demo: ## start everything with sample data; Ctrl-C stops it (PORT, DEMO_DIR, SUPERBIZ_*)
	@scripts/setup.sh
	@exec $(PY) manage.py demo --port "$(PORT)" --dir "$(DEMO_DIR)"

demo-stop: ## stop a demo from elsewhere (DEMO_DIR)
	@$(PY) manage.py demo --stop --dir "$(DEMO_DIR)"

ask: ## ask the running demo: make ask Q="订单支付超时，帮我排查"
	@$(PY) manage.py ask --dir "$(DEMO_DIR)" -- "$(Q)"

test: ## install what the tests need and run the whole suite
	@scripts/setup.sh --tests
	@$(PY) -m pytest

lint: ## style, layers, types, spelling, templates
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@.venv/bin/lint-imports
	@$(PY) -m mypy .
	@.venv/bin/codespell README.md CHANGELOG.md CONTRIBUTING.md docs deploy diagnosis/prompts chat/prompts templates
	@.venv/bin/djhtml --check templates

format: ## rewrite code and templates in the project's style
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .
	@.venv/bin/djhtml templates

typecheck: ## types alone
	@$(PY) -m mypy .

messages: ## collect and compile translations
	@$(PY) manage.py makemessages --locale zh_Hans --ignore '.venv' --ignore '.local*' --no-location
	@$(PY) manage.py compilemessages --locale zh_Hans --ignore '.venv' --verbosity 0

lock: ## pin every dependency with its hashes
	@.venv/bin/uv pip compile --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-strip-extras \
		requirements.in -o requirements.txt --quiet
	@.venv/bin/uv pip compile --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-strip-extras \
		-c requirements.txt requirements-dev.in -o requirements-dev.txt --quiet

docs: ## write docs/settings.md from the settings' models
	@$(PY) manage.py settings --markdown > docs/settings.md

bench: ## timings, as ratios measured side by side
	@for script in benchmarks/[a-z]*.py; do $(PY) "$$script" || exit 1; done
