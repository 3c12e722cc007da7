# shellcheck shell=sh disable=SC2154,SC2034 # variables of third_party/build
# Sourced by third_party/build, outdated and update: obtains source packages of the distribution through the machine's own
# package sources. The proof is the archive's signed index, checked by apt, and our lock.
#
#   find_cache     sets cache and downloads, the directories that all builds share
#   resolve NAME   sets version and files ("sha256 file" lines), without the network when it can
#   obtain         makes sure that those files are in $downloads
#   unpack         unpacks them to $source and $debian
#
# COMANDA_APT_LISTS names another directory than /etc/apt for the machine's package sources.

suites='trixie sid trixie-updates'
security_suites='trixie-security'

find_cache() {
  cache=${COMANDA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/comanda}
  case $cache in *[[:space:]]*) die "the cache directory may not have spaces in its name: $cache" ;; esac
  mkdir -p "$cache/downloads"
  cache=$(cd "$cache" && pwd)
  downloads=$cache/downloads
}

# read_row NAME: its row of the lock, in the variables name, package, recorded, minimum and below.
read_row() {
  name=$1
  row=$(awk -F '\t' -v name="$1" '$1 == "package" && $2 == name { print $3, $4, $5, $6 }' "$here/lock")
  [ -n "$row" ] || die "$1 is not in third_party/lock"
  # shellcheck disable=SC2086 # four words
  set -- $row
  package=$1 recorded=$2 minimum=$3 below=$4
}
# "sha256 file" lines of the recorded version.
lock_files() { awk -F '\t' -v name="$1" '$1 == "file" && $2 == name { print $4, $3 }' "$here/lock"; }
# The older version whose files the lock has too, and those; empty for most.
older_version() { awk -F '\t' -v name="$1" '$1 == "older" && $2 == name { print $3; exit }' "$here/lock"; }
older_files() { awk -F '\t' -v name="$1" '$1 == "older" && $2 == name { print $5, $4 }' "$here/lock"; }

have_all() { # "sha256 file" lines
  printf '%s\n' "$1" | while read -r sum file; do
    [ -f "$downloads/$file" ] && [ "$(sha256_of "$downloads/$file")" = "$sum" ] || exit 1
  done
}

resolve() {
  read_row "$1"
  version=$recorded
  files=$(lock_files "$1")
  # Another revision that had to be taken instead is remembered beside the downloads, for this lock only, until the
  # recorded one is there.
  instead=$downloads/$1.instead-of-$recorded
  if [ -f "$instead" ] && ! have_all "$files"; then
    version=$(head -n 1 "$instead")
    files=$(tail -n +2 "$instead")
    say "$1: $version instead of the recorded $recorded (delete $instead to try again)"
  elif [ -z "$(ls -d "$builds/$1-$version-"*/done 2>/dev/null)" ] && ! have_all "$files"; then
    download "$1"
  fi
}

# A build may be there while its downloads were cleaned away and the recipe has changed since.
obtain() {
  have_all "$files" || download "$name"
  have_all "$files" || die "$name $version: a downloaded file has the wrong sha256"
}

