import assert from 'node:assert';
import test from 'node:test';
import { Texts, textsOf } from '../../../src/web/shared/texts';

// The same in two languages, and meant so.
const SAME = /^(Internet|Delivery|Volume|Normal|[^a-z]*|\{n\} min|.*\{[a-z]+\}[^a-z]*)$/i;

function filledIn(text: string): string { return (text.match(/\{\w+\}/g) || []).sort().join(); }

test('no text is left in another language, and all fill in the same', () => {
  const [es, en, pt] = [textsOf('es'), textsOf('en'), textsOf('pt')];
  for (const name of Object.keys(es) as (keyof Texts)[]) {
    assert.ok(es[name] !== en[name] || SAME.test(es[name]), name + ': ' + es[name]);
    assert.ok(pt[name] !== en[name] || SAME.test(pt[name]), name + ': ' + pt[name]);
    assert.equal(filledIn(en[name]), filledIn(es[name]), name);
    assert.equal(filledIn(pt[name]), filledIn(es[name]), name);
  }
});
