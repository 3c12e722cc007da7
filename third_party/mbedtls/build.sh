# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# mbedTLS with our own configuration, which replaces the stock one in the prefix as well, so that
# every consumer sees the same structures.

apply_series 'cmake-*'

cp "$recipe/config.h" "$source/include/mbedtls/mbedtls_config.h"

# In TLS 1.3 too the server chooses by its own list, and not by the client's: it knows what is fast here.
file=$source/library/ssl_tls13_server.c
replace_once "$file" '    for (const unsigned char *p = cipher_suites;' \
  '    for (const int *own = ssl->conf->ciphersuite_list; *own != 0; own++)
    for (const unsigned char *p = cipher_suites;'
replace_once "$file" '        uint16_t id = MBEDTLS_GET_UINT16_BE(p, 0);' \
  '        uint16_t id = MBEDTLS_GET_UINT16_BE(p, 0);
        if (id != *own) continue;'

# A block that was written in parts of 4 or 8 bytes is read back in one of 16 only when everything before it is done:
# no block of GCM began before the last one had ended. Written whole, they overlap, at two and a half times the speed.
insert_after "$source/library/gcm.c" 'static void gcm_incr(unsigned char y[16])' 'x++;' \
  '    typedef uint32_t gcm_words __attribute__((vector_size(16)));
    gcm_words block;
    memcpy(&block, y, sizeof(block));
    block[3] = MBEDTLS_BSWAP32(x);
    memcpy(y, &block, sizeof(block));'
insert_after "$source/library/common.h" 'static inline void mbedtls_xor(unsigned char *r,' '#elif defined(MBEDTLS_ARCH_IS_X64)' \
  '    typedef uint64_t xor_words __attribute__((vector_size(16)));
    for (; (i + 16) <= n; i += 16) {
        xor_words x, y;
        memcpy(&x, a + i, sizeof(x));
        memcpy(&y, b + i, sizeof(y));
        x ^= y;
        memcpy(r + i, &x, sizeof(x));
    }'
replace_once "$source/library/gcm.c" '    MBEDTLS_PUT_UINT32_BE(x, y, 12);' ''

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
