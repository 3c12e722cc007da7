// Two tones that the page makes itself: a rising one for what is new, a falling one for what is cancelled. Browsers keep a
// page mute until it was touched.

export type Tone = 'new' | 'cancelled';

const NOTES: { [tone in Tone]: number[] } = { new: [659, 880, 1047], cancelled: [587, 440, 330] };

export class Sound {
  private context: AudioContext | null = null;
  volume = 1;  // 0: the screen is meant to be mute

  constructor(private readonly changed: () => void) {
    try {
      this.context = new AudioContext();
      this.context.onstatechange = () => changed();
    } catch {
      this.context = null;
    }
  }

  // Whether a tone would be heard.
  get isOn(): boolean { return this.volume > 0 && this.context !== null && this.context.state === 'running'; }

  // Whether a touch would make it heard.
  get wantsTouch(): boolean { return this.volume > 0 && this.context !== null && this.context.state !== 'running'; }

  touch(): void {
    if (this.context && this.context.state !== 'running') this.context.resume().then(this.changed, () => undefined);
  }

  play(tone: Tone): void {
    const context = this.context;
    if (!context || !this.isOn) return;
    const last = NOTES[tone].length - 1;
    NOTES[tone].forEach((pitch, i) => {
      const at = context.currentTime + i * 0.16;
      const length = i === last ? 0.5 : 0.15;
      const oscillator = context.createOscillator();
      const gain = context.createGain();
      oscillator.type = tone === 'new' ? 'triangle' : 'square';
      oscillator.frequency.value = pitch;
      gain.gain.setValueAtTime(0.0001, at);
      gain.gain.exponentialRampToValueAtTime((tone === 'new' ? 0.7 : 0.35) * this.volume, at + 0.02);
      gain.gain.exponentialRampToValueAtTime(0.0001, at + length);
      oscillator.connect(gain);
      gain.connect(context.destination);
      oscillator.start(at);
      oscillator.stop(at + length + 0.02);
    });
  }
}
