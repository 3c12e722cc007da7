// What was touched on this screen, in its order, from the touch until the box has answered. Each mark waits for some seconds,
// in which it can be undone, and is then sent with an Idempotency-Key of its own, so that no repeat does it twice. They are
// kept in the browser, where neither a reload nor a line that is cut loses them; those of a tab that was closed are sent by
// another one.

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
  tab?: string;  // in which it was made: it is undone there alone
  place?: number;  // in the order of all that this browser keeps
}

export const UNDO_MS = 5000;

interface Waiting {
  mark: Mark;
  dueAt: number;  // monotonic
  isSending: boolean;
}

// What the browser keeps, of all its tabs.
export interface Keeping {
  all(): Mark[];
  put(mark: Mark): void;
  has(mark: Mark): boolean;
  drop(mark: Mark): void;
}

export class Marks {
  private list: Waiting[] = [];

  constructor(private readonly keeping: Keeping, private readonly tab: () => string, private readonly now: () => number) {
    this.adopt();
  }

  // Takes up what is kept: of this tab before a reload, and of tabs that may have been closed. All wait their full time, since
  // how long the page was closed is not known.
  adopt(): void {
    const known: { [id: string]: boolean } = {};
    for (const { mark } of this.list) known[mark.id] = true;
    for (const mark of this.keeping.all()) {
      if (!known[mark.id]) this.list.push({ mark, dueAt: this.now() + UNDO_MS, isSending: false });
    }
    this.list.sort((a, b) => (a.mark.place || 0) - (b.mark.place || 0));
  }

  // What can be undone waits; the rest is sent at once.
  add(touched: Mark): void {
    const last = this.list[this.list.length - 1];
    const mark: Mark = { ...touched, tab: this.tab(), place: last ? (last.mark.place || 0) + 1 : 1 };
    const canUndo = mark.kind === 'done' || mark.kind === 'out' || mark.kind === 'sold-out';
    this.list.push({ mark, dueAt: this.now() + (canUndo ? UNDO_MS : 0), isSending: false });
    this.keeping.put(mark);
  }

  get count(): number { return this.list.length; }

  // Those whose time to undo is over: they wait for the box.
  get overdue(): number { return this.list.filter((each) => each.dueAt <= this.now()).length; }

  // The newest that can be undone, and until when.
  undoable(): { mark: Mark; leftMs: number } | null {
    for (let i = this.list.length - 1; i >= 0; i--) {
      const each = this.list[i]!;
      if (!each.isSending && each.dueAt > this.now() && this.isMine(each)) return { mark: each.mark, leftMs: each.dueAt - this.now() };
    }
    return null;
  }

  undo(): Mark | null {
    const last = this.undoable();
    if (!last) return null;
    this.settled(last.mark);
    return last.mark;
  }

  private isMine(each: Waiting): boolean { return each.mark.tab === this.tab(); }

  // Takes a line out of a mark that is not sent yet; false where it is too late.
  unmark(line: string): boolean {
    for (const each of this.list) {
      if (each.mark.kind !== 'done' || each.isSending || each.dueAt <= this.now() || !this.isMine(each) || each.mark.lines.indexOf(line) < 0) continue;
      each.mark = { ...each.mark, lines: each.mark.lines.filter((id) => id !== line) };
      if (each.mark.lines.length > 0) this.keeping.put(each.mark);
      else this.settled(each.mark);
      return true;
    }
    return false;
  }

  // The next to be sent: the first whose time has come and before which nothing of the same subject waits.
  next(): Mark | null {
    // Another tab's, which has undone it or sent it meanwhile.
    const isGone = (each: Waiting) => !each.isSending && each.dueAt <= this.now() && !this.isMine(each) && !this.keeping.has(each.mark);
    this.list = this.list.filter((each) => !isGone(each));
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

  // The box has answered, whatever it said; or it was undone.
  settled(mark: Mark): void {
    this.list = this.list.filter((each) => each.mark.id !== mark.id);
    this.keeping.drop(mark);
  }

  forget(): void {
    for (const { mark } of this.list) this.keeping.drop(mark);
    this.list = [];
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
