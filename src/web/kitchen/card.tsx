// A ticket as a card: its head is touched to mark all that it shows, a line to mark that one, the number to start it.

import { Component, h } from 'preact';
import type { ComponentChildren } from 'preact';
import { fill, quantityText, Texts } from '../shared/texts';
import { clockTime } from '../shared/time';
import { Screen } from './screen';
import { Card, dishKey, paceOf, Round, ShownLine } from './tickets';

interface CardProps {
  card: Card;
  screen: Screen;
  place: number;
  minutes: number;
  language: string;
  highlight: string;
}

// What a card looks like: where this is equal, nothing is drawn again.
function signatureOf(props: CardProps): string {
  const { card } = props;
  return [card.ticket.revision, card.kind, card.isRush, card.isStarted, props.place, props.minutes, props.language, props.highlight,
    card.rounds.map((round) => round.lines.map(({ line, look }) => line.id + look).join()).join(';'), card.done.length,
    card.elsewhere.map((each) => each.station + each.done + '/' + each.of).join(), props.screen.rulesText, props.screen.soldOutRevision].join(' ');
}

export function serviceText(service: string, texts: Texts): string {
  const names: { [name: string]: string } = { ONSITE: texts.ONSITE, TABLE: texts.TABLE, DELIVERY: texts.DELIVERY, TAKEAWAY: texts.TAKEAWAY };
  return names[service] || service;
}

// Who or what the order is for. The channel is named where it is not the till.
export function titleOf(card: Card, texts: Texts): string {
  return card.ticket.table || card.ticket.name || serviceText(card.ticket.service_type, texts);
}

export function subtitleOf(card: Card, texts: Texts, screen: Screen): string {
  const { ticket } = card;
  const parts: string[] = [];
  if (ticket.table && ticket.name) parts.push(ticket.name);
  if (!(ticket.table && ticket.service_type === 'TABLE') && (ticket.table || ticket.name)) parts.push(serviceText(ticket.service_type, texts));
  if (ticket.source !== 'API') parts.push(ticket.source);
  if (ticket.scheduled_for) parts.push(fill(texts.forTime, { time: clockTime(Date.parse(ticket.scheduled_for), screen.language, screen.zone) }));
  return parts.join(' · ');
}

// The key that presses what stands there: 1 to 9, then 0; -1: none.
export function placeOf(index: number): number { return index < 10 ? (index + 1) % 10 : -1; }

export function Place(props: { place: number }): ComponentChildren {
  return props.place < 0 ? null : <span class="place" aria-hidden="true">{props.place}</span>;
}

// Of a dish or modifier that is sold out now: those that were ordered are to be made all the same.
export function SoldOutSign(props: { texts: Texts }): ComponentChildren { return <span class="gone-86">⊘ {props.texts.soldOutTag}</span>; }

// A state is a colour, a shape and a word.
export function Age(props: { pace: string; minutes: number; texts: Texts }): ComponentChildren {
  const { pace, minutes, texts } = props;
  const word = pace === 'late' ? texts.late : pace === 'warn' ? texts.warn : '';
  return (
    <span class="age">
      <svg class="shape" viewBox="0 0 24 24" aria-hidden="true">
        {pace === 'late' ? <path d="M12 1l11 11-11 11L1 12z" /> : pace === 'warn' ? <path d="M12 2l11 20H1z" /> : <circle cx="12" cy="12" r="8" />}
      </svg>
      <span class="minutes">{fill(texts.minutes, { n: minutes })}</span>
      {word && <span class="word">{word}</span>}
    </span>
  );
}

const HOLD_MS = 700;

export class CardView extends Component<CardProps> {
  private signature = '';
  private held = 0;

  shouldComponentUpdate(next: CardProps): boolean { return signatureOf(next) !== this.signature; }

