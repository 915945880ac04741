import { addTo } from '../../group.ts';
import { LruCache } from '../../lru-cache.ts';
import { catalogKeyOf, span } from '../documents/keys.ts';

// A cache of verdicts: which resources pass which check on their documents. Entries stand by catalog, and are invalidated with it. A bitmap keeps them small: two bits per resource
// (is a verdict known, does it pass), and one number for some resources.

interface Kept {
  /** By check and block of resources (`blockOf`). */
  verdicts: Map<number, number>;
}

/** Resources that one number tells of. */
const atOnce = 15;
/** Numbers of one catalog. Of more, the first one is evicted. */
const maxBlocks = 1_000;
/** Texts of checks that have a number. */
const maxChecks = 10_000;
/** So that a number and a block make a whole number below 2^53. */
const maxNumber = 2 ** 27;
/** What one takes, about. */
const catalogBytes = 300;
const blockBytes = 60;

export class VerdictCache {
  private readonly catalogs: LruCache<number, Kept>;
  private readonly numbers = new LruCache<string, number>(maxChecks);
  private lastNumber = 0;

  constructor(maxBytes: number) {
    this.catalogs = new LruCache(maxBytes, sizeOf);
  }

  /** What is known of one check: whether a resource passes it. */
  find(check: string): (key: number) => boolean | undefined {
    const number = this.numbers.find(check);
    if (number === undefined) return () => undefined;
    return (key) => {
      const bits = this.catalogs.find(catalogKeyOf(key))?.verdicts.get(blockOf(number, key)) ?? 0;
      return bits & knownBitOf(key) ? (bits & passBitOf(key)) > 0 : undefined;
    };
  }

  /** Of these resources, those that are among the passing ones pass, and the others do not. */
  keep(check: string, keys: readonly number[], passing: ReadonlySet<number>): void {
    const number = this.numberOf(check);
    const byCatalog = new Map<number, number[]>();
    for (const key of keys) addTo(byCatalog, catalogKeyOf(key), key);
    for (const [catalogKey, judged] of byCatalog) {
      const verdicts = this.catalogs.find(catalogKey)?.verdicts ?? new Map<number, number>();
      this.catalogs.forget(catalogKey);
      for (const key of judged) {
        const block = blockOf(number, key);
        const bits = (verdicts.get(block) ?? 0) | knownBitOf(key);
        verdicts.set(block, passing.has(key) ? bits | passBitOf(key) : bits & ~passBitOf(key));
      }
      forgetFirst(verdicts, verdicts.size - maxBlocks);
      this.catalogs.keep(catalogKey, { verdicts });
    }
  }

  forget(catalogKey: number): void {
    this.catalogs.forget(catalogKey);
  }

  clear(): void {
    this.catalogs.clear();
    this.numbers.clear();
    this.lastNumber = 0;
  }

  /** None is given twice: a verdict on a check whose text was evicted is never taken for one on another check. */
  private numberOf(check: string): number {
    const number = this.numbers.find(check);
    if (number !== undefined) return number;
    if (this.lastNumber === maxNumber - 1) this.clear();
    this.lastNumber++;
    this.numbers.keep(check, this.lastNumber);
    return this.lastNumber;
  }
}

function blockOf(number: number, key: number): number {
  return number * span + Math.floor((key % span) / atOnce);
}

function knownBitOf(key: number): number {
  return 1 << ((key % span) % atOnce);
}

function passBitOf(key: number): number {
  return knownBitOf(key) << atOnce;
}

function forgetFirst(verdicts: Kept['verdicts'], count: number): void {
  if (count <= 0) return;
  for (const block of [...verdicts.keys()].slice(0, count)) verdicts.delete(block);
}

function sizeOf({ verdicts }: Kept): number {
  return catalogBytes + verdicts.size * blockBytes;
}