# The machine's Debian archives as "kind<TAB>uri<TAB>signed-by" lines, from both formats of list.
machine_archives() {
  lists=${COMANDA_APT_LISTS:-/etc/apt}
  cat "$lists/sources.list" "$lists"/sources.list.d/*.list 2>/dev/null | awk '
    $1 == "deb" || $1 == "deb-src" {
      key = ""
      at = 2
      if ($at ~ /^\[/) {
        options = ""
        do { options = options " " $at } while ($(at++) !~ /\]$/ && at <= NF)
        if (match(options, /signed-by=[^] ]*/)) key = substr(options, RSTART + 10, RLENGTH - 10)
      }
      emit($at, $(at + 1), $0, key)
    }
    function emit(uri, suite, components, key) {
      if (components !~ /(^|[ \t])main([ \t]|$)/) return
      if (suite ~ /-security$|\/updates$/) print "security\t" uri "\t" key
      else if (suite ~ /^(oldstable|stable|testing|unstable|sid|bookworm|trixie|forky)(-updates)?$/) print "main\t" uri "\t" key
    }'
  for list in "$lists"/sources.list.d/*.sources; do
    [ -f "$list" ] || continue
    awk '
      function flush(  i, n, uri, m, suite, j) {
        if (field["enabled"] !~ /no/ && field["components"] ~ /(^|[ \t])main([ \t]|$)/) {
          n = split(field["uris"], uri, /[ \t]+/)
          m = split(field["suites"], suite, /[ \t]+/)
          for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) {
            if (uri[i] == "") continue
            if (suite[j] ~ /-security$|\/updates$/) print "security\t" uri[i] "\t" field["signed-by"]
            else if (suite[j] ~ /^(oldstable|stable|testing|unstable|sid|bookworm|trixie|forky)(-updates)?$/) print "main\t" uri[i] "\t" field["signed-by"]
          }
        }
        split("", field)
      }
      /^#/ { next }
      /^[ \t]*$/ { flush(); next }
      # A key written into the list itself: without its name, apt falls back to the keys it trusts.
      /^[ \t]/ { if (name != "signed-by") field[name] = field[name] " " $0; next }
      {
        at = index($0, ":")
        name = tolower(substr($0, 1, at - 1))
        field[name] = substr($0, at + 1)
        gsub(/^[ \t]+|[ \t]+$/, "", field[name])
      }
      END { flush() }' "$list"
  done
}

# Our own apt directories: nothing of the machine's is changed, and no rights are needed. An index past
# its date is still signed, and the lock's minimum keeps a stale mirror from handing us something too old.
private_apt() {
  tool=$1
  shift
  "$tool" -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/parts" \
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o Acquire::Languages=none \
    -o Acquire::Check-Valid-Until=false -o Acquire::Retries=2 "$@"
}

# read_index: reads the archive's signed index, once. False, with the cause in the variable `reason`, if that is impossible.
index_ready=
read_index() {
  [ -z "$index_ready" ] || return 0
  command -v apt-get >/dev/null || { reason="apt-get is missing" && return 1; }
  mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
  machine_archives | sort -u | while IFS='	' read -r kind uri key; do
    wanted=$suites
    [ "$kind" = main ] || wanted=$security_suites
    printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\n' "$uri" "$wanted"
    [ -z "$key" ] || printf 'Signed-By: %s\n' "$key"
    printf '\n'
  done >"$work/apt/parts/archive.sources"
  [ -s "$work/apt/parts/archive.sources" ] || { reason="no Debian archive is configured for apt on this machine" && return 1; }
  say "reading the archive's index"
  private_apt apt-get update >"$work/apt/update.log" 2>&1 || true
  # Another vendor's archive may share a suite's name; only Debian's own index counts.
  for release in "$work"/apt/lists/*_InRelease; do
    [ -f "$release" ] || continue
    grep -q '^Origin: Debian$' "$release" || rm -f "${release%InRelease}"*
  done
  has_index '*' || {
    reason=$(sed -n 's/^[EW]: Failed to fetch //p' "$work/apt/update.log" | head -n 1)
    return 1
  }
  index_ready=yes
}

# has_index SUITE: whether the index of the suite was read; '*' is any of them.
has_index() {
  # shellcheck disable=SC2086 # a glob on purpose
  ls "$work"/apt/lists/*_dists_$1_main_source_Sources* >/dev/null 2>&1
}

# index_files VERSION: "sha256 file" lines of the package's tarballs.
index_files() {
  private_apt apt-cache showsrc --only-source "$package" 2>/dev/null | awk -v version="$1" '
    /^Package:/ { mine = 0; sums = 0 }
    /^Version:/ { mine = $2 == version && !seen[version]++ }
    /^[^ ]/ { sums = /^Checksums-Sha256:/ }
    mine && sums && $3 ~ /\.(orig|debian)\.tar\.[a-z0-9]+$/ { print $1, $3 }'
}

# needed_files VERSION: those of them that the recipe needs. Where the lock has no debian.tar, it does without.
needed_files() {
  unneeded='^$'
  lock_files "$name" | grep -q '\.debian\.tar\.' || unneeded='\.debian\.tar\.'
  index_files "$1" | grep -v "$unneeded"
}

# index_versions SUITES: those of the package that the index of these suites has and the lock's limits allow, newest
# first. SUITES is an expression of awk on the name of a suite.
index_versions() {
  private_apt apt-cache madison "$package" 2>/dev/null |
    awk "\$NF == \"Sources\" { suite = \$(NF - 1); sub(\"/.*\", \"\", suite); if ($1) print \$3 }" |
    sort -u -V -r | while read -r candidate; do
    if dpkg --compare-versions "$candidate" ge "$minimum" && dpkg --compare-versions "$candidate" lt "$below"; then
      echo "$candidate"
    fi
  done
}

# find_newest: the revision of the index that should take the place of the recorded one, in the variable `newest`; empty
# if none is newer. As long as the release has the recorded one or a newer one, it is the release's: these are mended
# without other changes, and stay in the archive. Else it is sid's, which leave the archive with the next one.
find_newest() {
  newest=$(index_versions 'suite != "sid"' | head -n 1)
  of_sid=$(index_versions 'suite == "sid"' | head -n 1)
  dpkg --compare-versions "$newest" ge "$recorded" || newest=$of_sid
  dpkg --compare-versions "$newest" gt "$recorded" || newest=
}

# try_version VERSION FILES: apt checks each file against the signed index; the ones that are missing in
# the pool (often the .dsc) do not matter as long as the tarballs came.
try_version() {
  mkdir -p "$work/get"
  (cd "$work/get" && private_apt apt-get source --download-only "$package=$1") >>"$work/apt/source.log" 2>&1 || true
  wrong=$(printf '%s\n' "$2" | while read -r sum file; do
    if [ ! -f "$work/get/$file" ]; then
      echo missing
    elif [ "$(sha256_of "$work/get/$file")" != "$sum" ]; then
      echo "$file"
    fi
  done)
  case $wrong in
    '') ;;
    missing*) return 1 ;;
    *) die "$wrong: the sha256 is not the expected one, refusing it" ;;
  esac
  printf '%s\n' "$2" | while read -r _ file; do mv "$work/get/$file" "$downloads/$file"; done
}

# try_pool FILES: the archive's index names only its newest revision, and a mirror may name one whose files it does not
# have yet. Files of the recorded one stay in the pool for a while; what vouches for them is the lock alone.
try_pool() {
  case $package in lib*) initial=$(echo "$package" | cut -c 1-4) ;; *) initial=$(echo "$package" | cut -c 1) ;; esac
  mkdir -p "$work/get"
  printf '%s\n' "$1" | while read -r sum file; do
    machine_archives | sort -u | {
      while IFS='	' read -r kind uri _; do
        pool=pool/main
        [ "$kind" = main ] || pool=pool/updates/main
        /usr/lib/apt/apt-helper -q download-file "${uri%/}/$pool/$initial/$package/$file" "$work/get/$file" \
          "SHA256:$sum" </dev/null >>"$work/apt/source.log" 2>&1 && exit 0
      done
      exit 1
    } || exit 1
  done && printf '%s\n' "$1" | while read -r sum file; do
    [ "$(sha256_of "$work/get/$file")" = "$sum" ] && mv "$work/get/$file" "$downloads/$file" || exit 1
  done
}

download() {
  if [ "$1" = sqlite ] && [ -n "${COMANDA_SQLITE_FROM_NPM:-}" ]; then
    from_npm sqlite
    return
  fi
  read_index ||
    die "offline? The libraries' sources are not in $downloads and the archive's index cannot be read: $reason"
  indexed=$(index_files "$recorded")
  printf '%s\n' "$indexed" | while read -r sum file; do
    [ -n "$file" ] || continue
    locked=$(lock_files "$1" | awk -v file="$file" '$2 == file { print $1 }')
    [ -z "$locked" ] || [ "$locked" = "$sum" ] ||
      die "$file: the archive's sha256 is not the one in third_party/lock, refusing it"
  done || exit 1
  locked=$(lock_files "$1")
  if { [ -n "$indexed" ] && try_version "$recorded" "$locked"; } || try_pool "$locked"; then
    version=$recorded files=$locked
    rm -f "$instead"
    find_newest
    [ -z "$newest" ] || say "$1: $version is taken as recorded, but the archive's index has $newest by now: run third_party/update"
    return
  fi
  for candidate in $(index_versions 1); do
    files=$(needed_files "$candidate")
    if [ "$candidate" != "$recorded" ] && [ -n "$files" ] && try_version "$candidate" "$files"; then
      take_instead "$1" "$candidate"
      return
    fi
  done
  files=$(older_files "$1")
  if [ -n "$files" ] && try_pool "$files"; then
    take_instead "$1" "$(older_version "$1")"
    return
  fi
  if [ -n "$(npm_row "$1")" ]; then
    from_npm "$1"
    return
  fi
  die "$1: neither $recorded nor another revision from $minimum to below $below can be downloaded"
}

# take_instead NAME VERSION: with `files`, which are there.
take_instead() {
  version=$2
  printf '%s\n%s\n' "$version" "$files" >"$instead"
  say "$1: the archive does not serve the recorded $recorded; taking $version, which satisfies the minimum $minimum"
}

# npm_row NAME: "package version sha256 file" of the npm package that has the same source; empty for most.
npm_row() { awk -F '\t' -v name="$1" '$1 == "npm" && $2 == name { print $3, $4, $5, $6 }' "$here/lock"; }

# from_npm NAME: through npm and the registry it is configured for. npm is installed only here, where it is needed: on a bare
# Debian it is 370 packages.
from_npm() {
  # shellcheck disable=SC2046 # four words
  set -- "$1" $(npm_row "$1")
  say "$1: the archive does not serve a version from $minimum on; taking npm's $2 $3"
  command -v npm >/dev/null || "$here/../scripts/bootstrap" npm >&2 || die "$1: npm is missing"
  files="$4 $5"
  (cd "$work" && npm pack "$2@$3" >/dev/null 2>"$work/npm.log") || {
    tail -n 3 "$work/npm.log" >&2
    die "$1: npm cannot fetch $2 $3"
  }
  [ "$(sha256_of "$work/$5")" = "$4" ] || die "$5: sha256 differs from the recorded one, refusing it"
  mv "$work/$5" "$downloads/"
  version=$2-$3
  printf '%s\n%s\n' "$version" "$files" >"$instead"
}

unpack() {
  printf '%s\n' "$files" | while read -r _ file; do
    case $file in
      *.debian.tar.*) tar -C "$work/$name" -xf "$downloads/$file" ;;
      better-sqlite3-*.tgz)
        tar -C "$work/$name" -xzf "$downloads/$file" package/deps/sqlite3 package/LICENSE
        mv "$work/$name/package/deps/sqlite3/"* "$source/"
        mv "$work/$name/package/LICENSE" "$source/LICENSE.md"
        ;;
      *) tar -C "$source" --strip-components=1 -xf "$downloads/$file" ;;
    esac
  done
}
