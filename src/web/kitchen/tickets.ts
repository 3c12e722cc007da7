// The tickets that this screen knows, and what it shows of them. No document, no network, no clock of the device: the moment
// is an argument, in milliseconds of the server.

import type { ListedTicket, Ticket, TicketLine } from 'api';

const HOUR_MS = 3600000;

// The same few instants are asked for at each drawing. Those that were not asked for while a thousand others were are forgotten.
const PARSED_MAX = 1000;
let parsed = new Map<string, number>();
let parsedBefore = new Map<string, number>();

function instant(text: string): number {
  let at = parsed.get(text);
  if (at === undefined) {
    if (parsed.size >= PARSED_MAX) {
      parsedBefore = parsed;
      parsed = new Map();
    }
    at = parsedBefore.get(text);
    if (at === undefined) at = Date.parse(text);
    parsed.set(text, at);
  }
  return at;
}

export interface Rules {
  leadMinutes: number;
  thresholds: { [service: string]: { warn_minutes: number; late_minutes: number } };
  notPrepared: { [station: string]: boolean };  // stations where nothing is made
}

// Closed tickets whose revision is remembered: an answer that is older can only be one that is still under way.
const CLOSED_MAX = 500;

export class Tickets {
  readonly shown = new Map<string, Ticket>();
  private readonly revisions = new Map<string, number>();  // of closed ones too

  // A ticket as an answer has it. False: this screen has a later one.
  take(listed: ListedTicket): boolean {
    const known = this.revisions.get(listed.order_id);
    if (known !== undefined && known > listed.revision) return false;
    this.revisions.delete(listed.order_id);  // the latest ones are behind
    this.revisions.set(listed.order_id, listed.revision);
    if (listed.state === 'closed' || !listed.lines) this.shown.delete(listed.order_id);
    else this.shown.set(listed.order_id, listed as Ticket);
    if (this.revisions.size > this.shown.size + 1.2 * CLOSED_MAX) this.forgetClosed();
    return true;
  }

  private forgetClosed(): void {
    let surplus = this.revisions.size - this.shown.size - CLOSED_MAX;
    for (const id of Array.from(this.revisions.keys())) {
      if (surplus <= 0) return;
      if (this.shown.has(id)) continue;
      this.revisions.delete(id);
      surplus--;
    }
  }

  // The whole list. `isFresh`: what was known before may be from after a restore, and is forgotten. Else a ticket that has
  // changed since the list was asked for (`before`) stays.
  takeAll(list: ListedTicket[], isFresh: boolean, before: Map<string, number>): void {
    if (isFresh) {
      this.revisions.clear();
      this.shown.clear();
    } else {
      const listed: { [id: string]: boolean } = {};
      for (const ticket of list) listed[ticket.order_id] = true;
      for (const id of Array.from(this.shown.keys())) {
        if (!listed[id] && before.get(id) === this.revisions.get(id)) this.shown.delete(id);
      }
    }
    for (const ticket of list) this.take(ticket);
  }

  seen(): Map<string, number> { return new Map(this.revisions); }
}

// When a line is to be begun, and from when its age counts.
export function beginsAt(ticket: Ticket, line: TicketLine, rules: Rules): number {
  const added = instant(line.added_at);
  return ticket.scheduled_for ? Math.max(added, instant(ticket.scheduled_for) - rules.leadMinutes * 60000) : added;
}

export function waits(ticket: Ticket, line: TicketLine, now: number): boolean {
  const from = Math.max(instant(line.added_at), ticket.scheduled_for ? instant(ticket.scheduled_for) : 0);
  return line.waits && now < from + 12 * HOUR_MS;
}

// What time alone has changed since the box said it. A state that this page does not know stays as it is.
export function stateAt(ticket: Ticket, now: number, rules: Rules): string {
  const isWaiting = ticket.lines.some((line) => waits(ticket, line, now));
  switch (ticket.state) {
    case 'later':
    case 'open':
      if (!isWaiting) return 'closed';
      return ticket.scheduled_for && instant(ticket.scheduled_for) - now > rules.leadMinutes * 60000 ? 'later' : 'open';
    case 'ready': {
      const last = Math.max(0, ...ticket.lines.map((line) => line.done_at ? instant(line.done_at) : 0));
      // Where the till has moved the order, no ticket says when: the next list does.
      return last > 0 && now >= last + HOUR_MS && ticket.out_at === null && ticket.lines.every((line) => line.done_at || line.canceled_at)
        ? 'closed' : 'ready';
    }
    case 'cancelled':
      return ticket.canceled_at && now >= instant(ticket.canceled_at) + HOUR_MS ? 'closed' : 'cancelled';
    default:
      return ticket.state;
  }
}

