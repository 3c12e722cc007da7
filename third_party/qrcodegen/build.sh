# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# QR Code generator: the C encoder alone (ISO/IEC 18004), which allocates no memory. Asserts stay off.

compile "$CC" "$CFLAGS -DNDEBUG" "$source/c/qrcodegen.c"
archive libqrcodegen.a qrcodegen.o
mkdir -p "$out/include"
cp "$source/c/qrcodegen.h" "$out/include/"
# The licence is the first comment of the source; the package has no file of its own for it.
sed '/\*\//q' "$source/c/qrcodegen.h" | sed 's|^/\* *||; s|^ \*/||; s|^ \* \{0,1\}||' >licence
[ -s licence ]
mkdir -p "$out/share/licenses"
cp licence "$out/share/licenses/$name.txt"
