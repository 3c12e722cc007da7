// The kitchen display. Draws what screen.ts knows; each piece is drawn again only where what it shows has changed.

import { Component, Fragment, h, render } from 'preact';
import type { ComponentChildren } from 'preact';
import type { KitchenAlert } from 'api';
import { fill, Texts } from '../shared/texts';
import { clockTime } from '../shared/time';
import { CardView, placeOf } from './card';
import { AllDayView, PassView, RecallView } from './views';
import { LetInView } from './let_in';
import { SettingsView } from './settings';
import { SoldOutView } from './sold_out';
import { Screen, View } from './screen';
import { Card, minutesOf } from './tickets';
import { troublesOutside } from './truth';
import { registerWorker } from './worker_registration';

// Cards that are drawn in one task: the rest follows in the next ones, so that a touch is never kept waiting.
const CARDS_AT_ONCE = 12;

// Of a card that is seen, at least so much is.
const HEAD_PX = 48;
const LOOK_MS = 200;

const VIEWS: View[] = ['tickets', 'all-day', 'pass', 'recall', 'sold-out', 'settings'];

function viewName(view: View, texts: Texts): string {
  return { tickets: texts.tickets, 'all-day': texts.allDay, pass: texts.pass, recall: texts.recall, 'sold-out': texts.soldOut,
    settings: texts.settings }[view];
}

function alertText(alert: KitchenAlert, screen: Screen): string {
  const texts: { [kind: string]: string } = { station_unwatched: screen.texts.unwatched, display_muted: screen.texts.muted };
  return fill(texts[alert.kind] || screen.texts.otherAlert, { kind: alert.kind, name: alert.name,
    time: clockTime(Date.parse(alert.since), screen.language, screen.zone) });
}

interface PageState {
  drawnMax: number;
  hasKeys: boolean;
}

class Page extends Component<Record<string, never>, PageState> {
  screen: Screen;
  cardCount = 0;
  private waiting: (() => void)[] = [];
  private lastSignature = '';
  private isLooking = false;
  private bar: TruthBar | null = null;

  constructor() {
    super();
    this.state = { drawnMax: CARDS_AT_ONCE, hasKeys: false };
    this.screen = new Screen(() => this.refresh(), () => this.drawAll());
  }

  componentDidMount(): void {
    const screen = this.screen;
    screen.begin();
    document.addEventListener('pointerdown', () => screen.sound.touch(), true);
    document.addEventListener('keydown', (event) => this.key(event));
    document.addEventListener('scroll', () => this.lookBelow(), true);
    window.addEventListener('resize', () => this.lookBelow());
    registerWorker((isRefused) => {
      screen.isWorkerRefused = isRefused;
      this.refresh();
    });
  }

  componentDidUpdate(): void { this.lookBelow(); }

  // A list that goes on below the edge looks as if it ended there: the bar, which alone is drawn again, counts what is hidden.
  private lookBelow(): void {
    if (this.isLooking) return;
    this.isLooking = true;
    // After the frame that is being drawn: where things stand is known then, and need not be found out in its task.
    setTimeout(() => {
      this.isLooking = false;
      const main = document.getElementById('main');
      const cards = document.querySelectorAll<HTMLElement>('.cards > .card');
      let below = 0;
      if (main && cards.length > 0) {
        const edge = main.getBoundingClientRect().bottom - HEAD_PX;
        // No card is higher than one before it: those that are seen are found by halves.
        let seen = 0;
        for (let end = cards.length; seen < end;) {
          const middle = (seen + end) >> 1;
          if (cards[middle]!.getBoundingClientRect().top > edge) end = middle;
          else seen = middle + 1;
        }
        below = (this.screen.view === 'tickets' ? Math.max(this.cardCount, cards.length) : cards.length) - seen;
      }
      if (this.bar && below !== this.bar.state.below) this.bar.setState({ below });
    }, LOOK_MS);
  }

  // The page draws again in the next task, however often this is called.
  refresh(): void {
    const screen = this.screen;
    if (!screen) return;
    screen.stale();
    screen.notePresence();
    this.setState({});
  }

