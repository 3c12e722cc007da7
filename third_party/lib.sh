# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# Sourced by third_party/build and by the recipes. Everything speaks on stderr; stdout belongs to build.

say() { printf 'third_party: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

sha256_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# replace_once FILE OLD NEW: OLD, a part of one line, must occur on exactly one line of FILE. When a
# new revision moves it, the build stops here instead of shipping without the change.
replace_once() {
  if ! OLD=$2 NEW=$3 awk '
    {
      at = index($0, ENVIRON["OLD"])
      if (at) {
        found++
        $0 = substr($0, 1, at - 1) ENVIRON["NEW"] substr($0, at + length(ENVIRON["OLD"]))
      }
      print
    }
    END { exit found != 1 }' "$1" >"$1.edited"; then
    die "$1: this text is not there exactly once, look at the edit again: $2"
  fi
  mv "$1.edited" "$1"
}

# insert_after FILE PATTERN_1 PATTERN_2 TEXT: TEXT follows the first line with PATTERN_2 after the one
# line that is exactly PATTERN_1.
insert_after() {
  if ! FIRST=$2 SECOND=$3 TEXT=$4 awk '
    { print }
    $0 == ENVIRON["FIRST"] { found++; inside = 1 }
    inside && index($0, ENVIRON["SECOND"]) { print ENVIRON["TEXT"]; inserted++; inside = 0 }
    END { exit found != 1 || inserted != 1 }' "$1" >"$1.edited"; then
    die "$1: no single place for this insertion, look at the edit again: $3"
  fi
  mv "$1.edited" "$1"
}

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
