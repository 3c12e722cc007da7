import assert from 'node:assert';
import test from 'node:test';
import type { Readiness } from 'api';
import { cloudText, internetText, kitchenText, troublesOutside } from '../../../src/web/kitchen/truth';
import { Language, textsOf } from '../../../src/web/shared/texts';

const SINCE = '2026-11-26T17:04:00.000Z';
const CODES = ['not_linked', 'in_step', 'behind', 'paused', 'unreachable', 'failing', 'certificate', 'clock', 'key_refused', 'held', 'stopped'];
const when = () => '12:04';

function said(internet: string, sync: string, steps_waiting = 0): Readiness {
  return { status: 'ready', checks: {
    sync: { ok: true, state: 'ENGLISH ' + sync, code: sync, since: SINCE, steps_waiting },
    internet: { ok: true, state: 'ENGLISH ' + internet, code: internet, since: SINCE },
    kitchen: { ok: true, state: 'ENGLISH', displays: 3, unwatched: 1, muted: 0 },
  } } as unknown as Readiness;
}

function bar(internet: string, sync: string, language: Language = 'en'): string[] {
  return troublesOutside(said(internet, sync), textsOf(language), when).map(({ text }) => text);
}

test('the bar is quiet while all is well, and where nothing is known', () => {
  for (const internet of ['ok', 'unknown']) for (const sync of ['not_linked', 'in_step', 'behind']) assert.deepEqual(bar(internet, sync), []);
  assert.deepEqual(troublesOutside(null, textsOf('en'), when), []);
  assert.deepEqual(troublesOutside({ status: 'not_ready', checks: {} } as unknown as Readiness, textsOf('en'), when), []);
});

test('the internet that is away, a cloud that is down and a box without a cloud are three truths', () => {
  assert.deepEqual(bar('down', 'unreachable'), ['Internet: no connection since 12:04. The kitchen goes on; the cloud and the apps wait.']);
  assert.deepEqual(bar('down', 'not_linked'), bar('down', 'unreachable'));
  assert.deepEqual(bar('ok', 'unreachable'), ['Cloud: does not answer since 12:04. The internet works']);
  assert.deepEqual(bar('unknown', 'unreachable'), ['Cloud: does not answer since 12:04']);
  assert.deepEqual(bar('ok', 'key_refused'), ['Cloud: does not accept the key of the box, tell the technician']);
  assert.equal(bar('down', 'key_refused').length, 2);
});

test('every code speaks each language, and one that the page does not know is shown as the box says it', () => {
  for (const language of ['es', 'en', 'pt'] as const) {
    const texts = textsOf(language);
    const all = CODES.map((code) => cloudText(said('ok', code), texts, when)).concat(
      ['ok', 'down', 'unknown'].map((code) => internetText(said(code, 'in_step'), texts, when)), kitchenText(said('ok', 'in_step'), texts));
    assert.equal(new Set(all).size, all.length);
    for (const text of all) assert.ok(text !== '' && !/ENGLISH|undefined|\{/.test(text), text);
  }
  assert.equal(cloudText(said('ok', 'on_fire'), textsOf('es'), when), 'ENGLISH on_fire');
  assert.equal(cloudText(said('ok', 'behind', 412), textsOf('es'), when), 'poniéndose al día · por enviar: 412');
});