// What was touched here and is not sent yet, or has not been answered.
export interface Touched {
  done: { [line: string]: boolean };
  undone: { [line: string]: boolean };
  out: { [order: string]: boolean };
  started: { [order: string]: boolean };
  rush: { [order: string]: boolean };
}

export const NOTHING_TOUCHED: Touched = { done: {}, undone: {}, out: {}, started: {}, rush: {} };

export type Look = 'waits' | 'marked' | 'done' | 'cancelled';

export interface ShownLine {
  line: TicketLine;
  look: Look;
}

export interface Round {
  addedAt: string;
  lines: ShownLine[];
}

export interface Elsewhere {
  station: string;
  done: number;
  of: number;
}

export interface Card {
  ticket: Ticket;
  kind: 'open' | 'cancelled' | 'ready' | 'other';
  rounds: Round[];  // lines to be looked at, of this screen
  done: ShownLine[];  // lines of this screen that are done
  elsewhere: Elsewhere[];
  since: number;  // of the oldest line that waits
  isRush: boolean;
  isStarted: boolean;
}

export function isMine(line: TicketLine, stations: string[]): boolean {
  return line.station_id === null || stations.length === 0 || stations.indexOf(line.station_id) >= 0;
}

// How a line looks on a screen.
export function lookOf(ticket: Ticket, line: TicketLine, touched: Touched, now: number): Look {
  if (touched.done[line.id]) return 'marked';
  const isSeen = line.done_at !== null && !touched.undone[line.id];
  const isCancelled = line.canceled_at !== null || ticket.status === 'CANCELLED';
  if (isCancelled) return isSeen ? 'done' : 'cancelled';
  return waits(ticket, line, now) || touched.undone[line.id] ? 'waits' : 'done';
}

function elsewhereOf(ticket: Ticket, stations: string[], touched: Touched, now: number, rules: Rules): Elsewhere[] {
  const by = new Map<string, Elsewhere>();
  if (ticket.status === 'CANCELLED') return [];
  for (const line of ticket.lines) {
    if (isMine(line, stations) || line.station_id === null || line.canceled_at !== null || rules.notPrepared[line.station_id]) continue;
    const at = by.get(line.station_id) || { station: line.station_id, done: 0, of: 0 };
    at.of++;
    if (lookOf(ticket, line, touched, now) !== 'waits') at.done++;
    by.set(line.station_id, at);
  }
  return Array.from(by.values());
}

export function cardOf(ticket: Ticket, stations: string[], touched: Touched, now: number, rules: Rules): Card | null {
  const state = stateAt(ticket, now, rules);
  if (state === 'closed' || state === 'later' || touched.out[ticket.order_id]) return null;
  const rounds: Round[] = [];
  const done: ShownLine[] = [];
  let since = Infinity;
  for (const line of ticket.lines) {
    if (!isMine(line, stations) || (line.station_id !== null && rules.notPrepared[line.station_id])) continue;
    const look = lookOf(ticket, line, touched, now);
    if (look === 'done') {
      done.push({ line, look });
      continue;
    }
    let round = rounds[rounds.length - 1];
    if (!round || round.addedAt !== line.added_at) rounds.push(round = { addedAt: line.added_at, lines: [] });
    round.lines.push({ line, look });
    if (look === 'waits') since = Math.min(since, beginsAt(ticket, line, rules));
  }
  if (since === Infinity) since = instant(ticket.opened_at);
  const rush = touched.rush[ticket.order_id];
  const kind = state === 'open' || state === 'cancelled' || state === 'ready' ? state : 'other';
  return { ticket, kind, rounds, done, elsewhere: elsewhereOf(ticket, stations, touched, now, rules), since,
    isRush: rush === undefined ? ticket.rush_at !== null : rush,
    isStarted: ticket.status !== 'PENDING' || touched.started[ticket.order_id] === true };
}

// Those with something to look at, in the order in which they are to be made: rushed ones, then the oldest waiting line.
export function cardsOf(tickets: Iterable<Ticket>, stations: string[], touched: Touched, now: number, rules: Rules): Card[] {
  const cards: Card[] = [];
  for (const ticket of Array.from(tickets)) {
    const card = cardOf(ticket, stations, touched, now, rules);
    if (card && (card.rounds.length > 0 || (card.kind === 'other' && card.done.length > 0))) cards.push(card);
  }
  return inOrder(cards);
}

