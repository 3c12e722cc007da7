"""What needs no key: health, metrics, problem pages, the document of the API and the page that shows it."""

from golden.walks.common import demo

PATHS = ["/healthz", "/readyz", "/metrics", "/problems", "/problems/not_found", "/v1/openapi.json", "/docs", "/docs/tools.js",
         "/docs/programs/till.py", "/docs/programs/OfflineTill.kt"]
GZIP = "Accept-Encoding: gzip, deflate, br"
CODES = """invalid_json invalid_parameter missing_idempotency_key invalid_header conflicting_credentials unauthorized
key_revoked key_expired wrong_environment insufficient_scope address_not_allowed https_required not_found method_not_allowed
not_acceptable request_timeout length_required payload_too_large uri_too_long unsupported_media_type expectation_failed
misdirected_request headers_too_large cursor_expired precondition_failed validation_failed order_not_editable
order_cancelled order_closed order_has_active_payments use_cancel_endpoint idempotency_key_reused last_managing_key
rate_limit_exceeded internal_error not_implemented service_unavailable version_not_supported""".split()


def walk(r):
    demo(r)
    for path in PATHS:
        answer = r.ask(f"{path}", "GET", path, who="nobody")
        r.ask(f"{path}: HEAD", "HEAD", path, who="nobody")
        r.ask(f"{path}: gzip is welcome", "GET", path, None, GZIP, who="nobody")
        r.ask(f"{path}: gzip is welcome, HEAD", "HEAD", path, None, GZIP, who="nobody")
        r.ask(f"{path}: with a key", "GET", path)
        r.ask(f"{path}: HTML is wanted", "GET", path, None, "Accept: text/html", who="nobody")
        r.ask(f"{path}: a parameter", "GET", path + "?x=1", who="nobody")
        r.ask(f"{path}: a page of another origin asks", "GET", path, None, "Origin: https://evil.example", who="nobody")
        if "etag" in answer.headers:
            for name, tag in (("its tag", answer.etag), ("any tag", "*"), ("another tag", '"x"'), ("no tag", "x")):
                r.ask(f"{path}: unless it has {name}", "GET", path, None, f"If-None-Match: {tag}", who="nobody")
    for path in ("/kitchen", "/kitchen/worker.js"):
        answer = r.ask(f"{path}", "GET", path, who="nobody")
        r.ask(f"{path}: HEAD", "HEAD", path, who="nobody")
        r.ask(f"{path}: a parameter", "GET", path + "?x=1", who="nobody")
        r.ask(f"{path}: unless it has its tag", "GET", path, None, f"If-None-Match: {answer.etag}", who="nobody")
    r.ask("the kitchen of a station", "GET", "/kitchen?station=a&view=pass", who="nobody")
    r.ask("no file of the kitchen", "GET", "/kitchen/nothing.js", who="nobody")
    for code in CODES:
        r.ask(f"page of {code}", "GET", f"/problems/{code}", who="nobody")
    r.ask("no program", "GET", "/docs/programs/nothing.py", who="nobody")
    for language in ("es-PE,es;q=0.9", "pt-BR", "fr"):
        r.ask(f"page of a problem for who reads {language}", "GET", "/problems/order_closed", None, f"Accept-Language: {language}", who="nobody")
    r.ask("page of no problem", "GET", "/problems/nothing", who="nobody")
    r.ask("OPTIONS of everything", "OPTIONS", "*", who="nobody")
    r.ask("OPTIONS of nothing", "OPTIONS", "/nothing", who="nobody")
    r.ask("an id of the request", "GET", "/healthz", None, "X-Request-Id: till-1.20261120_7", who="nobody")
    r.ask("an id of the request, refused", "GET", "/nothing", None, "X-Request-Id: till-1.20261120_7", who="nobody")
    r.ask("an id of the request that is none", "GET", "/nothing", None, "X-Request-Id: a b", who="nobody")
