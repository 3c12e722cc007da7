import assert from 'node:assert';
import test from 'node:test';
import { dayAndTime, nextTimeOfDay, ServerClock } from '../../../src/web/shared/time';
import { Language, textsOf } from '../../../src/web/shared/texts';

test('the server\'s time is known to a second, whatever the device believes', () => {
  let monotonic = 1000;
  const clock = new ServerClock(() => monotonic);
  const real = Date.parse('2026-11-26T12:00:00.700Z');  // at monotonic 1000
  clock.note('Thu, 26 Nov 2026 12:00:00 GMT', 990, 1000);
  assert.ok(Math.abs(clock.now() - real) < 600, String(clock.now() - real));
  // Answers narrow it: at real second's end the Date steps.
  monotonic = 1310;
  clock.note('Thu, 26 Nov 2026 12:00:01 GMT', 1305, 1310);
  assert.ok(Math.abs(clock.now() - (real + 310)) < 50, String(clock.now() - real - 310));
});

test('a slow answer does not make the time worse, a step of the server is followed', () => {
  const clock = new ServerClock(() => 100000);
  clock.note('Thu, 26 Nov 2026 12:00:00 GMT', 0, 10);
  const before = clock.now();
  clock.note('Thu, 26 Nov 2026 12:00:00 GMT', 0, 9000);
  assert.equal(clock.now(), before);
  clock.note('Thu, 26 Nov 2026 13:00:00 GMT', 10000, 10010);
  assert.ok(clock.now() - before > 3500000);
  clock.note('nonsense', 0, 0);
  clock.note(null, 0, 0);
});

test('the next beginning of the day is by the restaurant\'s wall clock, through changes of the clocks', () => {
  const next = (now: string, time: string, zone: string) => new Date(nextTimeOfDay(Date.parse(now), time, zone)).toISOString();
  assert.equal(next('2026-11-26T17:00:00Z', '05:00', 'America/Lima'), '2026-11-27T10:00:00.000Z');
  assert.equal(next('2026-11-27T09:59:59Z', '05:00', 'America/Lima'), '2026-11-27T10:00:00.000Z');
  assert.equal(next('2026-11-27T10:00:00Z', '05:00', 'America/Lima'), '2026-11-28T10:00:00.000Z');
  assert.equal(next('2026-03-07T23:00:00Z', '05:00', 'America/New_York'), '2026-03-08T09:00:00.000Z');
  assert.equal(next('2026-10-31T23:00:00Z', '05:00', 'America/New_York'), '2026-11-01T10:00:00.000Z');
});

test('a time of another day says which', () => {
  const says = (at: string, language: Language = 'es') =>
    dayAndTime(Date.parse(at), Date.parse('2026-11-26T17:00:00Z'), language, 'America/Lima', textsOf(language));
  assert.equal(says('2026-11-26T23:30:00Z'), 'las 18:30');
  assert.equal(says('2026-11-27T04:59:00Z'), 'las 23:59');
  assert.equal(says('2026-11-27T10:00:00Z'), 'mañana 05:00');
  assert.equal(says('2026-11-27T10:00:00Z', 'en'), 'tomorrow 05:00');
  assert.equal(says('2026-11-25T10:00:00Z', 'pt'), 'ontem 05:00');
  assert.match(says('2026-11-30T10:00:00Z'), /^lun.* 30 05:00$/);
});