  // Resolves when all cards are in the document and a frame was drawn; on a page that nobody sees it waits.
  drawAll(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.screen.stale();
      this.setState({}, () => this.drawMore());
    });
  }

  private drawMore(): void {
    if (this.cardCount > this.state.drawnMax) {
      requestAnimationFrame(() => this.setState({ drawnMax: this.state.drawnMax + CARDS_AT_ONCE }, () => this.drawMore()));
      return;
    }
    const waiting = this.waiting.splice(0);
    requestAnimationFrame(() => setTimeout(() => waiting.forEach((each) => each()), 0));
  }

  // Keyboards and bump bars.
  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    const screen = this.screen;
    screen.sound.touch();
    if (screen.phase !== 'running') return;
    // What the keys press: the heads of tickets, on the pass what is next for each order, of the recalled ones the way back.
    const heads = Array.from(document.querySelectorAll<HTMLElement>('[data-key]'));
    const at = heads.indexOf(target);
    const key = event.key;
    if (/^[0-9]$/.test(key)) {
      const head = document.querySelector<HTMLElement>('[data-key="' + key + '"]');
      if (head) head.click();
    } else if (/^Arrow(Right|Down|Left|Up)$/.test(key) && heads.length > 0) {
      const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : this.columns(heads) * (key === 'ArrowDown' ? 1 : -1);
      const next = heads[at < 0 ? 0 : Math.min(heads.length - 1, Math.max(0, at + step))];
      if (next) next.focus();
    } else if (key === ' ' && at < 0 && target.tagName !== 'BUTTON') {
      const head = heads[0];
      if (head) head.click();
    } else if (key === 'r' || key === 'R') {
      screen.show(screen.view === 'recall' ? 'tickets' : 'recall');
    } else if (key === 'u' || key === 'U' || key === 'Backspace') {
      screen.undo();
    } else if (key === 'Escape') {
      screen.show('tickets');
    } else {
      return;
    }
    event.preventDefault();
    if (!this.state.hasKeys) this.setState({ hasKeys: true });
  }

  private columns(heads: HTMLElement[]): number {
    const top = heads[0]!.getBoundingClientRect().top;
    return Math.max(1, heads.filter((head) => Math.abs(head.getBoundingClientRect().top - top) < 4).length);
  }

  render(): ComponentChildren {
    const screen = this.screen;
    const { texts, preferences } = screen;
    const isDark = preferences.theme === 'dark' || (preferences.theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
    const root = document.documentElement;
    const look = (isDark ? 'dark' : 'light') + ' ' + preferences.size + ' ' + screen.language;
    if (look !== this.lastSignature) {
      this.lastSignature = look;
      root.setAttribute('data-theme', isDark ? 'dark' : 'light');
      root.setAttribute('data-size', preferences.size);
      root.lang = screen.language;
      document.title = texts.kitchen + ' · Comanda';
    }
    if (screen.phase === 'letting-in') return <LetInView screen={screen} />;
    return (
      <div class="screen">
        <TruthBar screen={screen} ref={(bar: TruthBar | null) => { this.bar = bar; }} />
        <main id="main" class={this.state.hasKeys ? 'with-keys' : ''}>{this.view()}</main>
        <UndoBar screen={screen} />
      </div>
    );
  }

  private view(): ComponentChildren {
    const screen = this.screen;
    switch (screen.view) {
      case 'all-day': return <AllDayView screen={screen} />;
      case 'pass': return <PassView screen={screen} />;
      case 'recall': return <RecallView screen={screen} />;
      case 'sold-out': return <SoldOutView screen={screen} />;
      case 'settings': return <SettingsView screen={screen} />;
      default: return this.cards();
    }
  }

  private cards(): ComponentChildren {
    const screen = this.screen;
    const { texts } = screen;
    const now = screen.clock.now();
    let cards: Card[] = screen.cards();
    if (screen.highlighted) {
      const orders = screen.highlighted.orders;
      cards = cards.filter((card) => orders.indexOf(card.ticket.order_id) >= 0);
    }
    this.cardCount = cards.length;
    const highlighted = screen.highlighted;
    return (
      <Fragment>
        {highlighted && (
          <p class="showing"><span>{fill(texts.showing, { what: highlighted.name })}</span>
            <button class="quiet" onClick={() => screen.show('tickets')}>{texts.showAll}</button></p>
        )}
        {cards.length === 0 && screen.hasList && (
          <div class="empty"><p class="empty-head">{texts.nothing}</p><p>{texts.nothingMore}</p></div>
        )}
        <div class="cards">
          {cards.slice(0, this.state.drawnMax).map((card, i) => (
            <CardView key={card.ticket.order_id} card={card} screen={screen} place={placeOf(i)}
              minutes={minutesOf(card.since, now)} language={screen.language} highlight={highlighted ? highlighted.key : ''} />
          ))}
        </div>
      </Fragment>
    );
  }
}

// What is true of this screen and of the kitchen. Nothing ever covers it.
class TruthBar extends Component<{ screen: Screen }, { below: number }> {
  state = { below: 0 };  // tickets whose head is not seen, because they are further down

