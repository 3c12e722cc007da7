// Verifies the message that standard input describes as {"secret", "headers", "body"}; prints OK, or the name of the error.

const assert = require('node:assert');
const fs = require('node:fs');
const { Webhook, WebhookVerificationError } = require('standardwebhooks');

const { secret, headers, body } = JSON.parse(fs.readFileSync(0, 'utf8'));
try {
  assert.deepStrictEqual(new Webhook(secret).verify(Buffer.from(body), headers), JSON.parse(body));
  console.log('OK');
} catch (error) {
  if (!(error instanceof WebhookVerificationError)) throw error;
  console.log(`${error.name}: ${error.message}`);
}
