# OpenBench builds an engine by `make EXE=NAME` (https://github.com/AndyGrant/OpenBench); for
# anything else there is cargo.
EXE ?= tabia

.PHONY: all deb
all:
	cargo build --release --locked --target-dir target
	cp target/release/tabia $(EXE)

# A Debian package, target/debian/tabia_VERSION-1_ARCHITECTURE.deb, by cargo-deb (docs/packages.md).
deb:
	cargo build --release --locked --target-dir target
	rm -rf target/share target/debian
	target/release/tabia generate share target/share
	mkdir -p target/share/doc
	gzip -9n < CHANGELOG.md > target/share/doc/changelog.gz
	CARGO_TARGET_DIR=target cargo deb --no-build
