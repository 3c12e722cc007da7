# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# cJSON: the parser and printer alone; cJSON_Utils (pointers and patches) is not used.

apply_series '*cmake*'
apply_patches

compile "$CC" "$CFLAGS -DNDEBUG -DCJSON_NESTING_LIMIT=64" "$source/cJSON.c"
archive libcjson.a cJSON.o
mkdir -p "$out/include/cjson"
cp "$source/cJSON.h" "$out/include/cjson/"
license LICENSE
