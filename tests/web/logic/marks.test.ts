import assert from 'node:assert';
import test from 'node:test';
import { callOf, Mark, Marks, UNDO_MS } from '../../../src/web/kitchen/marks';

class Times {
  now = 0;
  kept = new Map<string, string>();

  marks(tab = 'tab'): Marks {
    return new Marks({
      all: () => Array.from(this.kept.values()).map((text) => JSON.parse(text) as Mark),
      put: (each) => { this.kept.set(each.id, JSON.stringify(each)); },
      has: (each) => this.kept.has(each.id),
      drop: (each) => { this.kept.delete(each.id); },
    }, () => tab, () => this.now);
  }
}

function mark(id: string, fields: Partial<Mark> = {}): Mark { return { id, kind: 'done', subject: 'order', lines: ['line ' + id], what: '', ...fields }; }

test('a mark is sent when its time to undo is over', () => {
  const times = new Times();
  const marks = times.marks();
  marks.add(mark('1'));
  times.now = UNDO_MS - 1;
  assert.equal(marks.next(), null);
  times.now = UNDO_MS;
  assert.equal(marks.next()!.id, '1');
});

test('what is undone is gone', () => {
  const times = new Times();
  const marks = times.marks();
  marks.add(mark('1'));
  marks.add(mark('2', { subject: 'another' }));
  assert.equal(marks.undo()!.id, '2');
  assert.equal(marks.undo()!.id, '1');
  assert.equal(marks.undo(), null);
  times.now = UNDO_MS;
  assert.equal(marks.next(), null);
  assert.equal(times.kept.size, 0);
});

test('what is sent cannot be undone', () => {
  const times = new Times();
  const marks = times.marks();
  marks.add(mark('1'));
  times.now = UNDO_MS;
  assert.equal(marks.undo(), null);
  assert.equal(marks.unmark('line 1'), false);
});

test('marks of one order go in their order, those of another one need not wait', () => {
  const times = new Times();
  const marks = times.marks();
  marks.add(mark('1'));
  marks.add(mark('2', { kind: 'undo' }));
  marks.add(mark('3', { kind: 'start', subject: 'another' }));
  assert.equal(marks.next()!.id, '3');
  marks.settled(mark('3'));
  assert.equal(marks.next(), null);
  times.now = UNDO_MS;
  assert.equal(marks.next()!.id, '1');
  assert.equal(marks.next()!.id, '1');  // until it is answered
  marks.settled(mark('1'));
  assert.equal(marks.next()!.id, '2');
});

test('a reload keeps marks, their keys and their order', () => {
  const times = new Times();
  times.marks().add(mark('1'));
  const again = times.marks();
  assert.deepEqual(again.touched().done, { 'line 1': true });
  times.now = UNDO_MS;
  assert.equal(again.next()!.id, '1');
});

test('two tabs keep their marks beside each other, and undo their own alone', () => {
  const times = new Times();
  const first = times.marks('first');
  const second = times.marks('second');
  first.add(mark('1'));
  second.add(mark('2', { subject: 'another' }));
  assert.deepEqual(times.marks('first').touched().done, { 'line 1': true, 'line 2': true });
  second.adopt();
  assert.equal(second.undo()!.id, '2');
  assert.equal(second.undo(), null);
  assert.equal(second.unmark('line 1'), false);
  // What the first one has undone is not sent by the second one.
  assert.equal(first.undo()!.id, '1');
  times.now = UNDO_MS;
  assert.equal(second.next(), null);
  assert.equal(second.count, 0);
});

test('marks of a tab that was closed are sent by another one, in their order', () => {
  const times = new Times();
  const closed = times.marks('closed');
  closed.add(mark('1'));
  closed.add(mark('2', { kind: 'undo' }));
  times.now = UNDO_MS;
  const other = times.marks('other');
  assert.equal(other.next(), null);  // the first one may still undo it
  times.now = 2 * UNDO_MS;
  assert.equal(other.next()!.id, '1');
  other.settled(mark('1'));
  assert.equal(other.next()!.id, '2');
});

test('a line is taken out of a mark of several', () => {
  const times = new Times();
  const marks = times.marks();
  marks.add(mark('1', { lines: ['a', 'b'] }));
  assert.equal(marks.unmark('a'), true);
  assert.deepEqual(marks.touched().done, { b: true });
  assert.equal(marks.unmark('b'), true);
  assert.equal(marks.count, 0);
});

test('each kind is a call of the documented API', () => {
  assert.deepEqual(callOf(mark('1')), { method: 'POST', path: '/v1/kitchen/tickets/order/done', body: { line_ids: ['line 1'] } });
  assert.deepEqual(callOf(mark('1', { kind: 'rush', isOn: true })).body, { on: true });
  assert.deepEqual(callOf(mark('1', { kind: 'sold-out', subject: 'p', until: null })), { method: 'PUT', path: '/v1/menu/products/p/sold-out', body: { until: null } });
  assert.equal(callOf(mark('1', { kind: 'in-stock', subject: 'm', isModifier: true })).path, '/v1/menu/modifiers/m/sold-out');
});
