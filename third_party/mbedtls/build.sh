# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# mbedTLS with our own configuration, which replaces the stock one in the prefix as well, so that
# every consumer sees the same structures.

apply_series 'cmake-*'
apply_patches

cp "$recipe/config.h" "$source/include/mbedtls/mbedtls_config.h"

everest=$source/3rdparty/everest
includes="-I$source/include -I$source/library -I$everest/include -I$everest/include/everest
  -I$everest/include/everest/kremlib"
# shellcheck disable=SC2086,SC2116 # on one line
flags="$CFLAGS $(echo $includes)"
compile "$CC" "$flags" "$source"/library/*.c "$everest"/library/everest.c "$everest"/library/x25519.c \
  "$everest"/library/Hacl_Curve25519_joined.c

# AES and GCM with compiler intrinsics in place of assembly: GCM is a third faster. aesni.c is entered only after
# a look at the processor, and every processor with AES instructions has the other two extensions. Its two callers
# see the same options, since intrinsics need aligned keys. Figures: third_party/README.md.
if [ "$target" = x86_64 ]; then
  compile "$CC" "$flags -maes -mpclmul -mssse3" "$source"/library/aesni.c
  compile "$CC" "$flags -maes -mpclmul" "$source"/library/aes.c "$source"/library/gcm.c
fi

x509="" tls="" crypto=""
for object in *.o; do
  case $object in
    x509*.o | pkcs7.o) x509="$x509 $object" ;;
    ssl_*.o | mps_*.o | debug.o | net_sockets.o) tls="$tls $object" ;;
    *) crypto="$crypto $object" ;;
  esac
done
# shellcheck disable=SC2086 # lists of plain file names
{
  archive libmbedx509.a $x509
  archive libmbedtls.a $tls
  archive libmbedcrypto.a $crypto
}

mkdir -p "$out/include"
cp -R "$source/include/mbedtls" "$source/include/psa" "$everest/include/everest" "$out/include/"
license LICENSE
