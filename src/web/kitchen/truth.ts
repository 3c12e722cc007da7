// What /readyz says of the world around the box, in the page's language. Made of its codes and counts; a code that this page
// does not know is shown as the box describes it.

import type { Readiness } from 'api';
import { fill, Texts } from '../shared/texts';

// Absent while the box has not said it, or not lately: then nothing is said of it.
export type Said = Readiness | null;

type When = (instant: string) => string;

function since(text: string, instant: string | undefined, texts: Texts, when: When): string {
  return instant ? text + ' ' + fill(texts.since, { when: when(instant) }) : text;
}

export function internetText(said: Said, texts: Texts, when: When): string {
  const check = said && said.checks && said.checks.internet;
  if (!check) return '';
  const names: { [code: string]: string } = { ok: texts.internetOk, down: texts.internetDown, unknown: texts.internetUnknown };
  return since(names[check.code] || check.state, check.code === 'down' ? check.since : undefined, texts, when);
}

export function cloudText(said: Said, texts: Texts, when: When): string {
  const check = said && said.checks && said.checks.sync;
  if (!check) return '';
  const names: { [code: string]: string } = { not_linked: texts.cloudNone, in_step: texts.cloudInStep, behind: texts.cloudBehind,
    paused: texts.cloudPaused, unreachable: texts.cloudUnreachable, failing: texts.cloudFailing, certificate: texts.cloudCertificate,
    clock: texts.cloudClock, key_refused: texts.cloudKey, held: texts.cloudHeld, stopped: texts.cloudStopped };
  const dated = /^(paused|unreachable|failing)$/.test(check.code) ? check.since : undefined;
  const text = since(names[check.code] || check.state, dated, texts, when);
  return check.steps_waiting > 0 ? text + ' · ' + fill(texts.stepsWaiting, { n: check.steps_waiting }) : text;
}

export function kitchenText(said: Said, texts: Texts): string {
  const check = said && said.checks && said.checks.kitchen;
  if (!check) return '';
  return [fill(texts.displays, { n: check.displays }), check.unwatched > 0 ? fill(texts.displaysUnwatched, { n: check.unwatched }) : '',
    check.muted > 0 ? fill(texts.displaysMuted, { n: check.muted }) : ''].filter((part) => part !== '').join(' · ');
}

// What stands in the bar: nothing while all is well. An internet that is away explains a cloud that does not answer.
export function troublesOutside(said: Said, texts: Texts, when: When): { subject: 'internet' | 'cloud'; text: string }[] {
  if (!said || !said.checks) return [];
  const { internet, sync } = said.checks;
  const troubles: { subject: 'internet' | 'cloud'; text: string }[] = [];
  const isDown = !!internet && internet.code === 'down';
  if (isDown) troubles.push({ subject: 'internet', text: texts.internet + ': ' + internetText(said, texts, when) + '. ' + texts.goesOn });
  const isWell = !sync || /^(not_linked|in_step|behind)$/.test(sync.code);
  if (!isWell && !(isDown && sync.code === 'unreachable')) {
    const works = internet && internet.code === 'ok' && sync.code === 'unreachable' ? '. ' + texts.internetWorks : '';
    troubles.push({ subject: 'cloud', text: texts.cloud + ': ' + cloudText(said, texts, when) + works });
  }
  return troubles;
}
