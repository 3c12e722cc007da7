// One request to the box, with a limit of time. Everything that can go wrong is one of three: no answer, a refusal with the
// problem document's code, or a key that is not accepted any more.

import type { Problem } from 'api';
import { ServerClock } from './time';

export class NoAnswer extends Error {}

export class Refused extends Error {
  constructor(readonly status: number, readonly code: string, readonly detail: string, readonly retryAfterMs: number) {
    super(detail);
  }

  // A repeat of the same request may succeed.
  get isPassing(): boolean { return this.status >= 500 || this.status === 429 || this.status === 408; }
}

// The key is unknown, revoked, expired, or of the other address.
export class LockedOut extends Refused {}

export interface Answer<Body> {
  status: number;
  body: Body;
  headers: Headers;
}

export interface Sending {
  body?: unknown;
  headers?: { [name: string]: string };
  limitMs?: number;
  signal?: AbortSignal;
}

const LIMIT_MS = 12000;

export class Api {
  key: string | null = null;
  lastByteAt: number;  // monotonic
  pageVersion: string | null = null;  // of the server, as its last answer said

  constructor(readonly clock: ServerClock, private readonly heard: () => void = () => undefined) {
    this.lastByteAt = performance.now();
  }

  async send<Body>(method: string, path: string, sending: Sending = {}): Promise<Answer<Body>> {
    const abort = new AbortController();
    const limit = setTimeout(() => abort.abort(), sending.limitMs || LIMIT_MS);
    const give_up = () => abort.abort();
    if (sending.signal) sending.signal.addEventListener('abort', give_up);
    const headers: { [name: string]: string } = { ...sending.headers };
    if (this.key) headers['Authorization'] = 'Bearer ' + this.key;
    if (sending.body !== undefined) headers['Content-Type'] = 'application/json';
    const sentAt = performance.now();
    let answer: Response;
    let body: unknown = null;
    try {
      answer = await fetch(path, { method, headers, cache: 'no-store', credentials: 'omit', signal: abort.signal,
        body: sending.body === undefined ? undefined : JSON.stringify(sending.body) });
      this.lastByteAt = performance.now();
      this.clock.note(answer.headers.get('Date'), sentAt, this.lastByteAt);
      const text = await answer.text();
      this.lastByteAt = performance.now();
      if (text) body = JSON.parse(text);
    } catch (error) {
      throw new NoAnswer(String(error));
    } finally {
      clearTimeout(limit);
      if (sending.signal) sending.signal.removeEventListener('abort', give_up);
    }
    this.pageVersion = answer.headers.get('X-Page-Version') || this.pageVersion;
    this.heard();
    if (answer.status < 400) return { status: answer.status, body: body as Body, headers: answer.headers };
    const problem = (body || {}) as Partial<Problem>;
    const retryAfterMs = Number(answer.headers.get('Retry-After') || 0) * 1000;
    const isLocked = answer.status === 401 || (answer.status === 403 && path.indexOf('/v1/') === 0);
    throw new (isLocked ? LockedOut : Refused)(answer.status, problem.code || String(answer.status), problem.detail || '', retryAfterMs);
  }
}
