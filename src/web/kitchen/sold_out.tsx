// What is sold out ("86"): for today or until somebody says so. Found by its name; what is sold out now stands first.

import { Component, h } from 'preact';
import type { ComponentChildren } from 'preact';
import type { KitchenModifier, KitchenProduct } from 'api';
import { fill, plain } from '../shared/texts';
import { Screen } from './screen';

const FOUND_MAX = 40;

const DISHES_NAMED_MAX = 3;

interface Row {
  item: KitchenProduct | KitchenModifier;
  dishes: string[] | null;  // of a modifier: those that have it
}

export class SoldOutView extends Component<{ screen: Screen }> {
  private rows(): Row[] {
    const { menu } = this.props.screen;
    const rows: Row[] = [];
    const known: { [id: string]: Row } = {};
    const add = (item: KitchenProduct | KitchenModifier, dish: string | null) => {
      const row = known[item.id] || { item, dishes: dish === null ? null : [] };
      if (!known[item.id]) rows.push(known[item.id] = row);
      if (row.dishes && dish !== null && row.dishes.indexOf(dish) < 0) row.dishes.push(dish);
    };
    if (!menu) return rows;
    for (const category of menu.categories) for (const product of category.products) add(product, null);
    for (const category of menu.categories) for (const product of category.products) for (const modifier of product.modifiers) add(modifier, product.name);
    return rows;
  }

  render(): ComponentChildren {
    const { screen } = this.props;
    const { texts } = screen;
    if (!screen.menu) return <div class="empty"><p>{texts.connecting}</p></div>;
    const rows = this.rows();
    const gone = rows.filter((row) => row.item.sold_out !== null);
    const words = plain(screen.search).split(/\s+/).filter((word) => word !== '');
    const found = words.length === 0 ? [] : rows.filter((row) => {
      const name = plain(row.item.name);
      return words.every((word) => name.indexOf(word) >= 0);
    });
    return (
      <div class="list sold-out">
        <label class="search"><span>{texts.search}</span>
          <input type="search" value={screen.search} autocomplete="off" onInput={(event: Event) => {
            screen.search = (event.target as HTMLInputElement).value;
            this.setState({});
          }} /></label>
        {words.length === 0 && <p class="hint">{fill(texts.menuMore, { n: rows.length })}</p>}
        {words.length > 0 && found.length === 0 && <p class="hint" role="status">{fill(texts.noHit, { what: screen.search.trim() })}</p>}
        <ul class="dishes">{found.slice(0, FOUND_MAX).map((row) => this.row(row))}</ul>
        <h2>{texts.soldOutNow}</h2>
        {gone.length === 0 ? <p class="hint">{texts.soldOutNone}</p> : <ul class="dishes">{gone.map((row) => this.row(row))}</ul>}
        <p class="hint">{texts.appsNote}</p>
      </div>
    );
  }

  private row({ item, dishes }: Row): ComponentChildren {
    const isModifier = dishes !== null;
    const { screen } = this.props;
    const { texts } = screen;
    const { sold_out: soldOut } = item;
    return (
      <li key={item.id} data-item={item.id}>
        <span class="what"><span class="dish" dir="auto">{item.name}</span>
          {dishes && <span class="variant" dir="auto">{fill(texts.modifier, { dishes: dishes.slice(0, DISHES_NAMED_MAX).join(', ') +
            (dishes.length > DISHES_NAMED_MAX ? '…' : '') })}</span>}
          {soldOut && <span class="variant">{soldOut.until ? fill(texts.soldOutUntil, { when: screen.when(soldOut.until) }) : texts.soldOutOpen}</span>}</span>
        {soldOut ? <button onClick={() => screen.sellAgain(item.id, item.name, isModifier)}>{texts.available}</button> : (
          <span class="choices">
            <button class="strong" onClick={() => screen.sellOut(item.id, item.name, isModifier, true)}>{texts.untilTomorrow}</button>
            <button onClick={() => screen.sellOut(item.id, item.name, isModifier, false)}>{texts.untilISay}</button>
          </span>
        )}
      </li>
    );
  }
}
