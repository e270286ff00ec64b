# All that a developer or CI runs. `make` alone prints the targets.
#
# The repository holds several modules: the library at the root, and others for what its users must not download.
# A target that goes through modules takes those whose go.mod is there, goes on after a failure and fails at the end.

BROKERS := $(patsubst %/go.mod,%,$(wildcard internal/*/go.mod bench/go.mod chaos/go.mod examples/go.mod test/go.mod))
MODULES := . $(BROKERS)

RUN      ?= .
FUZZTIME ?= 10s
COUNT    ?= 10
TIMEOUT  ?= 10m
RACE     := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
GOTEST    = go test $(RACE) -shuffle=on -timeout=$(TIMEOUT)
TOOL     := go tool -modfile=$(CURDIR)/tools/go.mod

# each,<modules>,<commands>: the commands run in the folder of each module.
define each
@failed=; for m in $(1); do echo "== $$m"; (cd $$m && $(2)) || failed="$$failed $$m"; done; \
if [ -n "$$failed" ]; then echo "make $@ failed in:$$failed" >&2; exit 1; fi
endef

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## watch it work: the quickstart on an embedded broker
	@cd examples && go run ./quickstart

# Modules that start brokers test one package at a time, so that the brokers of two do not share the cores. The tests of test/ share
# brokers and mostly wait, so that more of them run at once than there are cores.
.PHONY: test
test: note-race note-kafka ## vet and test all modules, on real Kafka too where Java and Maven are installed
	$(call each,$(MODULES),s=0; go vet ./... || s=1; $(GOTEST) $$([ $$m = . ] || echo -p=1) $$([ $$m != test ] || echo -parallel=6) ./... || s=1; exit $$s)

.PHONY: repeat
repeat: ## run all tests COUNT times (10), each in another order, and stop at the first failure
	@i=0; while [ $$i -lt $(COUNT) ]; do i=$$((i+1)); echo "== run $$i of $(COUNT)"; $(MAKE) --no-print-directory test || exit 1; done

.PHONY: test-short
test-short: note-race ## vet and test the library alone, no broker
	@go vet ./... && $(GOTEST) ./...

.PHONY: note-race
note-race:
	@[ -n "$(RACE)" ] || echo "note: no C compiler, so the tests run without the race detector: install gcc"

# internal/kafkatest decides in the same way; a test that is skipped says nothing by itself.
.PHONY: note-kafka
note-kafka:
	@[ "$$EVENKEEL_KAFKA" = off ] || { command -v "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" && command -v mvn; } >/dev/null || \
	echo "note: the real-Kafka suites do not run: install Java 17 and Maven (Debian: apt-get install openjdk-17-jre-headless maven)"

.PHONY: bench
bench: ## print the figures, one a line; RUN=regexp picks some
	@cd bench && go run . -run '$(RUN)'

# Each run appends to what was measured before, and the page shows the latest of each row.
.PHONY: bench-report
bench-report: ## measure all figures (about three hours), or those that match RUN=regexp, and write docs/benchmarks.md
	@mkdir -p docs/benchmarks
	@cd bench && s=0; go run . -run '$(RUN)' -results ../docs/benchmarks/results.jsonl || s=1; go run . -describe | go run ./report -now - && exit $$s

.PHONY: pictures
pictures: ## draw what planned changes do to running tasks, into docs/moves
	@cd bench && go run . -pictures ../docs/moves

.PHONY: bench-page
bench-page: ## write docs/benchmarks.md anew of what was measured
	@cd bench && go run . -describe | go run ./report -now -

# The laboratory's options: SEED=n MINUTES=n NEMESIS=regexp, and HOURS=n for the soak.
SEED    ?= 0
MINUTES ?= 3
HOURS   ?= 1
LAB      = cd chaos && go run . -seed $(SEED) -nemesis '$(NEMESIS)'

.PHONY: chaos
chaos: ## break a real cluster and its members for MINUTES (3), and check what is promised; SEED=n repeats a run
	@$(LAB) -minutes $(MINUTES)

.PHONY: soak
soak: ## the same for HOURS (1) at a slower pace, with memory, goroutines and descriptors plotted
	@$(LAB) -soak $(HOURS)

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (10s)
	$(call each,$(MODULES),$(CURDIR)/tools/fuzz $(FUZZTIME))

.PHONY: cover
cover: ## test the library and print what its tests do not reach
	@go test -coverpkg=./... -coverprofile=cover.out ./... && go tool cover -func=cover.out

.PHONY: lint
lint: ## report faults of form and style (the first time it builds the linter, about 2 minutes)
	$(call each,$(MODULES),$(TOOL) golangci-lint run ./...)

.PHONY: fmt
fmt: ## format all files in place
	$(call each,$(MODULES),$(TOOL) golangci-lint fmt ./...)

.PHONY: tidy-check
tidy-check: ## fail where a go.mod or go.sum is not tidy
	$(call each,$(MODULES) tools,go mod tidy -diff)

.PHONY: vuln
vuln: ## look the library's dependencies up in the Go vulnerability database
	@$(TOOL) govulncheck ./...

.PHONY: tools
tools: ## build the pinned tools into bin/, for an editor
	@cd tools && GOBIN=$(CURDIR)/bin go install tool

.PHONY: clean
clean: ## remove what was built
	rm -rf bin cover.out
