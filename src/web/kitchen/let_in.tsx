// A screen that has no key: its number, and the two ways to let it in.

import { Component, h } from 'preact';
import type { ComponentChildren } from 'preact';
import { Screen } from './screen';

export class LetInView extends Component<{ screen: Screen }> {
  render(): ComponentChildren {
    const { screen } = this.props;
    const { texts, lettingIn } = screen;
    if (lettingIn.isStopped) {
      return <main class="let-in" id="main"><h1>{lettingIn.reason}</h1><button class="strong" onClick={() => screen.tryAgain()}>{texts.tryAgain}</button></main>;
    }
    const { number } = lettingIn;
    return (
      <main class="let-in" id="main">
        {lettingIn.reason && <p class="reason" role="alert">{lettingIn.reason}</p>}
        <h1>{texts.notLetIn}</h1>
        <p class="hint">{number ? texts.number : lettingIn.note || texts.numberLater}</p>
        <p class="big" aria-live="polite">{number ? number.slice(0, 3) + ' ' + number.slice(3) : '··· ···'}</p>
        <div class="ways">
          <p>{texts.wayPerson}</p>
          <p>{texts.wayBox}<code>comanda pair accept {number || '······'} --as kitchen --name "{texts.kitchen} 2"</code></p>
          <p>{texts.wayCode}<code>comanda pair --as kitchen --name "{texts.kitchen} 2"</code></p>
        </div>
        <p class="hint">{texts.waits}</p>
      </main>
    );
  }
}
