# shellcheck shell=sh disable=SC2154,SC2034 # variables of its callers and of fetch.sh
# Sourced by third_party/outdated and update: what the archive has in the place of the recorded revisions, and which holes
# the recorded ones have. A hole is a CVE that the changelog of a revision names as mended.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/fetch.sh"

begin() {
  command -v xz >/dev/null || die "xz is missing: run scripts/bootstrap build"
  find_cache
  # Not in the cache, where a build removes the work directories of builds that were killed.
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
}

all_names() { awk -F '\t' '$1 == "package" { print $2 }' "$here/lock"; }

# read_whole_index: as read_index, and false where one of the suites is missing, for "nothing newer" would be a guess then.
read_whole_index() {
  read_index || return 1
  for suite in $suites $security_suites; do
    has_index "$suite" || { reason="it has no suite $suite" && return 1; }
  done
}

# changelog VERSION: of the revision's source package; false if its file cannot be had. The file stays in the cache beside
# the downloads, so that it is downloaded once.
changelog() {
  debian=$(index_files "$1" | grep '\.debian\.tar\.')
  [ -n "$debian" ] || debian=$(if [ "$1" = "$recorded" ]; then lock_files "$name" | grep '\.debian\.tar\.'; fi)
  [ -n "$debian" ] || return 1
  have_all "$debian" || try_pool "$debian" || return 1
  tar -xOf "$downloads/${debian#* }" debian/changelog
}

# entries: of the changelog on the input, one line each: version, date, and the CVEs that it names, separated by tabs.
entries() {
  awk '
    /^[a-z0-9]/ { version = $2; gsub(/[()]/, "", version); names = "" }
    {
      rest = $0
      while (match(rest, /CVE-[0-9]+-[0-9]+/)) {
        names = names " " substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
      }
    }
    /^ -- / { sub(/^ -- .*>  */, ""); print version "\t" $0 "\t" names }'
}

# holes VERSION OLD: the CVEs that VERSION mends and OLD does not, nor a patch of ours, as "CVE days" lines: days since the
# oldest entry of the changelog that names it. False if the changelog of VERSION cannot be had.
holes() {
  changelog "$1" >"$work/changelog" || return 1
  { changelog "$2" || true; cat "$here/$name"/*.patch 2>/dev/null || true; } >"$work/mended"
  entries <"$work/changelog" | while IFS='	' read -r entry date names; do
    # Where the changelog of OLD cannot be had, the entries up to it are those that it has.
    [ -n "$names" ] || continue
    dpkg --compare-versions "$entry" gt "$2" || continue
    # A date that makes no sense is one of long ago.
    at=$(date -d "$date" +%s 2>/dev/null) || at=0
    days=$((($(date +%s) - at) / 86400))
    for cve in $names; do
      grep -qw -e "$cve" "$work/mended" || printf '%s %s\n' "$cve" "$days"
    done
  done | sort -k 1,1 -k 2,2nr | awk '!seen[$1]++'
}

# find_newer NAME: what to take in the place of the recorded revision, in the variable `newer`, and in `mends` the holes
# that it closes, or "unknown". `newer` is empty if there is nothing to take. It is what find_newest says, or sid's
# newest one where that closes a hole that the other leaves open.
find_newer() {
  read_row "$1"
  find_newest
  newer=$newest mends=
  if [ -n "$newer" ]; then mends=$(holes "$newer" "$recorded") || mends=unknown; fi
  dpkg --compare-versions "$of_sid" gt "${newer:-$recorded}" || return 0
  if more=$(holes "$of_sid" "${newer:-$recorded}"); then
    [ -n "$more" ] || return 0
    newer=$of_sid
    mends=$(holes "$newer" "$recorded")
  else
    say "$1: sid has $of_sid, whose changelog the archive does not serve"
  fi
}

# in_words MENDS: "CVE-2026-1234 (known for 20 days), CVE-…".
in_words() { printf '%s\n' "$1" | sed 's/^\(.*\) \(.*\)$/\1 (known for \2 days)/' | paste -s -d '|' | sed 's/|/, /g'; }
