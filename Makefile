# The default target is for OpenBench (https://github.com/AndyGrant/OpenBench), which builds engines
# with `make EXE=NAME`. Use cargo for ordinary builds.
EXE ?= tabia

.PHONY: all archive container deb pack package pgo share source static windows
# Targets must not run in parallel: several of them write target/share, and packages contain the
# output of other targets.
.NOTPARALLEL:
all:
	cargo build --profile dist --locked --target-dir target
	cp target/dist/tabia $(EXE)

# Builds target/pgo/TARGET/dist/tabia with profile-guided optimisation, which packages contain.
HOST = $(shell rustc --print host-tuple)
GUIDED = target/pgo/$(HOST)/dist/tabia
pgo:
	examples/packaging/guided $(HOST) --features "$(FEATURES)"

# Builds target/debian/tabia_VERSION-1_ARCHITECTURE.deb with cargo-deb; see docs/guides/packages.md.
deb: pgo
	$(MAKE) package PROGRAM=$(GUIDED)

# Builds target/packages/tabia-VERSION-TARGET.tar.gz and .zip.
archive: pgo
	$(MAKE) pack PROGRAM=$(GUIDED)

# Builds the Debian package, or the archives, of an existing program. FEATURES are the features that
# the program has in addition to the default ones, such as train,parquet.
FEATURES ?=
TARGET ?= $(HOST)
PROGRAM ?= target/dist/tabia
# The folder in which cargo-deb looks for the program.
STAGE = target/stage
package: share
	rm -rf target/debian $(STAGE)
	mkdir -p $(STAGE)/dist
	cp $(PROGRAM) $(STAGE)/dist/tabia
	CARGO_TARGET_DIR=$(STAGE) cargo deb --profile dist --no-build --output target/debian/
pack: share
	examples/packaging/archive $(PROGRAM) $(TARGET) --features "$(FEATURES)"

# Writes the files that packages contain besides the program.
share:
	rm -rf target/share
	cargo run --locked --target-dir target --example packaging -- target/share
	mkdir -p target/share/doc
	gzip -9n < CHANGELOG.md > target/share/doc/changelog.gz
	examples/packaging/notices $(HOST) --features "$(FEATURES)" -o target/share/doc/THIRD-PARTY-LICENSES.txt
	gzip -9nf target/share/doc/THIRD-PARTY-LICENSES.txt

# Packs the source and all crates, for builds without a network; see examples/packaging/source.
source:
	examples/packaging/source

# Builds a static program for Linux, and its archives; see examples/packaging/static.
STATIC = x86_64-unknown-linux-musl
static:
	examples/packaging/static $(STATIC) --features "$(FEATURES)"
	$(MAKE) pack TARGET=$(STATIC) PROGRAM=target/$(STATIC)/dist/tabia

# Builds tabia.exe and its archives. Without rustup's standard library for this target, build with
# tests/tools/windows-build and pack with `make pack TARGET=… PROGRAM=…`.
WINDOWS = x86_64-pc-windows-gnu
windows:
	cargo build --profile dist --locked --target $(WINDOWS) --target-dir target --features "$(FEATURES)"
	$(MAKE) pack TARGET=$(WINDOWS) PROGRAM=target/$(WINDOWS)/dist/tabia.exe

# Builds a container image with the static program. podman or docker must be installed. A separate
# folder contains the files of the image, so that docker does not read the whole source folder.
CONTAINER ?= podman
IMAGE = target/container
container:
	rm -rf $(IMAGE)
	mkdir -p $(IMAGE)
	cp target/$(STATIC)/dist/tabia LICENSE $(IMAGE)
	examples/packaging/notices $(STATIC) --features "$(FEATURES)" --program $(IMAGE)/tabia \
		-o $(IMAGE)/THIRD-PARTY-LICENSES.txt
	$(CONTAINER) build --file examples/packaging/Containerfile --tag tabia $(IMAGE)
