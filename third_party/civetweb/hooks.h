/* The contract between CivetWeb and src/wire.
 *
 * civetweb.c is compiled with this header included first: its calls listed below reach functions that
 * our own code defines (src/wire/tls.cc and src/wire/server.cc). It is installed as
 * civetweb_hooks.h. Code that defines the hooks writes
 *
 *     #define COMANDA_HOOKS_IMPLEMENTATION
 *     #include <civetweb_hooks.h>
 *
 * and gets the prototypes without the redirection. No hook may throw.
 *
 * Order on one TLS connection. Accepting thread: comanda_accept. Worker: comanda_tls_setup,
 * comanda_tls_handshake, then (if that returned 0) callback init_connection; for each request
 * comanda_tls_read.., comanda_check_request_head, callback begin_request (in its mg_read of a chunked body
 * comanda_check_chunk, comanda_count_framing), comanda_tls_write..,
 * callback end_request; at the end callback connection_close, comanda_tls_free, comanda_close,
 * callback connection_closed. After a failed handshake: comanda_tls_free, connection_close,
 * comanda_close, connection_closed. */

#ifndef COMANDA_CIVETWEB_HOOKS_H
#define COMANDA_CIVETWEB_HOOKS_H

#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

/* All that civetweb.c includes of mbedTLS, before anything is renamed. */
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/debug.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/pk.h>
#include <mbedtls/platform.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509.h>
#include <mbedtls/x509_crt.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mg_connection;

/* ---- Start: in the thread that calls mg_start2, in this order. ---- */

/* Both get the value of the option ssl_certificate, which need not be a file: code that holds its
 * certificates in memory may give any word there, and leave `key` and `chain` untouched. Return 0. */
int comanda_tls_parse_key_file(mbedtls_pk_context *key, const char *path, const char *password,
                               int (*random)(void *, unsigned char *, size_t), void *random_context);
int comanda_tls_parse_crt_file(mbedtls_x509_crt *chain, const char *path);

/* CivetWeb has set its random generator and server defaults in `config`; here go versions, suites,
 * groups, tickets, cache and ALPN. Return 0, anything else makes mg_start2 fail. */
int comanda_tls_conf_own_cert(mbedtls_ssl_config *config, mbedtls_x509_crt *chain, mbedtls_pk_context *key);

/* In place of bind() and listen() of each entry of listening_ports. `descriptor` is a new socket. A listening socket that
 * is there already can be duplicated onto it (dup3): CivetWeb then finds the address that it asked for, and closes its
 * duplicate at the stop. comanda_listen leaves a socket alone that listens. As the originals otherwise. */
int comanda_bind(int descriptor, const struct sockaddr *address, socklen_t size);
int comanda_listen(int descriptor, int backlog);

/* ---- One connection. ---- */

/* `config` is CivetWeb's; another one may be used instead (certificates swapped without restart), as
 * long as it outlives the connection: until comanda_tls_free. CivetWeb ignores the result, so a
 * failure has to be answered by comanda_tls_handshake. */
int comanda_tls_setup(mbedtls_ssl_context *ssl, const mbedtls_ssl_config *config);

/* Must do the whole handshake, with poll and a deadline, and look at the stop flag of our own: the
 * caller repeats at once, for ever, on WANT_READ, WANT_WRITE and ASYNC_IN_PROGRESS. The descriptor is
 * *(int *)ssl->MBEDTLS_PRIVATE(p_bio), and it does not block. */
int comanda_tls_handshake(mbedtls_ssl_context *ssl);

/* Once for each comanda_tls_setup, also after a failed handshake. Must call mbedtls_ssl_free. */
void comanda_tls_free(mbedtls_ssl_context *ssl);

/* As the originals: WANT_READ and WANT_WRITE make CivetWeb poll (reading: until its own timeout), any
 * other negative value ends the connection. A request's deadline can be kept here. */
int comanda_tls_read(mbedtls_ssl_context *ssl, unsigned char *buffer, size_t size);
int comanda_tls_write(mbedtls_ssl_context *ssl, const unsigned char *buffer, size_t size);

/* Accepting thread, after poll said that `listener` is readable. -1 means nothing was accepted: then
 * the waiting connection must be gone from the backlog (accepted and closed), otherwise the accepting
 * thread spins. Must not block for long. */
int comanda_accept(int listener, struct sockaddr *address, socklen_t *size);

/* The one poll() in civetweb.c. Accepting thread: all listening sockets. Worker: the socket of its
 * connection, also before the first byte of a connection without TLS. A worker may wait here longer than
 * asked, so idle and body deadlines can be kept; -1 with errno other than EAGAIN and EINTR ends the
 * connection. CivetWeb looks at its own stop flag only after this returns: what waits must be woken. */
int comanda_poll(struct pollfd *descriptors, unsigned long count, int timeout_ms);

/* Every close() in civetweb.c: accepted sockets, each exactly once, and the listening sockets. Forget
 * the descriptor before closing it, under the lock that shutdown() from another thread takes. */
int comanda_close(int descriptor);

/* ---- One request. ---- */

/* The raw bytes of a request's head, before CivetWeb parses (and writes into) them. Same thread as
 * begin_request. They may be changed in place, not in length, where CivetWeb must not see them as they are.
 *   civetweb_status 0: `head` is the whole head, with the empty line that ends it (which CivetWeb also
 *     sees in two bare LF). Return 0 to go on with the request, or the status to be answered.
 *   civetweb_status 413: max_request_size bytes came without an end of head.
 *   civetweb_status 400: a control byte, or the head did not arrive whole (time out, or the peer left).
 *     `head` is all there is. Return the status to be answered, or 0 to close without an answer.
 * The answer is made by the callback http_error(connection, status, text), whose return value 0 means
 * that it wrote everything itself; the connection is closed after it in any case. begin_request and
 * end_request are not called for such a request, and mg_get_request_info has nothing of it. */
int comanda_check_request_head(const struct mg_connection *connection, char *head, int size,
                               int civetweb_status);

/* A chunk of a body declares its size, before any of it is read, and `size` more bytes of chunk extensions or
 * trailer came. Inside mg_read. Return 0 to go on; anything else makes mg_read return -1. */
int comanda_check_chunk(const struct mg_connection *connection, unsigned long size);
int comanda_count_framing(const struct mg_connection *connection, size_t size);

#ifdef __cplusplus
}
#endif

#ifndef COMANDA_HOOKS_IMPLEMENTATION
#define mbedtls_pk_parse_keyfile comanda_tls_parse_key_file
#define mbedtls_x509_crt_parse_file comanda_tls_parse_crt_file
#define mbedtls_ssl_conf_own_cert comanda_tls_conf_own_cert
#define mbedtls_ssl_setup comanda_tls_setup
#define mbedtls_ssl_handshake comanda_tls_handshake
#define mbedtls_ssl_free comanda_tls_free
#define mbedtls_ssl_read comanda_tls_read
#define mbedtls_ssl_write comanda_tls_write
#define bind(descriptor, address, size) comanda_bind(descriptor, address, size)
#define listen(descriptor, backlog) comanda_listen(descriptor, backlog)
#define accept(listener, address, size) comanda_accept(listener, address, size)
#define close(descriptor) comanda_close(descriptor)
#define poll(descriptors, count, timeout_ms) comanda_poll(descriptors, count, timeout_ms)
#endif

#endif
