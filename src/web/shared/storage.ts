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

  // Everything that begins with the prefix.
  clear(): void {
    try {
      const storage = this.of();
      for (const name of Object.keys(storage)) {
        if (name.indexOf(this.prefix) === 0) storage.removeItem(name);
      }
    } catch {
      this.works = false;
    }
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
