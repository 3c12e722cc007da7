# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# mbedTLS with our own configuration, which replaces the stock one in the prefix as well, so that
# every consumer sees the same structures.

apply_series 'cmake-*'

cp "$recipe/config.h" "$source/include/mbedtls/mbedtls_config.h"

compile "$CC" "$CFLAGS -I$source/include -I$source/library" "$source"/library/*.c

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
cp -R "$source/include/mbedtls" "$source/include/psa" "$out/include/"
license LICENSE
