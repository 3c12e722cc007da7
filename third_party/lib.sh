# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# Sourced by third_party/build and by the recipes. Everything speaks on stderr; stdout belongs to build.

say() { printf 'third_party: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

sha256_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# apply_series SKIP...: the distribution's patches in their order, but for those whose file name
# matches one of the globs. A patch that does not apply ends the build.
apply_series() {
  [ -f "$debian/patches/series" ] || return 0
  while read -r patch_name _; do
    case $patch_name in '' | '#'*) continue ;; esac
    for skip in "$@"; do
      # shellcheck disable=SC2254 # a glob on purpose
      case $patch_name in $skip) continue 2 ;; esac
    done
    say "$name: $patch_name"
    patch -d "$source" -p1 -F0 -s <"$debian/patches/$patch_name" >&2 ||
      die "$name: $patch_name does not apply"
  done <"$debian/patches/series"
}

# apply_patches: our own, in the order of their names, after the distribution's. Each begins with the reason.
# Offsets are accepted, another context is not: a new revision that changes the place ends the build.
apply_patches() {
  for patch_file in "$recipe"/*.patch; do
    say "$name: ${patch_file##*/}"
    patch -d "$source" -p1 -F0 -s --no-backup-if-mismatch <"$patch_file" >&2 ||
      die "$name: ${patch_file##*/} does not apply"
  done
}

# compile COMPILER FLAGS FILE...: objects in the current directory, as many at once as allowed.
compile() {
  compiler=$1 flags=$2
  shift 2
  # shellcheck disable=SC2016 # expanded by the inner shell
  printf '%s\n' "$@" | xargs -P "$jobs" -I FILE \
    sh -c '$1 $2 -c "$3" -o "$(basename "${3%.*}").o"' compile "$compiler" "$flags" FILE >&2
}

# archive LIB OBJECT...: deterministic, so that the same inputs give the same bytes.
archive() {
  lib=$out/lib/$1
  shift
  mkdir -p "$out/lib"
  rm -f "$lib"
  "$AR" crsD "$lib" "$@"
}

# cmake_build OPTION...: configure, build and install into $out.
cmake_build() {
  toolchain=
  [ "$target" = "$host" ] || toolchain="-DCMAKE_TOOLCHAIN_FILE=$root/board/$target.cmake"
  # shellcheck disable=SC2086 # empty or one word without spaces in it by construction
  cmake -G Ninja -S "$source" -B build $toolchain \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_C_FLAGS_RELEASE=-DNDEBUG \
    -DCMAKE_INSTALL_PREFIX="$out" -DCMAKE_INSTALL_LIBDIR=lib "$@" >&2
  cmake --build build --parallel "$jobs" >&2
  cmake --install build >&2
}

license() {
  mkdir -p "$out/share/licenses"
  cp "$source/$1" "$out/share/licenses/$name.txt"
}
