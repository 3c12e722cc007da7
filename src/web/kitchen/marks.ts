// What was touched on this screen, in its order, from the touch until the box has answered. Each mark waits for some seconds,
// in which it can be undone, and is then sent with an Idempotency-Key of its own, so that no repeat does it twice. They are
// kept in the browser, where neither a reload nor a line that is cut loses them.

import { NOTHING_TOUCHED, Touched } from './tickets';

export type MarkKind = 'done' | 'undo' | 'start' | 'rush' | 'out' | 'sold-out' | 'in-stock';

export interface Mark {
  id: string;  // the Idempotency-Key
  kind: MarkKind;
  subject: string;  // the order or the product: what concerns one is sent in its order
  lines: string[];
  isOn?: boolean;  // of rush
  until?: string | null;  // of sold-out
  number?: number;  // of the order, to speak of it
  what: string;  // the dish, to speak of it
  isModifier?: boolean;
}

export const UNDO_MS = 5000;

interface Waiting {
  mark: Mark;
  dueAt: number;  // monotonic
  isSending: boolean;
}

export interface Keeping {
  read(): Mark[] | null;
  write(marks: Mark[]): void;
}

export class Marks {
  private list: Waiting[] = [];

  // Marks of before a reload are sent after a full wait: how long the page was closed is not known.
  constructor(private readonly keeping: Keeping, private readonly now: () => number) {
    this.list = (keeping.read() || []).map((mark) => ({ mark, dueAt: now() + UNDO_MS, isSending: false }));
  }

  private keep(): void { this.keeping.write(this.list.map((each) => each.mark)); }

  // What can be undone waits; the rest is sent at once.
  add(mark: Mark): void {
    const canUndo = mark.kind === 'done' || mark.kind === 'out' || mark.kind === 'sold-out';
    this.list.push({ mark, dueAt: this.now() + (canUndo ? UNDO_MS : 0), isSending: false });
    this.keep();
  }

  get count(): number { return this.list.length; }

  // Those whose time to undo is over: they wait for the box.
  get overdue(): number { return this.list.filter((each) => each.dueAt <= this.now()).length; }

  // The newest that can be undone, and until when.
  undoable(): { mark: Mark; leftMs: number } | null {
    for (let i = this.list.length - 1; i >= 0; i--) {
      const each = this.list[i]!;
      if (!each.isSending && each.dueAt > this.now()) return { mark: each.mark, leftMs: each.dueAt - this.now() };
    }
    return null;
  }

  undo(): Mark | null {
    const last = this.undoable();
    if (!last) return null;
    this.list = this.list.filter((each) => each.mark !== last.mark);
    this.keep();
    return last.mark;
  }

  // Takes a line out of a mark that is not sent yet; false where it is too late.
  unmark(line: string): boolean {
    for (const each of this.list) {
      if (each.mark.kind !== 'done' || each.isSending || each.dueAt <= this.now() || each.mark.lines.indexOf(line) < 0) continue;
      each.mark = { ...each.mark, lines: each.mark.lines.filter((id) => id !== line) };
      this.list = this.list.filter((one) => one.mark.kind !== 'done' || one.mark.lines.length > 0);
      this.keep();
      return true;
    }
    return false;
  }

  // The next to be sent: the first whose time has come and before which nothing of the same subject waits.
  next(): Mark | null {
    const before: { [subject: string]: boolean } = {};
    for (const each of this.list) {
      if (each.dueAt <= this.now() && !before[each.mark.subject]) {
        each.isSending = true;
        return each.mark;
      }
      before[each.mark.subject] = true;
    }
    return null;
  }

  // The box has answered, whatever it said.
  settled(mark: Mark): void {
    this.list = this.list.filter((each) => each.mark.id !== mark.id);
    this.keep();
  }

  forget(): void {
    this.list = [];
    this.keep();
  }

  touched(): Touched {
    if (this.list.length === 0) return NOTHING_TOUCHED;
    const touched: Touched = { done: {}, undone: {}, out: {}, started: {}, rush: {} };
    for (const { mark } of this.list) {
      for (const line of mark.lines) {
        if (mark.kind === 'done') {
          touched.done[line] = true;
          delete touched.undone[line];
        } else if (mark.kind === 'undo') {
          touched.undone[line] = true;
          delete touched.done[line];
        }
      }
      if (mark.kind === 'out') touched.out[mark.subject] = true;
      if (mark.kind === 'undo') delete touched.out[mark.subject];
      if (mark.kind === 'start') touched.started[mark.subject] = true;
      if (mark.kind === 'rush') touched.rush[mark.subject] = mark.isOn === true;
    }
    return touched;
  }
}

export interface Call {
  method: string;
  path: string;
  body: unknown;
}

export function callOf(mark: Mark): Call {
  const ticket = '/v1/kitchen/tickets/' + mark.subject + '/';
  const stock = '/v1/menu/' + (mark.isModifier ? 'modifiers/' : 'products/') + mark.subject + '/sold-out';
  switch (mark.kind) {
    case 'done': return { method: 'POST', path: ticket + 'done', body: { line_ids: mark.lines } };
    case 'undo': return { method: 'POST', path: ticket + 'undo', body: { line_ids: mark.lines } };
    case 'start': return { method: 'POST', path: ticket + 'start', body: {} };
    case 'rush': return { method: 'POST', path: ticket + 'rush', body: { on: mark.isOn === true } };
    case 'out': return { method: 'POST', path: ticket + 'out', body: {} };
    case 'sold-out': return { method: 'PUT', path: stock, body: { until: mark.until || null } };
    case 'in-stock': return { method: 'DELETE', path: stock, body: undefined };
  }
}
