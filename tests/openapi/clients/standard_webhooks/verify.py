"""Verifies the message that standard input describes as {"secret", "headers", "body"}; prints OK, or the name of the error."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

message = json.load(sys.stdin)
try:
    assert Webhook(message["secret"]).verify(message["body"].encode(), message["headers"]) == json.loads(message["body"])
    print("OK")
except WebhookVerificationError as error:
    print(f"{type(error).__name__}: {error}")
