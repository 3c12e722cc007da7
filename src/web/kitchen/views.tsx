// The other views of the tickets: how many of each dish, whole orders for the pass, and what was marked before.

import { Component, h } from 'preact';
import type { ComponentChildren } from 'preact';
import type { Ticket } from 'api';
import { fill, quantityText } from '../shared/texts';
import { clockTime } from '../shared/time';
import { Age, Place, placeOf, serviceText, SoldOutSign, subtitleOf, titleOf } from './card';
import { Screen } from './screen';
import { Card, minutesOf, modifiersOf, paceOf } from './tickets';

export class AllDayView extends Component<{ screen: Screen }> {
  render(): ComponentChildren {
    const { screen } = this.props;
    const { texts, language } = screen;
    const dishes = screen.dishes();
    if (dishes.length === 0) return <div class="empty"><p class="empty-head">{texts.allDayNone}</p></div>;
    return (
      <div class="list">
        <p class="hint">{texts.allDayHelp}</p>
        <ul class="dishes">
          {dishes.map((dish) => (
            <li key={dish.key}>
              <button class="row" onClick={() => screen.highlight(dish)}>
                <span class="quantity many">{quantityText(dish.quantity, language)}</span>
                <span class="what">
                  <span class="dish" dir="auto">{dish.name}</span>
                  {screen.isSoldOut(dish.productId) && <SoldOutSign texts={texts} />}
                  {dish.variant && <span class="variant" dir="auto">{dish.variant}</span>}
                  {(dish.kinds.length > 1 || dish.kinds[0]!.text !== '') && dish.kinds.map((kind) => (
                    <span class="modifier" dir="auto" key={kind.text}>{quantityText(kind.quantity, language)} · {kind.text || texts.without}</span>
                  ))}
                </span>
              </button>
              <button class="quiet" onClick={() => {
                screen.search = dish.name;
                screen.show('sold-out');
              }}>{texts.sellOut}</button>
            </li>
          ))}
        </ul>
      </div>
    );
  }
}

interface StationState {
  name: string;
  done: number;
  of: number;
}

function stationsOf(card: Card, screen: Screen): StationState[] {
  const by = new Map<string, StationState>();
  const note = (id: string | null, isDone: boolean) => {
    const name = id === null ? screen.texts.noStation : screen.stationName(id);
    const state = by.get(name) || { name, done: 0, of: 0 };
    state.of++;
    if (isDone) state.done++;
    by.set(name, state);
  };
  for (const round of card.rounds) for (const { line, look } of round.lines) if (look !== 'cancelled') note(line.station_id, look === 'marked');
  for (const { line } of card.done) if (line.canceled_at === null) note(line.station_id, true);
  return Array.from(by.values());
}

export class PassView extends Component<{ screen: Screen }> {
  render(): ComponentChildren {
    const { screen } = this.props;
    const { texts } = screen;
    const cards = screen.passCards();
    if (cards.length === 0) return <div class="empty"><p class="empty-head">{texts.nothing}</p><p>{texts.nothingMore}</p></div>;
    const now = screen.clock.now();
    return <div class="cards">{cards.map((card, i) => this.card(card, now, placeOf(i)))}</div>;
  }

