import assert from 'node:assert';
import test from 'node:test';
import type { ListedTicket, Ticket, TicketLine } from 'api';
import { allDay, Announced, cardsOf, minutesOf, NOTHING_TOUCHED, paceOf, Rules, stateAt, Tickets } from '../../../src/web/kitchen/tickets';

const NOON = Date.parse('2026-11-26T12:00:00Z');
const MINUTE = 60000;
const RULES: Rules = { leadMinutes: 20, thresholds: { TABLE: { warn_minutes: 8, late_minutes: 15 } }, notPrepared: { counter: true } };

function at(minutes: number): string { return new Date(NOON + minutes * MINUTE).toISOString(); }

function line(id: string, fields: Partial<TicketLine> = {}): TicketLine {
  return { id, station_id: 'bar', product_id: null, quantity: 1, name: 'Ceviche', variant: null, modifiers: [], comment: null, added_at: at(0),
    canceled_at: null, waits: true, done_at: null, done_by: null, ...fields };
}

function ticket(id: string, lines: TicketLine[], fields: Partial<Ticket> = {}): Ticket {
  return { order_id: id, revision: 1, state: 'open', order_number: 1, public_id: 'PE-1', status: 'PENDING', service_type: 'TABLE', source: 'API',
    table: null, name: null, comment: null, scheduled_for: null, rush_at: null, out_at: null, cancel_reason: null, canceled_at: null,
    opened_at: at(0), lines, ...fields };
}

function orders(tickets: Ticket[], now = NOON, stations: string[] = []): string[] {
  return cardsOf(tickets, stations, NOTHING_TOUCHED, now, RULES).map((card) => card.ticket.order_id);
}

function names(found: { shown: Map<string, Ticket> }): string[] { return Array.from(found.shown.keys()); }

test('a lower revision is ignored, of closed tickets too', () => {
  const tickets = new Tickets();
  tickets.take(ticket('a', [line('1')], { revision: 5 }));
  assert.equal(tickets.take(ticket('a', [], { revision: 4 })), false);
  assert.equal(tickets.shown.get('a')!.lines.length, 1);
  tickets.take({ order_id: 'a', revision: 6, state: 'closed', status: 'READY' } as ListedTicket);
  tickets.take(ticket('a', [line('1')], { revision: 5 }));
  assert.deepEqual(names(tickets), []);
});

test('a list removes what is no longer there, but not what has changed since it was asked for', () => {
  const tickets = new Tickets();
  tickets.take(ticket('a', [line('1')]));
  tickets.take(ticket('b', [line('2')]));
  const before = tickets.seen();
  tickets.take(ticket('c', [line('3')], { revision: 2 }));
  tickets.take(ticket('b', [line('2')], { revision: 9 }));
  tickets.takeAll([], false, before);
  assert.deepEqual(names(tickets), ['b', 'c']);
});

test('after a restore lower revisions are the truth', () => {
  const tickets = new Tickets();
  tickets.take(ticket('a', [line('1')], { revision: 9 }));
  tickets.takeAll([ticket('a', [line('1'), line('2')], { revision: 2 })], true, new Map());
  assert.equal(tickets.shown.get('a')!.lines.length, 2);
});

test('the oldest waiting line is first, rushed ones before', () => {
  const old = ticket('old', [line('1', { waits: false, done_at: at(1) }), line('2', { added_at: at(6) })]);
  const fresh = ticket('fresh', [line('3', { added_at: at(5) })]);
  const rushed = ticket('rushed', [line('4', { added_at: at(7) })], { rush_at: at(7) });
  assert.deepEqual(orders([old, fresh, rushed], NOON + 8 * MINUTE), ['rushed', 'fresh', 'old']);
});

test('a screen shows the lines of its stations and those of none', () => {
  const mixed = ticket('a', [line('1', { station_id: 'grill' }), line('2'), line('3', { station_id: null })]);
  const [card] = cardsOf([mixed, ticket('b', [line('4', { station_id: 'grill' })])], ['bar'], NOTHING_TOUCHED, NOON, RULES);
  assert.deepEqual(card!.rounds[0]!.lines.map((each) => each.line.id), ['2', '3']);
  assert.deepEqual(card!.elsewhere, [{ station: 'grill', done: 0, of: 1 }]);
  assert.deepEqual(orders([mixed, ticket('b', [line('4', { station_id: 'grill' })])], NOON, ['bar']), ['a']);
});

test('lines of a station that prepares nothing are on no card', () => {
  assert.deepEqual(orders([ticket('a', [line('1', { station_id: 'counter' })])]), []);
});

