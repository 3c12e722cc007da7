# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# CivetWeb: HTTP/1.1 over our own TLS and admission code (hooks.h), without files, CGI, WebSocket.
# NO_SSL means "no OpenSSL". hooks.h is included first, hence _GNU_SOURCE on the command line.

defines="-D_GNU_SOURCE -DUSE_MBEDTLS -DNO_SSL -DNO_CGI -DNO_CACHING -DNO_FILES -DUSE_IPV6 -DNDEBUG
  -DSOCKET_TIMEOUT_QUANTUM=200 -DUSE_STACK_SIZE=262144 -DUSE_X_DOM_SOCKET"

apply_series soversion webdav-uploads 'cmake_*' 'openssl*'

file=$source/src/civetweb.c

# With two listening sockets readable at once and an old EAGAIN in errno, the accepting thread would
# spin for ever and accept nothing more.
replace_once "$file" 'if ((result == 1) ||' 'if ((result > 0) ||'

# What tells the threads to stop is read while it is written: volatile makes no promise about that.
replace_once "$file" 'typedef int volatile stop_flag_t;' 'typedef _Atomic int stop_flag_t;'

# One line of noise on stderr for every connection that ends.
replace_once "$file" 'fprintf(stderr, "SSL read failed, error %d\n", nread);' ''
replace_once "$file" 'fprintf(stderr, "SSL write failed, error %d\n", n);' ''

# Our strict check sees the raw head before CivetWeb's lenient parser, and the heads CivetWeb refuses.
# CivetWeb itself says 400 for a head that fills its buffer: the 413 it means is never reached.
insert_after "$file" 'get_request(struct mg_connection *conn, char *ebuf, size_t ebuf_len, int *err)' \
  'if (!get_message(conn, ebuf, ebuf_len, err)) {' \
  '		if (*err > 0) {
			*err = comanda_check_request_head(
			    conn, conn->buf, conn->data_len, (conn->data_len >= conn->buf_size) ? 413 : *err);
		}'
replace_once "$file" 'if (parse_http_request(conn->buf, conn->buf_size, &conn->request_info)' \
  '*err = comanda_check_request_head(conn, conn->buf, conn->request_len, 0);
	if (*err != 0) {
		mg_snprintf(conn, NULL, ebuf, ebuf_len, "%s", "Bad request head");
		return 0;
	}
	if (parse_http_request(conn->buf, conn->buf_size, &conn->request_info)'

# Nearly every byte of a head is one that cannot end it: nothing more is asked about those. HTTP allows tabs in
# the values of fields; our check knows where.
insert_after "$file" 'get_http_header_len(const char *buf, int buflen)' \
  'const unsigned char c = (unsigned char)buf[i];' \
  "		if ((unsigned char)(c - ' ') < 95) {
			continue;
		}"
replace_once "$file" '&& !isprint(c)) {' "&& (c != '\\t') && !isprint(c)) {"

# The workers' buffers lie together behind their connections, in pages that nobody touches before they are
# used. Each for itself would take a page from the start.
insert_after "$file" '	ctx->worker_connections =' '(struct mg_connection *)mg_calloc_ctx(ctx->cfg_worker_threads,' \
  '	                                          ctx->max_request_size +'
replace_once "$file" '	conn->buf = (char *)mg_malloc_ctx(ctx->max_request_size, conn->phys_ctx);' \
  '	conn->buf = (char *)(ctx->worker_connections + ctx->cfg_worker_threads)
	            + (size_t)thread_index * ctx->max_request_size;'
insert_after "$file" 'worker_thread_run(struct mg_connection *conn)' \
  'if (0 != pthread_mutex_init(&conn->mutex, &pthread_mutex_attr)) {' '		conn->buf = NULL;'
replace_once "$file" '	/* Free the request buffer. */' '	conn->buf = NULL;'

# A CR or LF alone inside the framing of chunks, in their extensions or in the trailer ends a line for one
# reader and not for the next: two see different requests (RFC 9112 section 7.1, 11.2). So is a size that
# does not fit.
replace_once "$file" "if ((i > 0) && (lenbuf[i] == ';')) {" \
  "if ((i > 0) && (lenbuf[i] == ';') && (lenbuf[i - 1] != '\\r')) {"
replace_once "$file" "       && lenbuf[i] != '\\r');" \
  "       && (((unsigned char)lenbuf[i] >= ' ') || (lenbuf[i] == '\\t')) && (lenbuf[i] != 127)
						       && (comanda_count_framing(conn, 1) == 0));
						if (comanda_count_framing(conn, 0) != 0) {
							conn->is_chunked = 2;
							return -1;
						}"
replace_once "$file" 'if (!isxdigit((unsigned char)lenbuf[i])) {' \
  "if (!isxdigit((unsigned char)lenbuf[i]) || ((i > 0) && (lenbuf[i - 1] == '\\r'))) {"
replace_once "$file" '									crlf_count = 0;' \
  "									crlf_count = 0;
								if ((((unsigned char)lenbuf[0] < ' ') && (lenbuf[0] != '\\r') && (lenbuf[0] != '\\t')) || (lenbuf[0] == 127))
									conn->is_chunked = 2;"
replace_once "$file" 'conn->content_len += (int64_t)chunkSize;' \
  'if (chunkSize > (1UL << 62)) {
					conn->is_chunked = 2;
					return -1;
				}
				if (comanda_check_chunk(conn, chunkSize) != 0) {
					conn->is_chunked = 2;
					return -1;
				}
				conn->content_len += (int64_t)chunkSize;'

# Nothing else bounds the extensions and the trailer, which may come a byte at a time (contract section 1).
replace_once "$file" '						if (mg_read_inner(conn, lenbuf, 1) == 1) {' \
  '						if (mg_read_inner(conn, lenbuf, 1) == 1
						    && comanda_count_framing(conn, 1) == 0) {'

# shellcheck disable=SC2086,SC2116 # on one line
compile "$CC" "$CFLAGS $(echo $defines) -include $recipe/hooks.h -I$source/include -I$mbedtls/include" "$file"
archive libcivetweb.a civetweb.o
mkdir -p "$out/include"
cp "$source/include/civetweb.h" "$out/include/"
cp "$recipe/hooks.h" "$out/include/civetweb_hooks.h"
license LICENSE.md
