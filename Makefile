# SPDX-License-Identifier: Apache-2.0
#
# `make` lists what there is. Everything here works on Debian 12 with a Swift 6.3 toolchain and nothing else:
# what is missing is installed by Scripts/dependencies, which says so.

SWIFT ?= swift
# Runs a command that leaves nothing in the folder for temporary files.
TIDILY := Scripts/tidily
# More arguments for `swift build` and `swift test`, such as `-j 2`. For some of the tests: swift test --filter JIDTests.
SWIFTFLAGS ?=
PREFIX ?= /usr/local
DESTDIR ?=
# Under the thread sanitizer all tests but those that only read sources, one after another: everything takes some ten times
# as long, and the time limits of the tests hold for one at a time. The programs that tests run are built with it too.
TSAN_SKIPPED ?= HouseTests
# Tests whose programs keep the whole machine busy run first, and by themselves: others would miss their time limits beside them.
HEAVY_TESTS := ^(XMPPTests\.(SweepTests|FloodTests)|IntegrationTests\.DaemonFaultTests)\b
# All at once would start a dozen servers beside hundreds of streams: real servers, the daemon and the streams have runs of their own.
DAEMON_TESTS := ^Jabber(Daemon|CLI)Tests\.
SERVER_TESTS := ^(IntegrationTests\.|XMPPTests\.(Real|NewerServer)[A-Za-z]*Tests\b)
# Which server `make demo` talks to: loopback (built in) or prosody.
SERVER ?= loopback
# `make sweep`: how far the places are apart at which clients are killed and connections are cut.
STEP ?= 1
# `make fuzz`: the most seconds and runs for each target (-1: as many as there is time for), a seed that makes a run the same
# everywhere (none: another one each time, on top of what earlier ones have found), and random trees to hold against expat.
TIME ?= 60
RUNS ?= -1
SEED ?=
TREES ?= 100000

.DEFAULT_GOAL := help
.PHONY: help build demo test sweep soak install uninstall deb examples format lint docs bench bench-check mutants tsan fuzz clean

help:
	@echo "make build              compile the library and the tools"
	@echo "make demo               see jabberctl at work against a built-in server (SERVER=prosody: a private Prosody)"
	@echo "make test               run every test, those on private Prosody and ejabberd servers included"
	@echo "make install PREFIX=P   release build, installed with man pages and shell completions (DESTDIR is honoured)"
	@echo "make uninstall PREFIX=P remove what install put there"
	@echo "make deb                build a Debian package, check it with lintian, install it into a folder and use it"
	@echo "make examples           build the example programs and run each against a built-in server"
	@echo "make format             lay out all Swift files"
	@echo "make lint               check the layout and the scripts"
	@echo "make docs               build the documentation into .build/docs"
	@echo "make bench              measure start-up and sessions (release builds)"
	@echo "make bench-check        count the instructions of a message and a contact: 3 % more than stored is a failure"
	@echo "make mutants            prove that each gate against hostile input has a test (hours; FILTER=WORD: some)"
	@echo "make tsan               run the tests under the thread sanitizer (half an hour on a small machine)"
	@echo "make fuzz TIME=60       feed every parser with made-up input, so many seconds each (RUNS=, SEED=: as .ci/run does)"
	@echo "make sweep STEP=1       kill a client at every system call and cut its connection at every byte (hours; STEP=64: less)"
	@echo "make soak TIME=3600     keep a daemon busy for so many seconds: it may not grow, nor use more files or time"
	@echo "make clean              remove everything that was built"

build:
	@Scripts/dependencies build
	$(TIDILY) $(SWIFT) build $(SWIFTFLAGS)

test:
	@Scripts/dependencies build test
	$(TIDILY) $(SWIFT) build --build-tests $(SWIFTFLAGS)
	$(TIDILY) $(SWIFT) test $(SWIFTFLAGS) --skip-build --filter '$(HEAVY_TESTS)' --skip DaemonFaultTests
	$(TIDILY) $(SWIFT) test $(SWIFTFLAGS) --skip-build --filter DaemonFaultTests
	$(TIDILY) $(SWIFT) test $(SWIFTFLAGS) --skip-build --filter '$(SERVER_TESTS)' --skip '$(HEAVY_TESTS)'
	$(TIDILY) $(SWIFT) test $(SWIFTFLAGS) --skip-build --filter '$(DAEMON_TESTS)' --skip '$(HEAVY_TESTS)'
	$(TIDILY) $(SWIFT) test $(SWIFTFLAGS) --skip-build --filter '^XMPPTests\.' --skip '$(HEAVY_TESTS)' --skip '$(SERVER_TESTS)'
	$(TIDILY) $(SWIFT) test $(SWIFTFLAGS) --skip-build --skip '$(SERVER_TESTS)' --skip '$(DAEMON_TESTS)' --skip '^XMPPTests\.'

