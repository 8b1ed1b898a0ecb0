# OpenBench builds an engine by `make EXE=NAME` (https://github.com/AndyGrant/OpenBench); for
# anything else there is cargo.
EXE ?= tabia

.PHONY: all
all:
	cargo build --release --locked --target-dir target
	cp target/release/tabia $(EXE)