  render(): ComponentChildren {
    this.signature = signatureOf(this.props);
    const { card, screen, minutes, place } = this.props;
    const { texts } = screen;
    const { ticket } = card;
    const isCancelled = card.kind === 'cancelled';
    const pace = isCancelled ? 'gone' : paceOf(ticket.service_type, minutes, screen.rules);
    const subtitle = subtitleOf(card, texts, screen);
    const orderLines = card.rounds.reduce((sum, round) => sum + round.lines.length, 0);
    // By the properties of this moment: what is marked are lines that the card shows.
    const mark = () => screen.touchHead(this.props.card);
    return (
      <article class={'card ' + pace + (card.isRush ? ' rushed' : '')} data-order={ticket.order_id} aria-label={texts.orderWord + ' ' + ticket.order_number}>
        {card.isRush && <p class="band rush">{texts.rush}</p>}
        {isCancelled && <p class="band gone">{texts.cancelled} · <span dir="auto">{ticket.cancel_reason || texts.noReason}</span></p>}
        <div class="top">
          <button class={'number' + (card.isStarted ? ' started' : '')} onClick={() => screen.startOrder(ticket)}
            aria-label={fill(texts.start, { number: ticket.order_number })} aria-pressed={card.isStarted}><span class={card.isStarted ? '' : 'startable'}>{ticket.order_number}</span></button>
          <button class="head" data-key={place} onClick={mark} aria-label={fill(texts.markAll, { number: ticket.order_number }) + ', ' + titleOf(card, texts) + ', ' +
            fill(texts.minutes, { n: minutes })} disabled={orderLines === 0}>
            <span class="title" dir="auto">{titleOf(card, texts)}</span>
            <span class="under">
              {!isCancelled && card.kind !== 'other' && <Age pace={pace} minutes={minutes} texts={texts} />}
              {card.kind === 'other' && <span class="word">{ticket.state}</span>}
              {subtitle && <span class="subtitle" dir="auto">{subtitle}</span>}
            </span>
            <Place place={place} />
          </button>
        </div>
        {ticket.comment && <p class="comment" dir="auto">{ticket.comment}</p>}
        {card.done.length > 0 && <p class="collapsed">✓ {fill(texts.doneCollapsed, { n: card.done.length })}</p>}
        {card.rounds.map((round) => this.round(round, round.addedAt !== ticket.opened_at))}
        {isCancelled && <p class="foot">{texts.touchSeen}</p>}
        {card.elsewhere.length > 0 && (
          <p class="foot">{texts.alsoAt}: {card.elsewhere.map((each) =>
            screen.stationName(each.station) + ' ' + fill(texts.doneOf, { n: each.done, of: each.of })).join(' · ')}</p>
        )}
      </article>
    );
  }

  private round(round: Round, isLater: boolean): ComponentChildren {
    const { screen } = this.props;
    return (
      <section class="round" key={round.addedAt}>
        {isLater && <p class="rule">{fill(screen.texts.addedAt, { time: clockTime(Date.parse(round.addedAt), screen.language, screen.zone) })}</p>}
        <ul>{round.lines.map((each) => this.line(each))}</ul>
      </section>
    );
  }

  // A dish that is held is asked for among those that can be sold out. The card is gone then, and with it the click that
  // would mark the dish.
  private hold(dish: string): void {
    this.release();
    this.held = window.setTimeout(() => this.sellOut(dish), HOLD_MS);
  }

  private release(): void { clearTimeout(this.held); }

  private sellOut(dish: string): void {
    const { screen } = this.props;
    this.release();
    screen.search = dish;
    screen.show('sold-out');
  }

  componentWillUnmount(): void { this.release(); }

  private line({ line, look }: ShownLine): ComponentChildren {
    const { screen, card, highlight } = this.props;
    const { texts } = screen;
    const quantity = quantityText(line.quantity, screen.language);
    return (
      <li key={line.id}>
        <button class={'line ' + look + (highlight === dishKey(line) ? ' lit' : '')} data-line={line.id} aria-pressed={look === 'marked'}
          onClick={() => screen.touchLine(card.ticket, line)}
          onPointerDown={() => this.hold(line.name)} onPointerUp={() => this.release()} onPointerLeave={() => this.release()}
          onPointerCancel={() => this.release()}
          onContextMenu={(event: Event) => {
            event.preventDefault();
            this.sellOut(line.name);
          }}>
          <span class={'quantity' + (line.quantity === 1 ? '' : ' many')}>{quantity}</span>
          <span class="what">
            <span class="dish" dir="auto">{line.name}</span>
            {line.variant && <span class="variant" dir="auto">{line.variant}</span>}
            {line.modifiers.map((each, i) => (
              <span class="modifier" dir="auto" key={i}>{each.quantity === 1 ? each.name
                : fill(line.quantity === 1 ? texts.times : texts.timesPerItem, { n: each.quantity, what: each.name })}
                {look !== 'cancelled' && screen.isSoldOut(each.modifier_id) && <SoldOutSign texts={texts} />}</span>
            ))}
            {line.comment && <span class="comment" dir="auto">{line.comment}</span>}
            {look !== 'cancelled' && screen.isSoldOut(line.product_id) && <SoldOutSign texts={texts} />}
            {look === 'cancelled' && <span class="tag gone">{texts.cancelledLine}</span>}
            {line.station_id === null && <span class="tag">{texts.noStation}</span>}
          </span>
          {look === 'marked' && <span class="tick" aria-hidden="true">✓</span>}
        </button>
      </li>
    );
  }
}
