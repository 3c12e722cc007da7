# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# cctz: civil time and time zones from the system's zone data (GCC 12 has none in <chrono>).
# Without its formatting and its stream operators: in a static executable the stream classes and the
# locales behind them weigh more than all the rest of cctz and are used by nothing else.

apply_series '*'
apply_patches

set --
for file in "$source"/src/*.cc; do
  case $file in
    *_test.cc | *_benchmark.cc | */time_tool.cc) ;;
    */civil_time_detail.cc | */time_zone_format.cc) ;;
    *) set -- "$@" "$file" ;;
  esac
done
compile "$CXX" "$CXXFLAGS -std=c++17 -DNDEBUG -I$source/include" "$@"
archive libcctz.a ./*.o
mkdir -p "$out/include"
cp -R "$source/include/cctz" "$out/include/"
license LICENSE.txt
