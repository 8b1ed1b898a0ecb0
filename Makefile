# OpenBench builds engines with `make EXE=NAME` (https://github.com/AndyGrant/OpenBench). Use cargo
# for other builds.
EXE ?= tabia

.PHONY: all deb package pgo
all:
	cargo build --profile dist --locked --target-dir target
	cp target/dist/tabia $(EXE)

# Builds target/debian/tabia_VERSION-1_ARCHITECTURE.deb with cargo-deb; see docs/guides/packages.md.
deb:
	cargo build --profile dist --locked --target-dir target
	$(MAKE) package

# Builds the package of a program that exists already.
PROFILE ?= dist
package:
	rm -rf target/share target/debian
	cargo run --locked --target-dir target --example packaging -- target/share
	mkdir -p target/share/doc
	gzip -9n < CHANGELOG.md > target/share/doc/changelog.gz
	CARGO_TARGET_DIR=target cargo deb --profile $(PROFILE) --no-build

# Builds target/pgo/tabia with profile-guided optimisation. The profile comes from searches and a book
# build. Use the program only on the same processor type: kernels for others have no profile, so the
# compiler treats them as never used.
HOST = $(shell rustc --print host-tuple)
PROFDATA = $(shell rustc --print sysroot)/lib/rustlib/$(HOST)/bin/llvm-profdata
PGO = $(CURDIR)/target/pgo
PGO_BUILD = cargo build --profile dist --locked --target $(HOST) --target-dir $(PGO)
pgo:
	@test -x $(PROFDATA) || { echo "make pgo needs llvm-profdata: rustup component add llvm-tools" >&2; exit 1; }
	rm -rf $(PGO)/counts
	$(PGO_BUILD) --config 'target.$(HOST).rustflags=["-Cprofile-generate=$(PGO)/counts"]'
	$(PGO)/$(HOST)/dist/tabia bench
	$(PGO)/$(HOST)/dist/tabia bench --depth 9 --evaluation classical
	$(PGO)/$(HOST)/dist/tabia book build books/openings.pgn --undecided -o $(PGO)/book.tbk
	$(PROFDATA) merge -o $(PGO)/counts/all $(PGO)/counts/*.profraw
	$(PGO_BUILD) --config 'target.$(HOST).rustflags=["-Cprofile-use=$(PGO)/counts/all"]'
	cp $(PGO)/$(HOST)/dist/tabia $(PGO)/tabia
