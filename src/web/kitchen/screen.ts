// What the kitchen display knows and does: everything but how it looks. The page (page.tsx) draws it and calls its verbs.

import type { DeviceRequestAnswer, KitchenAlert, KitchenChanges, KitchenMenu, KitchenSettings, KitchenStation, KitchenStationPage,
  ListedTicket, Readiness, ShownApiKey, ShownApiKeyAnswer, Ticket, TicketAnswer, TicketLine, TicketPage } from 'api';
import { Api, LockedOut, NoAnswer, Refused } from '../shared/api';
import { Live, News } from '../shared/live';
import { Kept, randomName, TabName } from '../shared/storage';
import { fill, Language, languageOf, plain, Texts, textsOf } from '../shared/texts';
import { dayAndTime, nextTimeOfDay, ServerClock } from '../shared/time';
import { Awake } from './awake';
import { callOf, Mark, Marks } from './marks';
import { Sound } from './sound';
import { allDay, Announced, Card, cardOf, cardsOf, Dish, dishKey, inOrder, lookOf, Rules, stateAt, Tickets, Touched } from './tickets';

export type View = 'tickets' | 'all-day' | 'pass' | 'recall' | 'sold-out' | 'settings';
export type Size = 'small' | 'medium' | 'large';
export type Theme = 'auto' | 'light' | 'dark';

export interface Preferences {
  stations: string[];
  language: Language | null;
  size: Size;
  theme: Theme;
  volume: number;
  view: View;
  knowsWakeLock: boolean;  // the advice was read
}

export type Phase = 'letting-in' | 'running';

export interface LettingIn {
  number: string | null;
  reason: string | null;  // a text of the reason why the last key is not accepted
  note: string | null;
  isStopped: boolean;  // until a person asks to try again
}

const SILENT_AFTER_MS = 10000;
const SEND_BACK_OFF_MAX_MS = 10000;
const RECALL_HOURS = 12;
const TICK_MS = 250;
const SLOW_TICKS = 120;
const RELOAD_AGAIN_AFTER_MS = 10 * 60000;
const OUTSIDE_EVERY_MS = 20000;
const READINESS_LIMIT_MS = 8000;

export class Screen {
  readonly clock = new ServerClock();
  readonly api = new Api(this.clock, () => this.noteVersion());
  readonly tickets = new Tickets();
  readonly sound = new Sound(() => this.changed());
  readonly awake = new Awake(() => this.changed());
  readonly isFixed: boolean;  // the address names the stations
  preferences: Preferences;
  marks: Marks;
  phase: Phase = 'running';
  lettingIn: LettingIn = { number: null, reason: null, note: null, isStopped: false };
  view: View;
  settings: KitchenSettings['data'] | null = null;
  stations: KitchenStation[] = [];
  menu: KitchenMenu['data'] | null = null;
  recalled: Ticket[] | null = null;
  alerts: KitchenAlert[] = [];
  readiness: Readiness | null = null;
  notice: string | null = null;
  refusal: string | null = null;  // why the box takes no marks now, although it answers
  highlighted: Dish | null = null;
  rules: Rules = { leadMinutes: 20, thresholds: {}, notPrepared: {} };
  soldOutRevision = 0;  // rises when what is sold out changes
  rulesText = '';  // changes with them and the stations' names
  hasList = false;
  isWorkerRefused = false;
  keyName = '';
  search = '';  // of the view sold-out

  private readonly kept = new Kept('comanda.kitchen.', () => localStorage);
  private readonly ofTab = new Kept('comanda.kitchen.', () => sessionStorage);
  private readonly tab = new TabName(this.ofTab);
  private announced: Announced;
  private readonly live: Live;
  private isSending = false;
  private sendAgainAt = 0;
  private sendFailures = 0;
  private noticeTimer = 0;

