# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# cctz: civil time and time zones from the system's zone data (GCC 12 has none in <chrono>).

apply_series '*'

set --
for file in "$source"/src/*.cc; do
  case $file in *_test.cc | *_benchmark.cc | */time_tool.cc) ;; *) set -- "$@" "$file" ;; esac
done
compile "$CXX" "$CXXFLAGS -std=c++17 -DNDEBUG -I$source/include" "$@"
archive libcctz.a ./*.o
mkdir -p "$out/include"
cp -R "$source/include/cctz" "$out/include/"
license LICENSE.txt