  render(): ComponentChildren {
    const { screen } = this.props;
    const { below } = this.state;
    const { texts } = screen;
    const silent = screen.silentS();
    const count = screen.hasList ? screen.cards().length : 0;
    const later = screen.hasList ? screen.laterCount() : 0;
    const overdue = screen.marks.overdue;
    const waiting = overdue === 1 ? texts.waitingMark : fill(texts.waitingMarks, { n: overdue });
    const unknown = screen.unknownStations;
    // Whole orders are of all stations, whichever this screen shows else.
    const names = screen.view === 'pass' && screen.watched.length > 0 ? texts.passAll
      : screen.watched.map((id) => screen.stationName(id)).join(', ');
    // Of what the box cannot say just now nothing is said.
    const outside = silent ? [] : troublesOutside(screen.readiness, texts, (instant) => screen.when(instant));
    return (
      <header class={'truth' + (silent ? ' silent' : '')}>
        <h1 class="unseen">{texts.kitchen}</h1>
        <div class="bar">
          <p class="state" role="status">
            {silent ? <strong class="no-answer">{fill(texts.noAnswer, { s: silent })}</strong> : (
              <span><span class={'dot' + (screen.hasList ? '' : ' waits')} aria-hidden="true" />
                <strong>{screen.hasList ? texts.inStep : texts.connecting}</strong></span>
            )}
            <span class="facts">
              {names ? <b>{names}</b> : screen.settings ? <b>{screen.settings.restaurant.name}</b> : null}
              {screen.hasList && <span>{count === 1 ? texts.openOne : fill(texts.open, { n: count })}</span>}
              {below > 0 && <span class="below">{fill(texts.below, { n: below })}</span>}
              {later > 0 && <span>{fill(texts.later, { n: later })}</span>}
              {overdue > 0 && silent > 0 && <span>{waiting}</span>}
            </span>
          </p>
          <nav aria-label={texts.kitchen}>
            {VIEWS.map((view) => (
              <button key={view} aria-current={screen.view === view ? 'page' : undefined} onClick={() => screen.show(view)}>
                {viewName(view, texts)}</button>
            ))}
          </nav>
          <time class="clock">{screen.clock.isKnown ? clockTime(screen.clock.now(), screen.language, screen.zone) : ''}</time>
        </div>
        {silent > 0 && <p class="more">{texts.noAnswerMore}{silent > 60 ? ' ' + texts.tryAddress : ''}</p>}
        {/* Of its own sound the bar below speaks. */}
        {screen.alerts.filter((alert) => !(alert.kind === 'display_muted' && alert.name === screen.keyName)).map((alert) => <p class="alert" role="alert" key={alert.kind + alert.name}>{alertText(alert, screen)}</p>)}
        {overdue > 0 && !silent && screen.refusal && <p class="alert" role="alert">{waiting}: {screen.refusal}</p>}
        {outside.map(({ subject, text }) => <p class="alert outside" role="status" data-of={subject} key={subject}>{text}</p>)}
        {unknown.length > 0 && (
          <p class="alert" role="alert">{fill(texts.noStationCalled, { what: unknown.join(', ') })} {screen.stations.length > 0
            ? fill(texts.stationsAre, { names: screen.stations.map((station) => station.name).join(', ') }) : texts.stationsNone}</p>
        )}
        {!screen.keepsInStorage && <p class="alert">{texts.storageBroken}</p>}
        {screen.notice && <p class="alert" role="alert">{screen.notice}</p>}
        {screen.sound.wantsTouch && <button class="hear" onClick={() => screen.sound.touch()}>{texts.touchToHear}</button>}
        {!screen.awake.canBe && !screen.preferences.knowsWakeLock && (
          <p class="alert advice"><span>{texts.noWakeLock}</span>
            <button onClick={() => screen.prefer({ knowsWakeLock: true })}>{texts.understood}</button></p>
        )}
      </header>
    );
  }
}

class UndoBar extends Component<{ screen: Screen }> {
  render(): ComponentChildren {
    const { screen } = this.props;
    const undoable = screen.marks.undoable();
    if (!undoable) return null;
    const { mark } = undoable;
    const { texts } = screen;
    const said = mark.kind === 'out' ? fill(texts.outDone, { number: mark.number || '' })
      : mark.kind === 'sold-out' ? fill(texts.soldOutDone, { what: mark.what })
        : mark.what ? fill(texts.marked, { what: mark.what }) : fill(texts.markedAll, { number: mark.number || '' });
    return (
      <div class="undo" role="status" key={mark.id}>
        <span class="said" dir="auto">{said}</span>
        <button onClick={() => screen.undo()}>{texts.undo} <small aria-hidden="true">{Math.ceil(undoable.leftMs / 1000)}</small></button>
        <span class="left" aria-hidden="true" />
      </div>
    );
  }
}

render(<Page />, document.getElementById('page')!);