  private card(card: Card, now: number, place: number): ComponentChildren {
    const { screen } = this.props;
    const { texts, language } = screen;
    const { ticket } = card;
    const isCancelled = card.kind === 'cancelled';
    const minutes = minutesOf(card.since, now);
    const open = card.rounds.reduce((sum, round) => sum + round.lines.filter(({ look }) => look === 'waits' || look === 'cancelled').length, 0);
    const pace = isCancelled ? 'gone' : card.kind === 'ready' ? 'done' : paceOf(ticket.service_type, minutes, screen.rules);
    const subtitle = subtitleOf(card, texts, screen);
    const lines = card.done.concat(...card.rounds.map((round) => round.lines));
    return (
      <article class={'card pass ' + pace + (card.isRush ? ' rushed' : '')} key={ticket.order_id} data-order={ticket.order_id}
        aria-label={texts.orderWord + ' ' + ticket.order_number}>
        {card.isRush && <p class="band rush">{texts.rush}</p>}
        {isCancelled && <p class="band gone">{texts.cancelled} · <span dir="auto">{ticket.cancel_reason || texts.noReason}</span></p>}
        <div class="top">
          <span class="number started">{ticket.order_number}</span>
          <span class="head still">
            <span class="title" dir="auto">{titleOf(card, texts)}</span>
            <span class="under">
              {card.kind === 'ready' ? <span class="age"><span class="word">✓ {texts.ready}</span></span>
                : !isCancelled && <Age pace={pace} minutes={minutes} texts={texts} />}
              {subtitle && <span class="subtitle" dir="auto">{subtitle}</span>}
            </span>
            <Place place={place} />
          </span>
        </div>
        <ul class="stations">
          {stationsOf(card, screen).map((each) => (
            <li class={each.done === each.of ? 'full' : ''} key={each.name}>{each.done === each.of ? '✓ ' : ''}{each.name} {each.done}/{each.of}</li>
          ))}
        </ul>
        {ticket.comment && <p class="comment" dir="auto">{ticket.comment}</p>}
        <ul class="short">
          {lines.map(({ line, look }) => (
            <li key={line.id} class={look}><b>{quantityText(line.quantity, language)}</b> <span dir="auto">{line.name}
              {[line.variant || '', ...modifiersOf(line)].filter((part) => part !== '').map((part) => ' · ' + part).join('')}</span>
              {line.comment && <span class="comment" dir="auto">{line.comment}</span>}</li>
          ))}
        </ul>
        <div class="verbs">
          {!isCancelled && <button class="quiet" aria-pressed={card.isRush} onClick={() => screen.rush(card)}>{card.isRush ? texts.rushOff : texts.rushOn}</button>}
          {open > 0 && <button data-key={place} onClick={() => screen.touchHead(card)}>{isCancelled ? texts.seen : texts.allDone}</button>}
          {open === 0 && !isCancelled && <button class="strong" data-key={place} onClick={() => screen.sendOut(ticket)}>{texts.out}</button>}
        </div>
      </article>
    );
  }
}

export class RecallView extends Component<{ screen: Screen }> {
  render(): ComponentChildren {
    const { screen } = this.props;
    const { texts } = screen;
    if (screen.recalled === null) return <div class="empty"><p>{texts.connecting}</p></div>;
    if (screen.recalled.length === 0) return <div class="empty"><p class="empty-head">{texts.recallNone}</p></div>;
    let back = 0;  // of those that can be brought back
    return (
      <div class="list">
        <p class="hint">{texts.recallHelp}</p>
        {screen.recalled.map((ticket) => this.ticket(ticket, ticket.status === 'CANCELLED' ? -1 : placeOf(back++)))}
      </div>
    );
  }

  private ticket(ticket: Ticket, place: number): ComponentChildren {
    const { screen } = this.props;
    const { texts, language, zone } = screen;
    const done = ticket.lines.filter((line) => line.done_at !== null && line.canceled_at === null);
    const touched = screen.touched.undone;
    const back = done.filter((line) => !touched[line.id]);
    const newest = done.reduce((last, line) => line.done_at! > last ? line.done_at! : last, '');
    const by = done.filter((line) => line.done_at === newest)[0];
    return (
      <article class="past" key={ticket.order_id} data-order={ticket.order_id}>
        <span class="number started">{ticket.order_number}</span>
        <div class="what">
          <p class="title" dir="auto">{ticket.table || ticket.name || serviceText(ticket.service_type, texts)}</p>
          {by && <p class="soft">{fill(texts.doneBy, { time: clockTime(Date.parse(newest), language, zone), name: by.done_by || '' })}</p>}
          <ul class="short">
            {done.map((line) => <li key={line.id}><b>{quantityText(line.quantity, language)}</b> <span dir="auto">{line.name}</span></li>)}
          </ul>
        </div>
        {ticket.status !== 'CANCELLED' && (
          <button class="back" data-key={place} disabled={back.length === 0} onClick={() => screen.callBack(ticket, back.map((line) => line.id))}>{texts.bringBack}<Place place={place} /></button>
        )}
      </article>
    );
  }
}
