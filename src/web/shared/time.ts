// The server's time on a device whose own clock may be wrong or step. Measured by the header Date of answers and by the
// browser's monotonic clock, which nobody sets. Milliseconds.

export class ServerClock {
  private offset: number | null = null;

  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  // An answer with this Date came `receivedAt` to a request of `sentAt`, both monotonic. Date counts whole seconds: the
  // server's time at its answer was between it and a second later.
  note(date: string | null, sentAt: number, receivedAt: number): void {
    const at = date === null ? NaN : Date.parse(date);
    if (isNaN(at)) return;
    const least = at - receivedAt;
    const most = at + 999 - sentAt;
    if (this.offset === null) this.offset = least + 500;
    this.offset = Math.min(Math.max(this.offset, least), Math.max(least, most));
  }

  get isKnown(): boolean { return this.offset !== null; }

  // Of the device, until an answer says better.
  now(): number { return this.offset === null ? Date.now() : this.monotonic() + this.offset; }
}

const MINUTE_MS = 60000;

// A browser without data of the zone shows its own.
function inZone(language: string, zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(language, { ...options, timeZone: zone });
  } catch {
    return new Intl.DateTimeFormat(language, options);
  }
}

// "13:05", in the restaurant's zone.
export function clockTime(at: number, language: string, zone: string): string {
  return inZone(language, zone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as Intl.DateTimeFormatOptions).format(at);
}

// "las 13:05" of the same day, "mañana 05:00", "lun 30 05:00": by the words of the page's texts.
export function dayAndTime(at: number, now: number, language: string, zone: string,
                           words: { atTime: string; tomorrow: string; yesterday: string }): string {
  const time = clockTime(at, language, zone);
  const day = (instant: number) => Math.floor((instant + aheadOfUtc(instant, zone)) / (24 * 60 * MINUTE_MS));
  const days = day(at) - day(now);
  if (days === 0) return words.atTime.replace('{time}', time);
  const name = days === 1 ? words.tomorrow : days === -1 ? words.yesterday
    : inZone(language, zone, { weekday: 'short', day: 'numeric' }).format(at);
  return name + ' ' + time;
}

// How far the zone's wall clock is ahead of UTC at that moment.
function aheadOfUtc(at: number, zone: string): number {
  const parts = inZone('en-US', zone, { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric',
    second: 'numeric', hourCycle: 'h23' } as Intl.DateTimeFormatOptions).formatToParts(at);
  const of = (type: string) => Number((parts.filter((part) => part.type === type)[0] || { value: '0' }).value);
  const wall = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour') % 24, of('minute'), of('second'));
  return Math.round((wall - at) / MINUTE_MS) * MINUTE_MS;
}

// The next moment at which the wall clock of the zone shows "05:00".
export function nextTimeOfDay(now: number, time: string, zone: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const wall = new Date(now + aheadOfUtc(now, zone));
  let at = Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate(), hours, minutes);
  for (let tries = 0; tries < 3; tries++, at += 24 * 60 * MINUTE_MS) {
    // Twice: the first reckons with the offset before a change of the clocks.
    let instant = at - aheadOfUtc(at, zone);
    instant = at - aheadOfUtc(instant, zone);
    if (instant > now) return instant;
  }
  return now + 24 * 60 * MINUTE_MS;
}
