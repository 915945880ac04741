import { addTo } from '../../group.ts';
import { LruCache } from '../../lru-cache.ts';
import { catalogKeyOf, span } from '../documents/keys.ts';

// A cache of verdicts: which resources pass which check on their documents. Entries stand by catalog, and are invalidated with it. A bitmap keeps them small: two bits per resource
// (is a verdict known, does it pass), and one number for some resources.

/** Of one catalog, by check and block of resources (`blockOf`). */
type Verdicts = Map<number, number>;

/** Resources that one number tells of. */
const atOnce = 15;
/** Numbers of one catalog. Of more, the first one is evicted. */
const maxBlocks = 1_000;
/** Texts of checks that have a number. When there are more, all verdicts go. */
const maxChecks = 10_000;
/** What one takes, about. */
const catalogBytes = 300;
const blockBytes = 60;

export class VerdictCache {
  private readonly catalogs: LruCache<number, Verdicts>;
  /** Checks by their texts. None of these numbers is given to another check while there are verdicts on the first one. */
  private readonly numbers = new Map<string, number>();

  constructor(maxBytes: number) {
    this.catalogs = new LruCache(maxBytes, ({ size }) => catalogBytes + size * blockBytes);
  }

  /** What is known of one check: whether a resource passes it. */
  find(check: string): (key: number) => boolean | undefined {
    const number = this.numbers.get(check);
    if (number === undefined) return () => undefined;
    return (key) => {
      const bits = this.catalogs.find(catalogKeyOf(key))?.get(blockOf(number, key)) ?? 0;
      return bits & knownBitOf(key) ? (bits & passBitOf(key)) > 0 : undefined;
    };
  }

  /** Of these resources, those that are among the passing ones pass, and the others do not. */
  keep(check: string, keys: readonly number[], passing: ReadonlySet<number>): void {
    const number = this.numberOf(check);
    const byCatalog = new Map<number, number[]>();
    for (const key of keys) addTo(byCatalog, catalogKeyOf(key), key);
    for (const [catalogKey, judged] of byCatalog) {
      const verdicts: Verdicts = this.catalogs.find(catalogKey) ?? new Map();
      this.catalogs.forget(catalogKey); // it is kept again with its new size
      for (const key of judged) {
        const block = blockOf(number, key);
        const bits = (verdicts.get(block) ?? 0) | knownBitOf(key);
        verdicts.set(block, passing.has(key) ? bits | passBitOf(key) : bits & ~passBitOf(key));
      }
      for (const block of verdicts.keys()) {
        if (verdicts.size <= maxBlocks) break;
        verdicts.delete(block);
      }
      this.catalogs.keep(catalogKey, verdicts);
    }
  }

  forget(catalogKey: number): void {
    this.catalogs.forget(catalogKey);
  }

  clear(): void {
    this.catalogs.clear();
    this.numbers.clear();
  }

  private numberOf(check: string): number {
    const known = this.numbers.get(check);
    if (known !== undefined) return known;
    if (this.numbers.size === maxChecks) this.clear();
    const number = this.numbers.size + 1;
    this.numbers.set(check, number);
    return number;
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