test('time alone makes later open, and ends what is too old', () => {
  const later = ticket('a', [line('1')], { state: 'later', scheduled_for: at(60) });
  assert.equal(stateAt(later, NOON + 39 * MINUTE, RULES), 'later');
  assert.equal(stateAt(later, NOON + 40 * MINUTE, RULES), 'open');
  const open = ticket('b', [line('1')]);
  assert.equal(stateAt(open, NOON + 719 * MINUTE, RULES), 'open');
  assert.equal(stateAt(open, NOON + 720 * MINUTE, RULES), 'closed');
  const cancelled = ticket('c', [line('1', { waits: false })], { state: 'cancelled', status: 'CANCELLED', canceled_at: at(0) });
  assert.equal(stateAt(cancelled, NOON + 59 * MINUTE, RULES), 'cancelled');
  assert.equal(stateAt(cancelled, NOON + 60 * MINUTE, RULES), 'closed');
});

test('the age of a scheduled order counts from when it is to be begun', () => {
  const [card] = cardsOf([ticket('a', [line('1')], { scheduled_for: at(60) })], [], NOTHING_TOUCHED, NOON + 45 * MINUTE, RULES);
  assert.equal(minutesOf(card!.since, NOON + 45 * MINUTE), 5);
});

test('an age is never negative, and its pace follows the limits of the service', () => {
  assert.equal(minutesOf(NOON, NOON - MINUTE), 0);
  assert.deepEqual([7, 8, 14, 15].map((minutes) => paceOf('TABLE', minutes, RULES)), ['well', 'warn', 'warn', 'late']);
  assert.equal(paceOf('DRONE', 999, RULES), 'well');
});

test('a cancelled line stays until it is touched', () => {
  const cancelled = ticket('a', [line('1', { waits: false, canceled_at: at(1) })], { state: 'ready' });
  assert.deepEqual(orders([cancelled]), ['a']);
  const seen = ticket('a', [line('1', { waits: false, canceled_at: at(1), done_at: at(2) })], { state: 'ready' });
  assert.deepEqual(orders([seen]), []);
});

test('a state that is not known is shown', () => {
  assert.deepEqual(orders([ticket('a', [line('1')], { state: 'frozen' as Ticket['state'] })]), ['a']);
});

test('nothing is announced twice, whatever is read again', () => {
  const cards = () => cardsOf([ticket('a', [line('1')])], [], NOTHING_TOUCHED, NOON, RULES);
  const begun = new Announced(null);
  assert.deepEqual(begun.note(cards()), { isNew: false, isCancelled: false });
  const screen = new Announced([]);
  assert.equal(screen.note(cards()).isNew, true);
  assert.equal(screen.note(cards()).isNew, false);
  assert.equal(new Announced(screen.kept()).note(cards()).isNew, false);
  const gone = cardsOf([ticket('a', [line('1', { waits: false, canceled_at: at(1) })], { state: 'ready' })], [], NOTHING_TOUCHED, NOON, RULES);
  assert.deepEqual([screen.note(gone).isCancelled, screen.note(gone).isCancelled], [true, false]);
});

test('an evening is not remembered for ever, and what is on the glass is never announced again', () => {
  const screen = new Announced([]);
  const stays = ticket('stays', [line('first')]);
  const cards = (id: string) => cardsOf([stays, ticket(id, [line(id)])], [], NOTHING_TOUCHED, NOON, RULES);
  for (let number = 0; number < 5000; number++) {
    assert.equal(screen.note(cards('of ' + number)).isNew, true);
    assert.equal(screen.note(cards('of ' + number)).isNew, false);
  }
  assert.ok(screen.kept().length < 1300, String(screen.kept().length));
  // It comes back, by a recall or a restore.
  assert.equal(screen.note(cards('of 4500')).isNew, false);
});

test('the revisions of closed tickets are not remembered for ever', () => {
  const tickets = new Tickets();
  tickets.take(ticket('stays', [line('1')], { revision: 7 }));
  for (let number = 0; number < 5000; number++) {
    tickets.take(ticket('of ' + number, [line('1')]));
    tickets.take({ order_id: 'of ' + number, revision: 2, state: 'closed', status: 'READY' } as ListedTicket);
    assert.equal(tickets.take(ticket('of ' + number, [line('1')])), false);
  }
  assert.ok(tickets.seen().size < 650, String(tickets.seen().size));
  assert.equal(tickets.take(ticket('stays', [line('1')], { revision: 6 })), false);
  assert.deepEqual(names(tickets), ['stays']);
});

test('all day counts dishes by how they are made', () => {
  const cards = cardsOf([
    ticket('a', [line('1', { quantity: 2 }), line('2', { comment: 'sin sal' }), line('3', { variant: 'Familiar' })]),
    ticket('b', [line('4', { modifiers: [{ modifier_id: null, quantity: 2, name: 'Ají', group_name: null }] })])], [], NOTHING_TOUCHED, NOON, RULES);
  const [first, second] = allDay(cards);
  assert.deepEqual([first!.quantity, first!.orders, first!.kinds.map((kind) => [kind.quantity, kind.text])],
    [4, ['a', 'b'], [[2, ''], [1, '«sin sal»'], [1, '2× Ají']]]);
  assert.deepEqual([second!.variant, second!.quantity], ['Familiar', 1]);
});
