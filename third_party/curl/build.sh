# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# libcurl: HTTP and HTTPS through mbedTLS and c-ares, nothing else. Digest authentication has to be
# off because our mbedTLS has no MD5.

# Without what changes the distribution's own way to build it (autotools). All of the others, also those of files that
# are not compiled here: a later correction may be next to them.
apply_series 'ZZZgnutls*' '11_omit*' 'build-Divide*'

disabled=
for feature in DIGEST_AUTH NTLM NEGOTIATE_AUTH KERBEROS_AUTH AWS DOH ALTSVC HSTS COOKIES NETRC PROXY \
  FORM_API PROGRESS_METER WEBSOCKETS IPFS LIBCURL_OPTION GETOPTIONS MIME \
  BINDLOCAL HEADERS_API SHUFFLE_DNS VERBOSE_STRINGS; do
  disabled="$disabled -DCURL_DISABLE_$feature=ON"
done

# shellcheck disable=SC2086 # a list of options
cmake_build $disabled \
  -DBUILD_SHARED_LIBS=OFF -DBUILD_STATIC_LIBS=ON -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF \
  -DBUILD_LIBCURL_DOCS=OFF -DBUILD_MISC_DOCS=OFF -DENABLE_CURL_MANUAL=OFF -DHTTP_ONLY=ON \
  -DCURL_USE_MBEDTLS=ON -DCURL_USE_OPENSSL=OFF -DENABLE_ARES=ON -DENABLE_IPV6=ON -DENABLE_UNIX_SOCKETS=ON \
  -DCURL_ZLIB=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DUSE_NGHTTP2=OFF -DUSE_LIBIDN2=OFF \
  -DCURL_USE_LIBPSL=OFF -DCURL_USE_LIBSSH2=OFF -DCURL_USE_GSSAPI=OFF -DCURL_USE_PKGCONFIG=OFF \
  -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none \
  -DMBEDTLS_INCLUDE_DIR="$mbedtls/include" -DMBEDTLS_LIBRARY="$mbedtls/lib/libmbedtls.a" \
  -DMBEDX509_LIBRARY="$mbedtls/lib/libmbedx509.a" -DMBEDCRYPTO_LIBRARY="$mbedtls/lib/libmbedcrypto.a" \
  -DCARES_INCLUDE_DIR="$cares/include" -DCARES_LIBRARY="$cares/lib/libcares.a"
license COPYING
