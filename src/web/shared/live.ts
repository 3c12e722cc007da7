// Follows a feed of the box for as long as the page lives: everything once, then what changes, one request at a time. The
// cursor moves only when what came is on the glass, so that the next request says what this screen shows.

import { LockedOut, Refused } from './api';

export interface News {
  next: string;
  isNews: boolean;
  waited: boolean;  // the box held the request until it had news, or until the wait was over
}

export interface Feed {
  // Reads everything and shows it; the cursor from which to follow.
  all(signal: AbortSignal): Promise<string>;
  after(cursor: string, signal: AbortSignal): Promise<News>;
  // Resolves when what was read is drawn.
  drawn(): Promise<void>;
  // The key is not accepted: nothing is asked any more.
  lockedOut(reason: LockedOut): void;
}

const BETWEEN_NEWS_MS = 150;
const WITHOUT_A_WAIT_MS = 1000;
const BACK_OFF_MAX_MS = 10000;
const ALL_AGAIN_AFTER_MS = 10 * 60000;

export class Live {
  private cursor: string | null = null;
  private abort = new AbortController();
  private wake: (() => void) | null = null;
  private runs = false;
  private allAt = 0;
  private isAsking = false;

  constructor(private readonly feed: Feed, private readonly random: () => number = Math.random,
              private readonly now: () => number = () => performance.now()) {}

  // From the beginning: who starts has nothing, or what another key has read.
  start(): void {
    if (this.runs) return;
    this.runs = true;
    this.cursor = null;
    void this.run();
  }

  stop(): void {
    this.runs = false;
    this.interrupt();
  }

  // Reads everything again.
  again(): void {
    this.cursor = null;
    this.interrupt();
  }

  // Ends a wait: a request that is under way, or a pause. What it asks has changed, or the line may be back.
  interrupt(): void {
    this.isInterrupted = true;
    this.abort.abort();
    if (this.wake) this.wake();
  }

  private isInterrupted = false;

  // Ends a pause alone.
  hurry(): void {
    if (!this.isAsking && this.wake) this.wake();
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      const self = this;
      function done() {
        clearTimeout(timer);
        self.wake = null;
        resolve();
      }
      this.wake = done;
    });
  }

  private async step(): Promise<number> {
    const isDue = this.now() - this.allAt > ALL_AGAIN_AFTER_MS;
    if (this.cursor === null || isDue) {
      const cursor = await this.feed.all(this.abort.signal);
      await this.feed.drawn();
      this.cursor = cursor;
      this.allAt = this.now();
      return 0;
    }
    const news = await this.feed.after(this.cursor, this.abort.signal);
    await this.feed.drawn();
    this.cursor = news.next;
    return news.isNews ? BETWEEN_NEWS_MS : news.waited ? 0 : WITHOUT_A_WAIT_MS;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (this.runs) {
      this.abort = new AbortController();
      this.isInterrupted = false;
      let pauseMs = 0;
      try {
        this.isAsking = true;
        pauseMs = await this.step();
        failures = 0;
      } catch (error) {
        if (this.isInterrupted) continue;
        if (error instanceof LockedOut) {
          this.runs = false;
          this.feed.lockedOut(error);
          return;
        }
        // The cursor is from before a restore, or too old: everything is read again and compared.
        if (error instanceof Refused && (error.status === 410 || error.status === 400)) this.cursor = null;
        const waitMs = error instanceof Refused ? error.retryAfterMs : 0;
        pauseMs = error instanceof Refused && error.status === 410 && failures === 0 ? 0 :
          Math.max(waitMs, Math.min(BACK_OFF_MAX_MS, 1000 * Math.pow(2, failures)) * (0.5 + this.random() / 2));
        failures++;
      } finally {
        this.isAsking = false;
      }
      if (pauseMs > 0 && this.runs) await this.pause(pauseMs);
    }
  }
}