  constructor(private readonly changed: () => void, private readonly drawAll: () => Promise<void>) {
    const query = new URLSearchParams(location.search);
    this.preferences = { stations: [], language: null, size: 'medium', theme: 'auto', volume: 1, view: 'tickets', knowsWakeLock: false,
      ...this.ofThisTab<Partial<Preferences>>('preferences') };
    const station = query.get('station');
    this.isFixed = station !== null;
    if (station !== null) this.preferences.stations = station.split(',').map((each) => each.trim()).filter((each) => each !== '');
    const view = query.get('view');
    this.view = view === 'pass' || view === 'all-day' ? view : this.preferences.view;
    this.announced = new Announced(this.ofThisTab<string[]>('announced'));
    this.marks = new Marks({
      all: () => this.kept.names('mark.').map((name) => this.kept.read<Mark>(name)!),
      put: (mark) => this.kept.write('mark.' + mark.id, mark),
      has: (mark) => this.kept.read('mark.' + mark.id) !== null,
      drop: (mark) => this.kept.remove('mark.' + mark.id),
    }, () => this.tab.value, () => performance.now());
    this.sound.volume = this.preferences.volume;
    this.live = new Live({
      all: (signal) => this.readAll(signal),
      after: (cursor, signal) => this.readChanges(cursor, signal),
      drawn: () => this.drawAll(),
      lockedOut: (reason) => this.lockOut(reason),
    });
  }

  // Each tab is a screen of its own; a new one begins with what another had last.
  private ofThisTab<Value>(name: string): Value | null {
    const value = this.ofTab.read<Value>(name);
    return value === null ? this.kept.read<Value>(name) : value;
  }

  private keepOfThisTab(name: string, value: unknown): void {
    this.ofTab.write(name, value);
    this.kept.write(name, value);
  }

  get language(): Language {
    return this.preferences.language || languageOf(this.settings && this.settings.restaurant.language, this.spoken, navigator.language);
  }

  get texts(): Texts { return textsOf(this.language); }

  // An instant as people say it: "las 13:05", "ayer 23:10".
  when(instant: string): string {
    return dayAndTime(Date.parse(instant), this.clock.now(), this.language, this.zone, this.texts);
  }

  get zone(): string { return this.settings ? this.settings.restaurant.timezone : 'UTC'; }

  get keepsInStorage(): boolean { return this.kept.works; }

  // Begins

  begin(): void {
    this.awake.take();
    const code = new URLSearchParams(location.hash.slice(1)).get('c');
    if (code) {
      // Behind the # no log sees it; it is not kept in the history either.
      history.replaceState(null, '', location.pathname + location.search);
      void this.useCode(code);
    } else {
      this.api.key = this.kept.read<string>('key');
      this.keyName = this.kept.read<string>('name') || '';
      if (this.api.key) this.run();
      else void this.askToBeLetIn(null);
    }
    setInterval(() => this.tick(), TICK_MS);
    window.addEventListener('online', () => this.live.hurry());
    document.addEventListener('visibilitychange', () => {
      this.live.hurry();
      this.followNow();
    });
  }

  private run(): void {
    this.phase = 'running';
    this.changed();
    this.live.start();
    void this.follow();
  }

  private ticks = 0;

  private tick(): void {
    void this.send();
    this.ticks++;
    if (this.ticks % SLOW_TICKS === 0) {
      this.marks.adopt();
      this.awake.take();
    }
    if (this.ticks % 4 === 0 || this.marks.count > 0) this.changed();
  }

  // Letting in

  private async useCode(code: string): Promise<void> {
    this.phase = 'letting-in';
    this.changed();
    try {
      const answer = await this.api.send<ShownApiKeyAnswer>('POST', '/auth/pair', { body: { code } });
      this.letIn(answer.body.data);
    } catch (error) {
      if (error instanceof NoAnswer || (error instanceof Refused && error.isPassing)) {
        setTimeout(() => void this.useCode(code), 2000);
        return;
      }
      // A screen that is let in already, whose code was opened again.
      const key = this.kept.read<string>('key');
      if (key) {
        this.api.key = key;
        this.run();
      } else {
        void this.askToBeLetIn(this.texts.codeBad);
      }
    }
  }

  private letIn(key: ShownApiKey): void {
    this.api.key = key.key;
    this.keyName = key.name;
    this.kept.write('key', key.key);
    this.kept.write('name', key.name);
    this.lettingIn = { number: null, reason: null, note: null, isStopped: false };
    this.run();
  }

