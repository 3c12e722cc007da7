# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# cctz: civil time and time zones from the system's zone data (GCC 12 has none in <chrono>).
# Without its formatting and its stream operators: in a static executable the stream classes and the
# locales behind them weigh more than all the rest of cctz and are used by nothing else.

apply_series '*'

file=$source/src/time_zone_info.cc

# The zone data of another system, whose version is read with a stream.
replace_once "$file" 'if (auto z = FuchsiaZoneInfoSource::Open(n)) return z;' ''

# A text for people, put together with a stream.
replace_once "$file" 'std::ostringstream oss;' 'std::string oss;'
replace_once "$file" 'oss << "#trans=" << transitions_.size();' 'oss += "#trans=" + std::to_string(transitions_.size());'
replace_once "$file" 'oss << " #types=" << transition_types_.size();' 'oss += " #types=" + std::to_string(transition_types_.size());'
replace_once "$file" "oss << \" spec='\" << future_spec_ << \"'\";" "oss += \" spec='\" + future_spec_ + \"'\";"
replace_once "$file" 'return oss.str();' 'return oss;'

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
