// What a page keeps in the browser. Where the storage is full or forbidden the page works on without it, and says so.

export class Kept {
  works = true;

  constructor(private readonly prefix: string, private readonly of: () => Storage) {}

  read<Value>(name: string): Value | null {
    try {
      const text = this.of().getItem(this.prefix + name);
      return text === null ? null : JSON.parse(text) as Value;
    } catch {
      return null;
    }
  }

  write(name: string, value: unknown): void {
    try {
      this.of().setItem(this.prefix + name, JSON.stringify(value));
      this.works = true;
    } catch {
      this.works = false;
    }
  }

  remove(name: string): void {
    try {
      this.of().removeItem(this.prefix + name);
    } catch {
      this.works = false;
    }
  }

  // Those that begin so.
  names(start = ''): string[] {
    try {
      const whole = this.prefix + start;
      return Object.keys(this.of()).filter((name) => name.indexOf(whole) === 0).map((name) => name.slice(this.prefix.length));
    } catch {
      return [];
    }
  }

  clear(): void {
    for (const name of this.names()) this.remove(name);
  }
}

// The name of this tab, which a reload keeps. A tab that was duplicated begins with a copy of the first one's storage: it asks
// whether the name is in use, and takes another one.
export class TabName {
  value: string;

  constructor(kept: Kept) {
    const take = (name: string) => {
      kept.write('display', name);
      return name;
    };
    this.value = take(kept.read<string>('display') || randomName(12));
    if (typeof BroadcastChannel === 'undefined') return;
    const channel = new BroadcastChannel('comanda.tabs');
    channel.onmessage = (event: MessageEvent) => {
      const { name, isAsked } = event.data as { name: string; isAsked: boolean };
      if (name !== this.value) return;
      if (isAsked) channel.postMessage({ name, isAsked: false });
      else this.value = take(randomName(12));
    };
    channel.postMessage({ name: this.value, isAsked: true });
  }
}

// Letters and digits, as `display` and an Idempotency-Key may have.
export function randomName(length = 22): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  let name = '';
  for (let i = 0; i < length; i++) name += letters[(bytes[i] || 0) % letters.length];
  return name;
}