export function inOrder(cards: Card[]): Card[] {
  return cards.sort((a, b) => Number(b.isRush) - Number(a.isRush) || a.since - b.since ||
    a.ticket.order_number - b.ticket.order_number || (a.ticket.order_id < b.ticket.order_id ? -1 : 1));
}

export type Pace = 'well' | 'warn' | 'late';

export function minutesOf(since: number, now: number): number { return Math.max(0, Math.floor((now - since) / 60000)); }

export function paceOf(service: string, minutes: number, rules: Rules): Pace {
  const limits = rules.thresholds[service];
  if (!limits) return 'well';
  return minutes >= limits.late_minutes ? 'late' : minutes >= limits.warn_minutes ? 'warn' : 'well';
}

// All-day: how many of each dish wait.

export interface Dish {
  key: string;
  name: string;
  variant: string | null;
  quantity: number;
  productId: string | null;
  kinds: { text: string; quantity: number }[];  // with which modifiers and comment
  orders: string[];
}

export function modifiersOf(line: TicketLine): string[] {
  return line.modifiers.map((each) => (each.quantity === 1 ? '' : each.quantity + '× ') + each.name);
}

export function variantOf(line: TicketLine): string {
  const parts = modifiersOf(line);
  if (line.comment) parts.push('«' + line.comment + '»');
  return parts.join(', ');
}

export function dishKey(line: TicketLine): string { return (line.variant || '') + '\n' + line.name; }

export function allDay(cards: Card[]): Dish[] {
  const dishes = new Map<string, Dish>();
  for (const card of cards) {
    for (const round of card.rounds) {
      for (const { line, look } of round.lines) {
        if (look !== 'waits') continue;
        const key = dishKey(line);
        const dish = dishes.get(key) || { key, name: line.name, variant: line.variant, quantity: 0, productId: line.product_id, kinds: [], orders: [] };
        dish.quantity += line.quantity;
        if (dish.orders.indexOf(card.ticket.order_id) < 0) dish.orders.push(card.ticket.order_id);
        const text = variantOf(line);
        const kind = dish.kinds.filter((each) => each.text === text)[0];
        if (kind) kind.quantity += line.quantity;
        else dish.kinds.push({ text, quantity: line.quantity });
        dishes.set(key, dish);
      }
    }
  }
  return Array.from(dishes.values()).sort((a, b) => b.quantity - a.quantity || (a.name < b.name ? -1 : 1));
}

// What is heard.

export interface Heard {
  isNew: boolean;
  isCancelled: boolean;
}

// Lines that were announced and are no longer on the glass: so many are remembered, should they come back.
const GONE_MAX = 1000;

// Remembers what was announced, so that nothing is twice, whatever is read again.
export class Announced {
  private readonly ids = new Set<string>();

  // `kept`: of the page before a reload; null: a screen that begins, and has nothing to announce.
  constructor(kept: string[] | null) {
    this.isBeginning = kept === null;
    for (const id of kept || []) this.ids.add(id);
  }

  private isBeginning: boolean;

  note(cards: Card[]): Heard {
    const heard: Heard = { isNew: false, isCancelled: false };
    const present = new Set<string>();
    for (const card of cards) {
      for (const round of card.rounds) {
        for (const { line, look } of round.lines) {
          if (look === 'waits' && !this.ids.has(line.id)) {
            heard.isNew = true;
            this.ids.add(line.id);
          }
          // Only of what was announced: a dish that was never shown is not missed.
          const gone = 'x' + line.id;
          if (look === 'cancelled' && !this.ids.has(gone)) {
            if (this.ids.has(line.id) || card.kind === 'cancelled') heard.isCancelled = true;
            this.ids.add(line.id).add(gone);
          }
          present.add(line.id).add(gone);
        }
      }
    }
    if (this.ids.size > present.size + 1.2 * GONE_MAX) this.forget(present);
    if (this.isBeginning) {
      this.isBeginning = false;
      return { isNew: false, isCancelled: false };
    }
    return heard;
  }

  private forget(present: Set<string>): void {
    let surplus = this.ids.size - present.size - GONE_MAX;
    for (const id of Array.from(this.ids)) {
      if (surplus <= 0) return;
      if (present.has(id)) continue;
      this.ids.delete(id);
      surplus--;
    }
  }

  kept(): string[] { return Array.from(this.ids); }
}
