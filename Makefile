# Everything a developer does, one target each. `make` prints them.
# Variables: LINKLET_PORT (local system, default 4566), WATCH_PORT (make watch, default 9000), STARTAPI_PORT (make startapi,
# default 3000), PYTHON (default python3).

PYTHON ?= python3
WATCH_PORT ?= 9000
LINKLET_PORT ?=

LINKLET := $(PYTHON) -m infra.local
TOOLS := .linklet/tools
EMULATOR_PYTHON := $(TOOLS)/emulator/bin/python
SAM_PYTHON := $(TOOLS)/sam/bin/python
SAM := SAM_CLI_TELEMETRY=0 $(TOOLS)/sam/bin/sam
CARGO_DENY := $(TOOLS)/cargo-deny/bin/cargo-deny --locked
CARGO_LAMBDA := PATH="$(CURDIR)/$(TOOLS)/cargo-lambda/bin:$$PATH" cargo lambda
FUNCTIONS := $(sort $(notdir $(patsubst %/Cargo.toml,%,$(wildcard functions/*/Cargo.toml))))

# A value as one word of the shell, and each word of a list: operators paste what others have sent them. What make itself reads as a
# variable, such as $(shell …), it has expanded before.
quoted = '$(subst ','\'',$(1))'
each_quoted = $(foreach word,$(1),$(call quoted,$(word)))

# Tests run in threads, of which each has 2 MB without it. The functions run in the main thread, which has 8 MB.
export RUST_MIN_STACK := 8388608

.DEFAULT_GOAL := help
.PHONY: help up down url logs mails demo seed watch startapi check test test-long suites schedules upgrade fmt lint bins unit integration conformance localstack template calculator \
	document clients web-check tools e2e e2e-sam browser screenshots deny fuzz bench bench-trial simulate units routes cost dlq redrive reconcile restore who suspend unsuspend invite oidc reset close-account export forget package release deploy smoke configure rollback page verify clean

help: ## print this
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# ---------------------------------------------------------------------------------------------------------- Local system

up: ## build, start and deploy on this machine; again after a change
	@$(LINKLET) up $(if $(LINKLET_PORT),--port $(call quoted,$(LINKLET_PORT)))

down: ## stop it; its data is gone
	@$(LINKLET) down

url: ## print the API's base URL
	@$(LINKLET) url

logs: ## follow the logs of the functions, and the emulator's warnings
	@$(LINKLET) install emulator
	@$(EMULATOR_PYTHON) -m infra.local.functions logs

mails: ## print the mails that the local system has sent, which stay on this machine
	@$(LINKLET) mails

demo: ## take the five-minute tour (API_URL=… for another system)
	@$(if $(API_URL),,$(LINKLET) run) $(PYTHON) -m infra.local.demo

seed: ## fill a workspace with LINKS links (default 1000), of which some have CLICKS clicks (default 900) together
	@$(LINKLET) install sam
	@$(if $(API_URL),,$(LINKLET) run) $(SAM_PYTHON) -m infra.local.seed $(if $(LINKS),--links $(call quoted,$(LINKS))) $(if $(CLICKS),--clicks $(call quoted,$(CLICKS)))

# Functions are built and restarted as you edit them; tables, queues and secrets are those of the local system.
watch: ## serve the same routes from your working copy on WATCH_PORT (needs make up)
	@$(LINKLET) install emulator cargo-lambda
	@$(EMULATOR_PYTHON) -m infra.local.functions env --public-base-url http://127.0.0.1:$(call quoted,$(WATCH_PORT)) > .linklet/watch.env
	$(CARGO_LAMBDA) watch --invoke-address 127.0.0.1 --invoke-port $(call quoted,$(WATCH_PORT)) --env-file .linklet/watch.env

# Needs Docker: see docs/local-sam.md. ENV_VARS is a file with the tables and secrets of a stack; without it, the local system's.
STARTAPI_PORT ?= 3000
ENV_VARS ?=

startapi: ## serve the API with `sam local start-api` on STARTAPI_PORT (needs make up, or ENV_VARS=…)
	@$(LINKLET) install sam
	@$(SAM_PYTHON) -m infra.local.startapi --port $(call quoted,$(STARTAPI_PORT)) $(if $(ENV_VARS),--env-vars $(call quoted,$(ENV_VARS)))

# ----------------------------------------------------------------------------------------------------------------- Tests

check: fmt document web-check lint unit ## formatting, clippy, unit tests, OpenAPI document, web application: what to run while editing

SIDE_BY_SIDE := --jobs $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

# Each with its budget in minutes.
test: ## all checks and tests but for those of test-long
	@.ci/step 9 $(MAKE) calculator tools template fmt document web-check lint $(SIDE_BY_SIDE)
	@.ci/step 1 $(MAKE) unit
	@.ci/step 2 $(MAKE) bins
	@.ci/step 6 $(MAKE) integration
	@.ci/step 12 $(MAKE) e2e

test-long: bench-trial suites schedules ## what takes long: bench-trial, suites, schedules

suites: ## targets that nothing else runs, load, an outage, a redeployment, each kind of registration, on a system of their own
	@$(LINKLET) e2e --long

# PROPTEST_CASES is for each of two processes.
PROPTEST_CASES ?= 1600

schedules: ## 3,200 random schedules of clicks, a job on 10,000 links, a workspace of as many that is closed
	@PROPTEST_CASES=$(call quoted,$(PROPTEST_CASES)) $(PYTHON) -m infra.run_tests --twice --test exactness
	@JOB_LINKS=5000 PURGED_CLICKS=200000 $(PYTHON) -m infra.run_tests --test pipeline -- jobs::a_rename closing::a_workspace_with_many \
	  purge::the_job_runner

# FROM is a commit whose stored forms are those of this one. See docs/testing.md.
upgrade: ## deploy this version over that of FROM while work is under way, and check that nothing is lost or counted twice
	$(if $(FROM),,$(error Say over which version: make upgrade FROM=<commit>))
	@$(LINKLET) install sam
	@$(SAM_PYTHON) -m infra.local.upgrade $(call quoted,$(FROM))

fmt: ## check the formatting
	cargo fmt --all --check

# Vulnerabilities are in a database on GitHub. Without it, a line says that they were not checked; DENY_ADVISORIES=required makes
# that a failure.
deny: ## check licences, versions, sources and known vulnerabilities of all crates
	@$(LINKLET) install cargo-deny
	$(CARGO_DENY) check --hide-inclusion-graph licenses bans sources
	@if $(CARGO_DENY) fetch db || [ "$$DENY_ADVISORIES" = required ]; then $(CARGO_DENY) check --hide-inclusion-graph advisories; \
		else echo "Vulnerabilities were NOT checked: RustSec's database can't be fetched." >&2; fi

# Libraries without unit tests, which need no test executable, nor to be checked as one.
UNTESTED = $(shell awk '/^\[/ { library = $$0 == "[lib]" } library && $$0 == "test = false" { print FILENAME }' \
	$(wildcard functions/*/Cargo.toml shared/*/Cargo.toml tests/*/Cargo.toml))

LINTED := --workspace --lib --bins --tests --examples

# Where Clippy is the compiler anyway (.ci/run), it also builds what the tests run.
lint: ## clippy, warnings are errors
	@! grep -rnE '#\[(cfg\()?(tokio::)?test\b|proptest!' $(addsuffix src,$(dir $(UNTESTED))) || \
		{ echo 'These tests are never run: take `test = false` from the Cargo.toml of their library.' >&2; exit 1; }
	cargo $(if $(RUSTC_WORKSPACE_WRAPPER),build $(LINTED),clippy $(LINTED) -- -D warnings)

# With the tests beside it, what is deployed has dependencies with features that it lacks alone.
bins: ## check that what is deployed compiles without the tests
	cargo check --quiet --bins $(addprefix --package ,$(FUNCTIONS))

# `--lib` would build them, whatever Cargo.toml says. What isn't excluded needs the functions that are, so all dependencies keep their features.
unit: ## unit tests
	@$(PYTHON) -m infra.run_tests $(patsubst functions/%/Cargo.toml,--exclude %,$(filter functions/%,$(UNTESTED))) --lib --bin bench

# With SCHEDULES=later, the random schedules are left to `make schedules`.
INTEGRATION := tables routes pipeline operations fetch trial logs log-forgery runtime fuzz $(if $(filter later,$(SCHEDULES)),,exactness)

integration: ## tests against a real DynamoDB, and of whole executables
	@$(PYTHON) -m infra.run_tests $(addprefix --test ,$(INTEGRATION))

# Needs a JDK 17 or later and Maven; without them, a line says so. DYNAMODB_ENDPOINT names another DynamoDB.
conformance: ## the integration tests against AWS's DynamoDB Local (TESTS=… for some, SKIP=… without some, DYNAMODB_ENDPOINT=… for another)
	@$(PYTHON) -m infra.conformance $(call each_quoted,$(TESTS) $(addprefix --skip=,$(SKIP)))

# Needs Python 3.12 or 3.13, and what `make conformance` needs; without them, a line says so.
localstack: ## the integration tests on LocalStack's DynamoDB, SQS and SNS (TESTS=… for some, SKIP=… without some)
	@$(PYTHON) -m infra.conformance --localstack $(call each_quoted,$(TESTS) $(addprefix --skip=,$(SKIP)))

document: ## check docs/openapi.yaml, that generators understand it, and that the web application has all of it
	@$(LINKLET) install contract
	@$(TOOLS)/contract/bin/openapi-spec-validator docs/openapi.yaml
	@$(TOOLS)/contract/bin/python -m unittest discover --quiet --start-directory infra/contract --top-level-directory .
	@$(TOOLS)/contract/bin/python -m infra.contract.document
	@$(TOOLS)/contract/bin/python -m infra.contract.application

# Go 1.21, JDK 17 with Maven, Node.js 18: what is missing is left out, and a line says so. CLIENTS=required makes that a failure.
clients: ## make clients of the OpenAPI document with four generators, compile and try them (needs make up, or API_URL=…; CLIENT=… for some)
	@$(LINKLET) install contract
	@$(if $(API_URL),,$(LINKLET) run) $(TOOLS)/contract/bin/python -m infra.contract.clients $(call each_quoted,$(CLIENT))

# Needs Node.js 18 or later with npm; without them, a line says so. WEB_CHECK=required makes that a failure.
web-check: ## check the types of the web application, and what of it needs no browser
ifneq (,$(shell command -v npm))
	@$(LINKLET) install node
	@node $(TOOLS)/node/node_modules/typescript-native/bin/tsc --project functions/web/tsconfig.json
	@node --test --test-concurrency=4 --test-reporter=dot functions/web/tests/*.test.mjs
else
	@echo 'The web application was not checked: Node.js with npm is missing.' >&2; [ "$$WEB_CHECK" != required ]
endif

template: ## check template.yaml, its child stack, and the stack in front of it
	@$(LINKLET) install sam
	$(SAM) validate --lint --config-env local
	$(TOOLS)/sam/bin/cfn-lint infra/observability.yaml
	$(TOOLS)/sam/bin/cfn-lint --regions us-east-1 -- infra/edge.yaml

calculator: ## check the arithmetic of make cost, and the amounts in docs/costs.md, docs/linkwatch.md and docs/scale.md
	$(PYTHON) -m unittest discover --start-directory infra/costs --top-level-directory .

tools: ## check what the local system's tools do to a template, a connection or a list of containers, and what operators' do
	@$(LINKLET) install sam
	$(SAM_PYTHON) -m unittest discover --start-directory infra/local --top-level-directory .
	$(SAM_PYTHON) -m unittest $(patsubst infra/%.py,infra.%,$(wildcard infra/test_*.py))

e2e: ## end-to-end tests on a system of their own, with those in a browser (API_URL=… for another)
	@$(LINKLET) e2e

# Both need a Chromium: one that is installed, or CHROMIUM=/path/to/it. Without one, `make browser` says so; BROWSER=required makes
# that a failure.
browser: ## the end-to-end tests of the web application in a browser only
	@$(LINKLET) e2e --test browser

SCREENSHOTS ?= .linklet/screenshots

screenshots: ## make pictures of each page of the web application in SCREENSHOTS (needs make up, or API_URL=…; PICTURES=… for some)
	@$(if $(API_URL),,$(LINKLET) run) $(PYTHON) -m infra.browser screenshots $(call each_quoted,$(abspath $(SCREENSHOTS)) $(PICTURES))

e2e-sam: ## take the tour through `sam local start-api`, on a system of its own; left out without Docker
	@$(LINKLET) install sam
	@$(SAM_PYTHON) -m infra.local.startapi --tour

# TARGET is a folder in tests/fuzz/corpus. The flags are those of cargo fuzz, which needs a nightly toolchain; these are stable.
# What is found lands in the target's corpus, and so in `make integration`.
TARGET ?=
SECONDS ?= 60
TRIPLE := $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')
FUZZED := $(notdir $(wildcard tests/fuzz/corpus/*))
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares

fuzz: ## look for inputs that break TARGET, for SECONDS (default 60)
	$(if $(filter $(FUZZED),$(subst $() ,|,$(TARGET))),,$(error Say which: make fuzz TARGET=$(subst $() ,|,$(FUZZED))))
	@mkdir -p target/fuzz/corpus/$(TARGET)
	FUZZ_TARGET=$(TARGET) RUSTFLAGS="$(FUZZ_FLAGS)" cargo run --quiet --profile fuzz --target $(TRIPLE) --target-dir target/fuzz \
		--package linklet-fuzz --features libfuzzer --bin fuzz -- -max_total_time=$(call quoted,$(SECONDS)) -timeout=10 -max_len=4096 \
		-dict=tests/fuzz/words.dict -artifact_prefix=tests/fuzz/corpus/$(TARGET)/ \
		target/fuzz/corpus/$(TARGET) tests/fuzz/corpus/$(TARGET)

# SUBJECTS names some, such as noop,redirect-hot-link; VARIANTS adds other builds of redirect; AGAINST is a commit whose counting is
# compared with this one's, and nothing else. See tests/bench/README.md.
PROFILE ?= release
BENCHED := redirect shorten list stats auth linklet-bench-baselines
# Of these, pages, questions and bulk requests are measured, and that takes no long build.
ASKED := list overview shorten stats

bench: ## compare redirect with an empty Lambda and with Node and Python, and measure counting
	$(if $(filter pages questions bulk,$(SUBJECTS))$(AGAINST),,cargo build --profile $(call quoted,$(PROFILE)) $(addprefix --package ,$(BENCHED)))
	cargo build --profile measure $(addprefix --package ,linklet-bench $(if $(AGAINST),,$(ASKED)))
	$(if $(AGAINST),$(PYTHON) -m infra.against $(call quoted,$(AGAINST)),PYTHON=$(PYTHON) "$${CARGO_TARGET_DIR:-target}/measure/bench" \
		--profile $(call quoted,$(PROFILE)) --subjects $(call quoted,$(SUBJECTS)) --variants $(call quoted,$(VARIANTS)) \
		--invocations $(call quoted,$(INVOCATIONS)) --starts $(call quoted,$(STARTS)))

# The numbers mean nothing, so what `make integration` has built is enough: with `--test`, dependencies have the features of tests.
bench-trial: ## try that everything in make bench can be measured: a hundredth of everything; part of make test-long
	cargo build --workspace --bins --test logs
	PYTHON=$(PYTHON) "$${CARGO_TARGET_DIR:-target}/debug/bench" --profile debug --trial yes

# TRACES names some, such as viral. See docs/scale.md.
TRACES ?=

simulate: ## play floods that no machine can make, in simulated time, and check every count (TRACES=… for some)
	cargo build --profile measure --package linklet-simulate
	@$(PYTHON) -m infra.simulate $(call each_quoted,$(TRACES))

# The tests that compare what they measure with infra/costs/units.json write it there instead; then pages.py puts what the
# calculator makes of it into the documents.
units: ## measure what make cost computes with, and write it down with what follows from it
	WRITE_UNITS=yes cargo test --workspace --test pipeline --test operations --test logs the_calculator_
	$(PYTHON) -m infra.costs.pages

routes: ## write the routes where `make watch` finds them, and the operations where requests are compared with them
	WRITE_ROUTES=yes cargo test --workspace --test routes watch_and_requests

# Inputs are taken from the command line only: some of these names are in many a shell's environment. See docs/costs.md.
COST_INPUTS := CLICKS LINKS LIMITED UNLOCKS RENAMED REPORTS LOGINS TARGETS WORKSPACE_TARGETS VIEWS HOT PEAK MONTHS MAX_CONCURRENCY LOG_DAYS LOG_LEVEL MONITORING TRACING \
	ACCESS_LOG CLICK_DAYS CLICK_RECOVERY EDGE FREE_TIER PRICES ASSUMPTIONS

cost: ## compute what a month with CLICKS and LINKS costs (default 1000000 and 10000)
	@$(PYTHON) -m infra.costs $(foreach input,$(COST_INPUTS),$(if $(filter command,$(origin $(input))),$(input)=$(call quoted,$($(input)))))

# ------------------------------------------------------------------------------------------------------------ Operations
# QUEUE is analytics, notify or relay; for make dlq also ticks. The local system is meant unless you
# say STAGE=aws. See infra/runbooks/redrive.md.

IN_STAGE = $(if $(filter aws,$(STAGE)),,$(LINKLET) run)

dlq: ## show what is in QUEUE's dead-letter queue, or delete its message DELETE
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.redrive show $(call each_quoted,$(QUEUE)) $(if $(DELETE),--delete $(call quoted,$(DELETE)))

redrive: ## process QUEUE's dead-letter queue again
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.redrive redrive $(call each_quoted,$(QUEUE))

# CODE is a link's short code, WORKSPACE (on the command line, since Jenkins has one) the slug of a workspace of which all links are meant; AFTER is printed while they are recounted.
# REPAIR=yes puts right what differs. See infra/runbooks/reconcile.md.
GIVEN_WORKSPACE = $(if $(filter command,$(origin WORKSPACE)),$(WORKSPACE))

reconcile: ## recount CODE, or all links of WORKSPACE, from raw clicks and report differences
	$(if $(CODE)$(GIVEN_WORKSPACE),,$(error Say which: make reconcile CODE=abc1234, or WORKSPACE=… for all of its links))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.operate $(if $(CODE),reconcile $(call quoted,$(CODE)),reconcile-workspace $(call quoted,$(GIVEN_WORKSPACE)) \
		$(if $(AFTER),--after $(call quoted,$(AFTER)))) $(if $(filter yes,$(REPAIR)),--repair)

# TABLE is links, stats or users, AT a time such as 2026-11-29T14:07:00Z. With CONFIRM=yes, nobody is asked. See infra/runbooks/restore.md.
restore: ## bring back what TABLE lacks of what it had AT a time (WORKSPACE=… for one workspace)
	$(if $(and $(TABLE),$(AT)),,$(error Say what and when: make restore TABLE=links AT=2026-11-29T14:07:00Z))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.restore $(call quoted,$(TABLE)) $(call quoted,$(AT)) $(if $(GIVEN_WORKSPACE),--workspace $(call quoted,$(GIVEN_WORKSPACE)))

# What is suspended stands on the command line, since many a shell has a HOST. See infra/runbooks/abuse.md.
SCOPE = $(foreach name,CODE HOST WORKSPACE,$(if $(filter command,$(origin $(name))),--$(name) $(call quoted,$($(name)))))

who: ## say whose link CODE is, and which other links lead to its host
	$(if $(CODE),,$(error Say which link: make who CODE=abc1234))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.operate who $(call quoted,$(CODE))

suspend: ## suspend the link CODE, all links to HOST or all of WORKSPACE, for a REASON: abuse, legal or other
	$(if $(REASON),,$(error Say what and why: make suspend CODE=abc1234 REASON=abuse, or legal, or other))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.operate suspend $(SCOPE) --reason $(call quoted,$(REASON))

unsuspend: ## let lead again what `make suspend` has suspended: CODE, HOST or WORKSPACE
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.operate unsuspend $(SCOPE)

# EMAIL is taken from the command line only, since it is in many a shell's environment. See infra/runbooks/people.md.
invite: ## let EMAIL register, and print the address of the page for it
	$(if $(filter command,$(origin EMAIL)),,$(error Say whom: make invite EMAIL=ada@example.com))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.operate invite "$$EMAIL"

oidc: ## ask for the client secrets of identity providers, and print the addresses to which these send people back
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.oidc

# With RECLAIM=yes you vouch that the address is theirs, and what others may have made in the account is paused.
reset: ## let EMAIL set a new password, and print the address of the page for it
	$(if $(filter command,$(origin EMAIL)),,$(error Say whose: make reset EMAIL=ada@example.com))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.operate reset "$$EMAIL" $(if $(filter yes,$(RECLAIM)),--reclaim)

close-account: ## close the account of EMAIL, and end what it has
	$(if $(filter command,$(origin EMAIL)),,$(error Say whose: make close-account EMAIL=ada@example.com))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.operate close-account "$$EMAIL"

# For whoever can't sign in. FILE is taken from the command line only, too. With CONFIRM=yes, make forget asks nobody.
export: ## write what is stored about the person with EMAIL to FILE, or export-<id>.json
	$(if $(filter command,$(origin EMAIL)),,$(error Say whose: make export EMAIL=ada@example.com))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.operate export "$$EMAIL" $(if $(filter command,$(origin FILE)),--file $(call quoted,$(FILE)))

forget: ## end the account of EMAIL for good, as its person can
	$(if $(filter command,$(origin EMAIL)),,$(error Say whose: make forget EMAIL=ada@example.com))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.operate forget "$$EMAIL"

# Always builds: what lies in target/lambda may be a debug build, or for another processor.
package: ## build all functions for release, for arm64
	@$(LINKLET) install cargo-lambda
	rm -rf target/lambda
	$(CARGO_LAMBDA) build --release --arm64

release: package ## make dist/linklet-<version>, which is deployed without a toolchain
	@$(PYTHON) -m infra.release

# DEPLOY_FLAGS go to sam, e.g. --no-confirm-changeset or --parameter-overrides MailSender=links@example.com. RELEASE is a folder with
# what was built elsewhere. With CHECKS=ignored, the account isn't asked whether the deployment fits. See docs/deploying.md.
deploy: ## deploy to AWS, with your profile and region: RELEASE=dist/…, or what this builds
	@$(LINKLET) install sam
	@$(SAM_PYTHON) -m infra.deploy $(DEPLOY_FLAGS)

smoke: ## take the tour of make demo at URL, with an account that is closed again
	$(if $(URL),,$(error Say where: make smoke URL=https://go.example.com))
	@$(LINKLET) install sam
	@API_URL=$(call quoted,$(URL)) $(SAM_PYTHON) -m infra.local.demo

# PARAMETERS are Name=Value, separated by spaces.
configure: ## change PARAMETERS of the deployed stack, without a build
	$(if $(PARAMETERS),,$(error Say which: make configure PARAMETERS="LogLevel=debug RedirectLimitPerMinute=30"))
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.configure configure $(call each_quoted,$(PARAMETERS))

rollback: ## bring back the template and the packages of the deployment before, without a build; parameters stay
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.configure rollback

page: ## set off an alarm of the deployed stack, to see that somebody is paged
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.page

verify: export RELEASE := $(or $(RELEASE),$(if $(filter aws,$(STAGE)),,target/local))
verify: ## compare the stack with the template and the packages here, and look at alarms and dead-letter queues (RELEASE=dist/… for another template)
	@$(LINKLET) install sam
	@$(IN_STAGE) $(SAM_PYTHON) -m infra.verify

clean: ## stop it, and remove all that was built or installed
	@$(LINKLET) down --all
	rm -rf .linklet .aws-sam dist target
