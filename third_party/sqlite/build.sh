# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# SQLite as one file. Our own code relies on the hard heap limit, the progress handler and the depth
# limits, so memory statistics, the progress callback and SQLITE_MAX_EXPR_DEPTH stay as they are. What
# is temporary stays in memory, but for a connection that asks for files (upgrades). Nothing is mapped
# into memory, where a read that the disk fails would end the process. Pages of long rows are cached like all
# others: read past the cache, a page of 50 orders asks the kernel for 200 of them each time.

options="
  -DSQLITE_THREADSAFE=2
  -DSQLITE_DQS=0
  -DSQLITE_DIRECT_OVERFLOW_READ=0
  -DSQLITE_ENABLE_API_ARMOR
  -DSQLITE_LIKE_DOESNT_MATCH_BLOBS
  -DSQLITE_MAX_MMAP_SIZE=0
  -DSQLITE_OMIT_AUTHORIZATION
  -DSQLITE_OMIT_AUTOINIT
  -DSQLITE_OMIT_DECLTYPE
  -DSQLITE_OMIT_DEPRECATED
  -DSQLITE_OMIT_DESERIALIZE
  -DSQLITE_OMIT_INCRBLOB
  -DSQLITE_OMIT_JSON
  -DSQLITE_OMIT_LOAD_EXTENSION
  -DSQLITE_OMIT_SHARED_CACHE
  -DSQLITE_OMIT_TCL_VARIABLE
  -DSQLITE_OMIT_TRACE
  -DSQLITE_STRICT_SUBTYPE=1
  -DSQLITE_TEMP_STORE=2
  -DSQLITE_USE_ALLOCA
  -DHAVE_FDATASYNC=1
  -DHAVE_USLEEP=1"

if [ ! -f "$source/sqlite3.c" ]; then
  # The skipped ones are about the distribution's own packaging (its lemon, its cross build, its page size).
  apply_series '02-*' '20-hurd*' '31-*' 'cross.patch'
  # Generated on the build machine with its own compiler; the Tcl it needs (jimsh) is inside the source.
  mkdir generate
  (cd generate && CC=cc CFLAGS=-O1 "$source/configure" --disable-tcl --disable-readline && make sqlite3.c) >&2
  cp generate/sqlite3.c generate/sqlite3.h "$source/"
fi

# shellcheck disable=SC2086,SC2116 # on one line
compile "$CC" "$CFLAGS -DNDEBUG $(echo $options)" "$source/sqlite3.c"
archive libsqlite3.a sqlite3.o
mkdir -p "$out/include"
cp "$source/sqlite3.h" "$out/include/"
if [ -f "$source/LICENSE.md" ]; then license LICENSE.md; else license ../LICENSE; fi
