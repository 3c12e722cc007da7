# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# libsodium: authenticated streams (XChaCha20-Poly1305), Argon2id and BLAKE2b, for sealed backups. The portable code
# alone, the same on every processor.

apply_series
include=$source/src/libsodium/include
# What configure would write.
of_library() { sed -n "s/^SODIUM_LIBRARY_VERSION_$1=//p" "$source/configure.ac"; }
sed -e "s/@VERSION@/${version%%-*}/" -e "s/@SODIUM_LIBRARY_VERSION_MAJOR@/$(of_library MAJOR)/" \
  -e "s/@SODIUM_LIBRARY_VERSION_MINOR@/$(of_library MINOR)/" \
  -e '/@SODIUM_LIBRARY_MINIMAL_DEF@/d' "$include/sodium/version.h.in" >"$include/sodium/version.h"

# Both targets are little-endian and have integers of 128 bits.
options="-DCONFIGURED=1 -DNATIVE_LITTLE_ENDIAN=1 -DHAVE_TI_MODE=1 -DHAVE_PTHREAD=1 -DHAVE_WEAK_SYMBOLS=1
  -DHAVE_GCC_MEMORY_FENCES=1 -DHAVE_C11_MEMORY_FENCES=1 -DHAVE_ATOMIC_OPS=1 -DHAVE_INLINE_ASM=1
  -DHAVE_SYS_MMAN_H=1 -DHAVE_SYS_RANDOM_H=1 -DHAVE_GETRANDOM=1 -DHAVE_MMAP=1 -DHAVE_MLOCK=1 -DHAVE_MADVISE=1
  -DHAVE_MPROTECT=1 -DHAVE_EXPLICIT_BZERO=1 -DHAVE_POSIX_MEMALIGN=1 -DHAVE_GETPID=1"
# shellcheck disable=SC2046,SC2086,SC2116 # lists of words without spaces in them
compile "$CC" "$CFLAGS -DNDEBUG -I$include -I$include/sodium $(echo $options)" $(find "$source/src/libsodium" -name '*.c' | sort)
archive libsodium.a ./*.o
mkdir -p "$out/include"
cp "$include/sodium.h" "$out/include/"
cp -R "$include/sodium" "$out/include/"
license LICENSE
