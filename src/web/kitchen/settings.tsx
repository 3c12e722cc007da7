// What is set for this screen alone, and what it knows of the box.

import { Component, Fragment, h } from 'preact';
import type { ComponentChildren } from 'preact';
import { fill, Language, LANGUAGES } from '../shared/texts';
import { Screen, Size, Theme } from './screen';
import { cloudText, internetText, kitchenText } from './truth';

function Choice(props: { legend: string; options: { [value: string]: string }; value: string; choose: (value: string) => void }): ComponentChildren {
  return (
    <fieldset>
      <legend>{props.legend}</legend>
      <div class="choices">
        {Object.keys(props.options).map((value) => (
          <button key={value} aria-pressed={value === props.value} onClick={() => props.choose(value)}>{props.options[value]}</button>
        ))}
      </div>
    </fieldset>
  );
}

export class SettingsView extends Component<{ screen: Screen }, { isSure: boolean }> {
  state = { isSure: false };

  render(): ComponentChildren {
    const { screen } = this.props;
    const { texts, preferences, readiness } = screen;
    const when = (instant: string) => screen.when(instant);
    const checks = [[texts.internet, internetText(readiness, texts, when)], [texts.cloud, cloudText(readiness, texts, when)],
      [texts.kitchen, kitchenText(readiness, texts)]];
    const choose = (id: string) => screen.prefer({ stations: preferences.stations.indexOf(id) >= 0
      ? preferences.stations.filter((each) => each !== id) : preferences.stations.concat(id) });
    return (
      <div class="settings">
        <fieldset disabled={screen.isFixed}>
          <legend>{texts.station}</legend>
          <div class="choices">
            <button aria-pressed={screen.watched.length === 0} onClick={() => screen.prefer({ stations: [] })}>{texts.allStations}</button>
            {screen.stations.filter((station) => station.prepares).map((station) => (
              <button key={station.id} aria-pressed={screen.watched.indexOf(station.id) >= 0} onClick={() => choose(station.id)}>{station.name}</button>
            ))}
          </div>
        </fieldset>
        <Choice legend={texts.size} value={preferences.size} options={{ small: texts.small, medium: texts.medium, large: texts.large }}
          choose={(size) => screen.prefer({ size: size as Size })} />
        <Choice legend={texts.look} value={preferences.theme} options={{ auto: texts.auto, light: texts.light, dark: texts.dark }}
          choose={(theme) => screen.prefer({ theme: theme as Theme })} />
        <Choice legend={texts.language} value={screen.language} options={LANGUAGES}
          choose={(language) => screen.prefer({ language: language as Language })} />
        <Choice legend={texts.volume} value={'v' + preferences.volume} options={{ v0: texts.noSound, 'v0.3': texts.low, v1: texts.high }}
          choose={(volume) => {
            screen.prefer({ volume: Number(volume.slice(1)) });
            screen.sound.touch();
            screen.sound.play('new');
          }} />
        <fieldset>
          <legend>{texts.help}</legend>
          <p>{texts.touchHelp}</p>
          <p>{texts.keysHelp}</p>
          {!screen.awake.canBe && <p>{texts.noWakeLock}</p>}
          {screen.isWorkerRefused && <p>{texts.workerRefused} <a href="/setup">{texts.setupLink}</a></p>}
        </fieldset>
        <fieldset>
          <legend>{texts.boxState}</legend>
          <dl class="checks">
            {checks.filter((check) => check[1] !== '').map(([name, text]) => <Fragment key={name}><dt>{name}</dt><dd>{text}</dd></Fragment>)}
          </dl>
          <p class="soft">{fill(texts.version, { version: document.documentElement.getAttribute('data-version') || '' })}
            {screen.keyName ? ' · ' + fill(texts.connectedAs, { name: screen.keyName }) : ''}</p>
        </fieldset>
        <fieldset>
          <legend>{texts.thisScreen}</legend>
          <div class="choices">
            <button class="quiet" onClick={() => this.state.isSure ? screen.forgetThisScreen() : this.setState({ isSure: true })}>
              {this.state.isSure ? texts.forgetSure : texts.forget}</button>
          </div>
          <p class="soft">{texts.forgetKey} <code>comanda keys list</code>, <code>comanda keys revoke ID</code></p>
        </fieldset>
      </div>
    );
  }
}
