/** Numbers that look random and are the same for the same seed. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer from `low` to `high`, both included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.integer(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  digits(count: number): string {
    return this.characters('0123456789', count);
  }

  letters(count: number): string {
    return this.characters('ABCDEFGHJKLMNPQRSTUVWXYZ', count);
  }

  hex(count: number): string {
    return this.characters('0123456789abcdef', count);
  }

  private characters(alphabet: string, count: number): string {
    return Array.from({ length: count }, () => this.pick([...alphabet])).join('');
  }
}
