# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# CivetWeb: HTTP/1.1 over our own TLS and admission code (hooks.h), without files, CGI, WebSocket.
# NO_SSL means "no OpenSSL". hooks.h is included first, hence _GNU_SOURCE on the command line.

defines="-D_GNU_SOURCE -DUSE_MBEDTLS -DNO_SSL -DNO_CGI -DNO_CACHING -DNO_FILES -DUSE_IPV6 -DNDEBUG
  -DSOCKET_TIMEOUT_QUANTUM=200 -DUSE_STACK_SIZE=262144 -DUSE_X_DOM_SOCKET"

apply_series soversion webdav-uploads 'cmake_*' 'openssl*'

apply_patches

# shellcheck disable=SC2086,SC2116 # on one line
compile "$CC" "$CFLAGS $(echo $defines) -include $recipe/hooks.h -I$source/include -I$mbedtls/include" "$source/src/civetweb.c"
archive libcivetweb.a civetweb.o
mkdir -p "$out/include"
cp "$source/include/civetweb.h" "$out/include/"
cp "$recipe/hooks.h" "$out/include/civetweb_hooks.h"
license LICENSE.md
