# The commands people type. Each is one line over CMake or a script.

.PHONY: all run test check bench fuzz arm64 package head head-package clean

all:
	scripts/build

run:
	scripts/run

test:
	scripts/test

check:
	scripts/test --quick

bench:
	scripts/bench

# make fuzz SECONDS=3600 TARGET=json
fuzz:
	scripts/fuzz --seconds $(or $(SECONDS),60) $(TARGET)

arm64:
	scripts/build arm64

# build/package: .deb and .tar.gz for both architectures
package:
	scripts/package

# build/release/comanda-head: the same server for a head office, on PostgreSQL
head:
	scripts/build head

# build/head-package: its .deb for this machine's architecture
head-package:
	scripts/package --head

clean:
	rm -rf build