  // Shows a number, and waits until somebody has typed it.
  private async askToBeLetIn(reason: string | null): Promise<void> {
    this.phase = 'letting-in';
    this.lettingIn = { number: null, reason, note: null, isStopped: false };
    this.changed();
    for (let failures = 0; this.phase === 'letting-in';) {
      try {
        const asked = await this.api.send<DeviceRequestAnswer>('POST', '/auth/pair/requests',
          { body: { role: 'kitchen', name: this.texts.kitchen + ' ' + this.tab.value.slice(0, 4) } });
        failures = 0;
        this.lettingIn = { ...this.lettingIn, number: asked.body.data.number, note: null };
        this.changed();
        await this.awaitKey(asked.body.data.request);
      } catch (error) {
        this.lettingIn = { ...this.lettingIn, number: null };
        let pauseMs = Math.min(10000, 1000 * Math.pow(2, failures++));
        if (error instanceof Refused && error.status === 429) {
          pauseMs = Math.max(1000, error.retryAfterMs);
          this.lettingIn.note = fill(this.texts.tooMany, { when: pauseMs < 120000 ? Math.ceil(pauseMs / 1000) + ' s' : fill(this.texts.minutes, { n: Math.ceil(pauseMs / 60000) }) });
        }
        this.changed();
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  // Returns when the request has ended, or the screen is let in.
  private async awaitKey(request: string): Promise<void> {
    for (let failures = 0; ;) {
      try {
        const answer = await this.api.send<ShownApiKeyAnswer>('POST', '/auth/pair',
          { body: { request }, headers: { Prefer: 'wait=25' }, limitMs: 35000 });
        failures = 0;
        if (answer.status === 201) {
          this.letIn(answer.body.data);
          return;
        }
        if (!answer.headers.get('Preference-Applied')) await new Promise((resolve) => setTimeout(resolve, 1000));
      } catch (error) {
        if (error instanceof Refused && !error.isPassing) return;
        await new Promise((resolve) => setTimeout(resolve, Math.min(10000, 1000 * Math.pow(2, failures++))));
      }
    }
  }

  private lockOut(reason: LockedOut): void {
    // Another request was under way, and has met the same.
    if (this.phase !== 'running') return;
    this.live.stop();
    const texts = this.texts;
    if (reason.status === 403) {
      this.phase = 'letting-in';
      this.lettingIn = { number: null, reason: fill(texts.keyForbidden, { why: reason.detail }), note: null, isStopped: true };
      this.changed();
      return;
    }
    const reasons: { [code: string]: string } = { key_revoked: texts.keyRevoked, key_expired: texts.keyExpired, wrong_environment: texts.keyWrong };
    const lost = this.marks.count;
    const said = lost === 0 ? '' : ' ' + (lost === 1 ? texts.markLost : fill(texts.marksLost, { n: lost }));
    this.forget();
    void this.askToBeLetIn((reasons[reason.code] || texts.keyUnknown) + said);
  }

  // What this screen has stored of the restaurant.
  private forget(): void {
    this.spoken = this.language;
    this.api.key = null;
    this.keyName = '';
    this.marks.forget();
    this.kept.clear();
    this.ofTab.clear();
    this.tickets.takeAll([], true, new Map());
    this.announced = new Announced(null);
    this.settings = this.menu = this.menuTag = this.recalled = this.readiness = null;
    this.noteSoldOut();
    this.stations = [];
    this.alerts = [];
    this.hasList = false;
    this.view = 'tickets';
    this.preferences = { ...this.preferences, stations: [] };
  }

  forgetThisScreen(): void {
    this.live.stop();
    this.forget();
    void this.askToBeLetIn(null);
  }

  tryAgain(): void {
    this.run();
  }

  // The feed

  private noteRules(): void {
    const notPrepared: { [station: string]: boolean } = {};
    for (const station of this.stations) if (!station.prepares) notPrepared[station.id] = true;
    const settings = this.settings;
    this.rules = { leadMinutes: settings ? settings.lead_minutes : 20, thresholds: settings ? { ...settings.thresholds } : {}, notPrepared };
    this.rulesText = JSON.stringify([this.rules, this.stations.map((station) => [station.id, station.name])]);
  }

  private async readAll(signal: AbortSignal): Promise<string> {
    const [settings, stations] = await Promise.all([
      this.api.send<KitchenSettings>('GET', '/v1/kitchen/settings', { signal }),
      this.api.send<KitchenStationPage>('GET', '/v1/kitchen/stations?per_page=100', { signal }),
    ]);
    this.settings = settings.body.data;
    this.stations = stations.body.data;
    this.noteRules();
    const before = this.tickets.seen();
    const rows: ListedTicket[] = [];
    let cursor = '';
    let snapshot = '';
    for (let page = 1; ; page++) {
      const answer = await this.api.send<TicketPage>('GET',
        '/v1/kitchen/tickets?per_page=100&page=' + page + (snapshot ? '&filter[snapshot]=' + snapshot : ''), { signal });
      if (page === 1) {
        cursor = answer.headers.get('X-Event-Cursor') || '';
        snapshot = answer.headers.get('X-Snapshot') || '';
      }
      rows.push(...answer.body.data);
      if (!answer.body.pagination.has_more) break;
    }
    this.tickets.takeAll(rows, this.needsFresh, before);
    this.needsFresh = false;
    this.hasList = true;
    this.announce();
    if (!this.menu) void this.readMenu(false);
    return cursor;
  }

  private needsFresh = true;
  private spoken: Language | null = null;  // before the key was forgotten

  // By the id or, in the address, by the name.
  private stationOf(wanted: string): KitchenStation | undefined {
    return this.stations.filter((station) => station.id === wanted.toLowerCase())[0] ||
      (this.isFixed ? this.stations.filter((station) => plain(station.name) === plain(wanted))[0] : undefined);
  }

  // The stations that this screen shows and that exist.
  get watched(): string[] {
    const ids: string[] = [];
    for (const wanted of this.preferences.stations) {
      const station = this.stationOf(wanted);
      if (station && ids.indexOf(station.id) < 0) ids.push(station.id);
    }
    return ids;
  }

  // What the address names and is no station.
  get unknownStations(): string[] {
    return this.isFixed && this.hasList ? this.preferences.stations.filter((wanted) => !this.stationOf(wanted)) : [];
  }

  private async readChanges(cursor: string, signal: AbortSignal): Promise<News> {
    const stations = this.view === 'pass' ? [] : this.watched;
    const path = '/v1/kitchen/changes?per_page=100&after=' + encodeURIComponent(cursor) + '&display=' + this.tab.value +
      (stations.length > 0 ? '&stations=' + stations.join(',') : '') + '&sound=' + (this.sound.isOn ? 'on' : 'muted') +
      '&awake=' + (this.awake.isOn ? 'yes' : 'no');
    try {
      const answer = await this.api.send<KitchenChanges>('GET', path, { headers: { Prefer: 'wait=8' }, signal });
      for (const ticket of answer.body.data) this.tickets.take(ticket);
      this.alerts = answer.body.alerts;
      if (answer.body.data.length > 0) this.announce();
      // Something else has changed.
      else if (answer.body.next !== cursor) void this.readMenu(false);
      return { next: answer.body.next, isNews: answer.body.data.length > 0, waited: answer.headers.get('Preference-Applied') !== null };
    } catch (error) {
      if (error instanceof Refused && (error.status === 410 || error.status === 400)) this.needsFresh = true;
      throw error;
    }
  }

  // The sound of what is new on this screen.
  private announce(): void {
    this.stale();
    const heard = this.announced.note(this.cards());
    this.keepOfThisTab('announced', this.announced.kept());
    if (heard.isNew) this.sound.play('new');
    if (heard.isCancelled) this.sound.play('cancelled');
  }

  private soundBefore = '';

  // The server hears at once that the screen became mute or is seen no more.
  notePresence(): void {
    const now = String(this.sound.isOn) + String(this.awake.isOn);
    if (this.soundBefore !== '' && now !== this.soundBefore && this.hasList) this.live.interrupt();
    this.soundBefore = now;
  }

  private noteVersion(): void {
    const mine = document.documentElement.getAttribute('data-version');
    const theirs = this.api.pageVersion;
    if (!theirs || theirs === mine || this.marks.undoable()) return;
    // Not again and again: the browser may answer the reload with its stored copy of the old page.
    const last = this.ofTab.read<{ version: string; at: number }>('reloaded');
    const now = this.clock.now();
    if (last && last.version === theirs && Math.abs(now - last.at) < RELOAD_AGAIN_AFTER_MS) return;
    this.ofTab.write('reloaded', { version: theirs, at: now });
    location.reload();
  }

  private isFollowing = false;
  private followNow: () => void = () => undefined;

  // What cannot be read is not known. An answer that is not ready says so with 503 and has the checks all the same.
  private async follow(): Promise<void> {
    if (this.isFollowing) return;
    this.isFollowing = true;
    while (this.phase === 'running') {
      const abort = new AbortController();
      const limit = setTimeout(() => abort.abort(), READINESS_LIMIT_MS);
      try {
        const answer = await fetch('/readyz', { cache: 'no-store', credentials: 'omit', signal: abort.signal });
        const said = await answer.json() as Readiness;
        this.readiness = said.checks ? said : null;
      } catch {
        this.readiness = null;
      }
      clearTimeout(limit);
      this.changed();
      if (this.hasList) await this.readMenu(false);
      await new Promise<void>((resolve) => {
        this.followNow = resolve;
        setTimeout(resolve, OUTSIDE_EVERY_MS);
      });
    }
    this.isFollowing = false;
  }

  // What is shown

  get touched(): Touched { return this.marks.touched(); }

  // Made once for all that is drawn at a moment.
  cards(): Card[] {
    if (!this.made) this.made = cardsOf(this.tickets.shown.values(), this.watched, this.touched, this.clock.now(), this.rules);
    return this.made;
  }

  private made: Card[] | null = null;

  stale(): void { this.made = null; }

  // Whole orders for the pass, those that are ready behind those that are made.
  passCards(): Card[] {
    const cards: Card[] = [];
    const now = this.clock.now();
    for (const ticket of Array.from(this.tickets.shown.values())) {
      const card = cardOf(ticket, [], this.touched, now, this.rules);
      if (card) cards.push(card);
    }
    return inOrder(cards);
  }

  dishes(): Dish[] { return allDay(this.cards()); }

  laterCount(): number {
    const now = this.clock.now();
    return Array.from(this.tickets.shown.values()).filter((ticket) => stateAt(ticket, now, this.rules) === 'later').length;
  }

  // For how long the box has been silent, in seconds; 0 while it is not.
  silentS(): number {
    const ms = performance.now() - this.api.lastByteAt;
    return this.phase === 'running' && ms >= SILENT_AFTER_MS ? Math.floor(ms / 1000) : 0;
  }

  stationName(id: string): string {
    const found = this.stations.filter((station) => station.id === id)[0];
    return found ? found.name : id.slice(0, 8);
  }

  // Verbs of the cook

  show(view: View): void {
    this.view = view;
    this.highlighted = null;
    if (view === 'recall') void this.readRecalled();
    if (view === 'sold-out') void this.readMenu(true);
    if (view === 'tickets' || view === 'pass' || view === 'all-day') this.prefer({ view });
    this.changed();
  }

  prefer(change: Partial<Preferences>): void {
    const watched = this.watched.join();
    this.preferences = { ...this.preferences, ...change };
    this.keepOfThisTab('preferences', this.isFixed ? { ...this.preferences, stations: [] } : this.preferences);
    this.sound.volume = this.preferences.volume;
    if (this.watched.join() !== watched || change.view) {
      this.stale();
      this.announced.note(this.cards());
      this.live.interrupt();
    }
    this.changed();
  }

  private add(mark: { [Name in keyof Mark]?: Mark[Name] } & { kind: Mark['kind']; subject: string }): void {
    this.marks.add({ id: randomName(), lines: [], what: '', ...mark });
    this.changed();
    void this.send();
  }

  touchLine(ticket: Ticket, line: TicketLine): void {
    if (this.marks.unmark(line.id)) {
      this.changed();
      return;
    }
    const look = lookOf(ticket, line, this.touched, this.clock.now());
    if (look === 'waits' || look === 'cancelled') {
      this.add({ kind: 'done', subject: ticket.order_id, lines: [line.id], number: ticket.order_number, what: line.name });
    }
  }

  // The lines that the card shows; none that the cook has not seen.
  touchHead(card: Card): void {
    const lines: string[] = [];
    for (const round of card.rounds) for (const { line, look } of round.lines) if (look !== 'marked') lines.push(line.id);
    if (lines.length > 0) this.add({ kind: 'done', subject: card.ticket.order_id, lines, number: card.ticket.order_number });
  }

  startOrder(ticket: Ticket): void {
    if (ticket.status === 'PENDING' && !this.touched.started[ticket.order_id]) {
      this.add({ kind: 'start', subject: ticket.order_id, number: ticket.order_number });
    }
  }

  sendOut(ticket: Ticket): void { this.add({ kind: 'out', subject: ticket.order_id, number: ticket.order_number }); }

  rush(card: Card): void { this.add({ kind: 'rush', subject: card.ticket.order_id, isOn: !card.isRush, number: card.ticket.order_number }); }

  callBack(ticket: Ticket, lines: string[]): void {
    this.add({ kind: 'undo', subject: ticket.order_id, lines, number: ticket.order_number });
  }

  undo(): void {
    this.marks.undo();
    this.changed();
  }

  highlight(dish: Dish): void {
    this.show('tickets');
    this.highlighted = dish;
    this.changed();
  }

  isHighlighted(line: TicketLine): boolean { return this.highlighted !== null && this.highlighted.key === dishKey(line); }

  sellOut(id: string, what: string, isModifier: boolean, untilTomorrow: boolean): void {
    const restaurant = this.settings && this.settings.restaurant;
    const until = untilTomorrow && restaurant
      ? new Date(nextTimeOfDay(this.clock.now(), restaurant.day_starts_at, restaurant.timezone)).toISOString() : null;
    this.add({ kind: 'sold-out', subject: id, what, isModifier, until });
  }

  sellAgain(id: string, what: string, isModifier: boolean): void { this.add({ kind: 'in-stock', subject: id, what, isModifier }); }

  // The menu, of which an unchanged one costs nothing. `isAsked`: by the cook, who hears of a failure.
  private async readMenu(isAsked: boolean): Promise<void> {
    try {
      const answer = await this.api.send<KitchenMenu>('GET', '/v1/kitchen/menu',
        { headers: this.menuTag ? { 'If-None-Match': this.menuTag } : {} });
      if (answer.status === 304) return;
      this.menuTag = answer.headers.get('ETag');
      this.menu = answer.body.data;
      this.noteSoldOut();
      this.changed();
    } catch (error) {
      if (isAsked) this.noteFailure(error);
    }
  }

  private menuTag: string | null = null;
  private soldOut: { [id: string]: boolean } = {};

  private noteSoldOut(): void {
    this.soldOut = {};
    for (const category of this.menu ? this.menu.categories : []) {
      for (const product of category.products) {
        if (product.sold_out) this.soldOut[product.id] = true;
        for (const modifier of product.modifiers) if (modifier.sold_out) this.soldOut[modifier.id] = true;
      }
    }
    this.soldOutRevision++;
  }

  // Of a product or a modifier of the menu.
  isSoldOut(id: string | null): boolean { return id !== null && this.soldOut[id] === true; }

  private async readRecalled(): Promise<void> {
    const since = new Date(this.clock.now() - RECALL_HOURS * 3600000).toISOString();
    try {
      this.recalled = (await this.api.send<TicketPage>('GET',
        '/v1/kitchen/tickets?per_page=50&filter[done_since]=' + encodeURIComponent(since))).body.data as Ticket[];
      this.changed();
    } catch (error) {
      this.noteFailure(error);
    }
  }

  private noteFailure(error: unknown): void {
    if (error instanceof LockedOut) this.lockOut(error);
    else if (error instanceof Refused) this.say(error.detail);
  }

  private say(notice: string): void {
    this.notice = notice;
    clearTimeout(this.noticeTimer);
    this.noticeTimer = window.setTimeout(() => {
      this.notice = null;
      this.changed();
    }, 12000);
    this.changed();
  }

  // Sends what was touched, one after the other.
  private async send(): Promise<void> {
    if (this.isSending || this.phase !== 'running' || performance.now() < this.sendAgainAt) return;
    this.isSending = true;
    try {
      for (let mark = this.marks.next(); mark !== null && this.phase === 'running'; mark = this.marks.next()) {
        if (!await this.sendOne(mark)) break;
      }
    } finally {
      this.isSending = false;
    }
  }

  private async sendOne(mark: Mark): Promise<boolean> {
    const call = callOf(mark);
    try {
      const answer = await this.api.send<TicketAnswer>(call.method, call.path, { body: call.body, headers: { 'Idempotency-Key': mark.id } });
      const isStock = mark.kind === 'sold-out' || mark.kind === 'in-stock';
      if (!isStock && answer.body) this.tickets.take(answer.body.data);
      if (isStock) void this.readMenu(false);
      if (mark.kind === 'undo' && this.view === 'recall') void this.readRecalled();
      this.marks.settled(mark);
      this.sendFailures = 0;
      this.refusal = null;
      this.changed();
      return true;
    } catch (error) {
      if (error instanceof LockedOut) {
        this.lockOut(error);
        return false;
      }
      if (error instanceof Refused && !error.isPassing) {
        this.marks.settled(mark);
        this.say(fill(this.texts.dropped, { number: mark.number || mark.what, why: error.detail }));
        return true;
      }
      this.refusal = error instanceof Refused ? error.detail : null;
      const waitMs = error instanceof Refused ? error.retryAfterMs : 0;
      const backOffMs = Math.min(SEND_BACK_OFF_MAX_MS, 1000 * Math.pow(2, this.sendFailures++)) * (0.5 + Math.random() / 2);
      this.sendAgainAt = performance.now() + Math.max(waitMs, backOffMs);
      return false;
    }
  }
}