demo:
	@Scripts/dependencies build $(if $(filter prosody,$(SERVER)),test)
	$(TIDILY) $(SWIFT) build $(SWIFTFLAGS) --product jabberctl
	$(TIDILY) $(SWIFT) build $(SWIFTFLAGS) --product jabberctld
	$(if $(filter loopback,$(SERVER)),$(TIDILY) $(SWIFT) build $(SWIFTFLAGS) --product xmpp-loopback)
	@$(TIDILY) Scripts/demo $(SERVER)

install:
	@Scripts/dependencies build
	@$(TIDILY) env SWIFT="$(SWIFT)" SWIFTFLAGS="$(SWIFTFLAGS)" Scripts/install "$(DESTDIR)" "$(PREFIX)"

uninstall:
	@Scripts/install --remove "$(DESTDIR)" "$(PREFIX)"

deb:
	@Scripts/dependencies build deb
	$(TIDILY) $(SWIFT) build $(SWIFTFLAGS) --product xmpp-loopback
	@$(TIDILY) env SWIFT="$(SWIFT)" SWIFTFLAGS="$(SWIFTFLAGS)" Scripts/deb

examples:
	@Scripts/dependencies build
	@$(TIDILY) env SWIFT="$(SWIFT)" SWIFTFLAGS="$(SWIFTFLAGS)" Examples/run

format:
	@SWIFT="$(SWIFT)" Scripts/lint --fix

lint:
	@SWIFT="$(SWIFT)" Scripts/lint

docs:
	@Scripts/dependencies build docs
	@$(TIDILY) env SWIFT="$(SWIFT)" SWIFTFLAGS="$(SWIFTFLAGS)" Scripts/docs

bench:
	@Scripts/dependencies build
	@$(TIDILY) env SWIFT="$(SWIFT)" SWIFTFLAGS="$(SWIFTFLAGS)" Benchmarks/run

bench-check:
	@Scripts/dependencies build bench
	@$(TIDILY) env SWIFT="$(SWIFT)" SWIFTFLAGS="$(SWIFTFLAGS)" Benchmarks/run check

mutants:
	@Scripts/dependencies build test
	@$(TIDILY) env SWIFT="$(SWIFT)" SWIFTFLAGS="$(SWIFTFLAGS)" Scripts/mutants $(FILTER)

tsan:
	@Scripts/dependencies build test
	$(TIDILY) env TSAN_OPTIONS="atexit_sleep_ms=50 $$TSAN_OPTIONS" $(SWIFT) test --sanitize=thread \
		--scratch-path .build/tsan --no-parallel $(addprefix --skip ,$(TSAN_SKIPPED)) $(SWIFTFLAGS)

fuzz:
	@Scripts/dependencies build fuzz
	@$(TIDILY) env SWIFT="$(SWIFT)" SWIFTFLAGS="$(SWIFTFLAGS)" FUZZ_TREES="$(TREES)" Tests/Fuzz/run all "$(TIME)" "$(RUNS)" $(SEED)

soak:
	@Scripts/dependencies build test
	$(TIDILY) $(SWIFT) build $(SWIFTFLAGS) -c release --static-swift-stdlib --product jabberctld
	$(TIDILY) $(SWIFT) build $(SWIFTFLAGS) -c release --static-swift-stdlib --product xmpp-loopback
	@bin=$$($(SWIFT) build $(SWIFTFLAGS) -c release --static-swift-stdlib --show-bin-path) && \
		Scripts/soak $(if $(filter file,$(origin TIME)),3600,$(TIME)) "$$bin/jabberctld" "$$bin/xmpp-loopback"

sweep:
	@Scripts/dependencies build test
	$(SWIFT) build $(SWIFTFLAGS) --product jabberctld
	$(SWIFT) build $(SWIFTFLAGS) --product xmpp-sweep
	"$$($(SWIFT) build $(SWIFTFLAGS) --show-bin-path)/xmpp-sweep" all $(STEP)

clean:
	rm -rf .build Examples/.build Benchmarks/.build
