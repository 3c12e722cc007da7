// Keeps the tablet's screen on, where the browser can (Chrome 84). The lock ends when the page is hidden, and is taken again.

interface Lock {
  addEventListener(name: 'release', then: () => void): void;
}
interface WithLock {
  wakeLock?: { request(kind: 'screen'): Promise<Lock> };
}

export class Awake {
  isOn = false;
  readonly canBe: boolean;

  constructor(private readonly changed: () => void) {
    this.canBe = (navigator as WithLock).wakeLock !== undefined;
    document.addEventListener('visibilitychange', () => this.take());
  }

  take(): void {
    const wakeLock = (navigator as WithLock).wakeLock;
    if (!wakeLock || this.isOn || document.visibilityState !== 'visible') return;
    wakeLock.request('screen').then((lock) => {
      this.isOn = true;
      lock.addEventListener('release', () => {
        this.isOn = false;
        this.changed();
      });
      this.changed();
    }, () => undefined);
  }
}
