# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# Preact: the sources of its core, which the bundler joins with those of the pages; no hooks, nothing for React.

mkdir -p "$out/share/preact"
cp -R "$source/src" "$out/share/preact/"
license LICENSE
