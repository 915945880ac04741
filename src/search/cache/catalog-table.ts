import type { CatalogState } from '../../rules/discover/served.ts';
import { readPeriod, validityText } from '../validity.ts';

// What is known of every catalog: its state, and how many resources it has, in two columns by the keys of catalogs, of eight bytes for each. It does not depend on what was asked: it is
// loaded when the process starts (documents/load-catalogs.ts), so that thousands of candidates are held against scopes, and catalogs are replaced by their resources, without
// asking the database.

export interface CatalogEntry {
  /** As the database writes it; null: there is no such catalog. */
  state: string | null;
  /** How many resources it has; undefined where they are too many to be counted, or their numbers are not 1, 2, 3 and so on. */
  resources: number | undefined;
}

/** A read that is under way. */
interface EntryRead {
  /** These are not kept from it. */
  changed: Set<number>;
  /** Nothing is kept from it. */
  isStale: boolean;
  keep(key: number, entry: CatalogEntry): void;
}

/** Resources of a catalog: more are not counted, which would take a tenth of a second after each change. */
export const maxCounted = 1_000_000;
/** What the column has instead of a count. */
const uncounted = maxCounted + 1;
/** Catalogs with validities of their own have states of their own: with more of them, all are forgotten, and read again as they are asked for. */
const maxStates = 500_000;
/** More catalogs that have changed are not read before somebody asks for them. */
const maxUnread = 10_000;
const firstLength = 1_024;

export class CatalogTable {
  /** Catalogs from this key on are not kept. */
  readonly limit: number;
  /** By the catalogs' keys: where their states stand among the different ones. */
  private stateOf = new Uint32Array(firstLength);
  private countOf = new Uint32Array(firstLength);
  /** Not known, no catalog, and the states that there are. */
  private states: (CatalogState | null | undefined)[] = [undefined, null];
  private readonly numbers = new Map<string | null, number>([[null, 1]]);
  private readonly reads = new Set<EntryRead>();
  /** Catalogs that have changed since they were read. */
  readonly unread = new Set<number>();
  /** Up to which key all catalogs were loaded. */
  loadedUpTo = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Null: there is no such catalog; undefined: it is not known. */
  find(key: number): CatalogState | null | undefined {
    return this.states[this.stateOf[key] ?? 0];
  }

  /** How many resources a catalog has that is known (CatalogEntry). */
  findCount(key: number): number | undefined {
    const count = this.countOf[key];
    return count === uncounted ? undefined : count;
  }

  /** Reads entries: what changes meanwhile is not kept. */
  async read<T>(work: (read: EntryRead) => Promise<T>): Promise<T> {
    const read: EntryRead = {
      changed: new Set(),
      isStale: false,
      keep: (key, entry) => {
        if (!read.isStale && !read.changed.has(key)) this.keep(key, entry);
      },
    };
    this.reads.add(read);
    try {
      return await work(read);
    } finally {
      this.reads.delete(read);
    }
  }

  parseState(state: string | null): CatalogState | null {
    const known = this.states[this.numbers.get(state) ?? 0];
    return known === undefined ? parseState(state as string) : known;
  }

  forget(key: number): void {
    for (const { changed } of this.reads) changed.add(key);
    if (this.unread.size < maxUnread) this.unread.add(key);
    if (key < this.stateOf.length) this.stateOf[key] = 0;
  }

  clear(): void {
    this.forgetStates();
    this.loadedUpTo = 0;
  }

  /** What was loaded is not loaded again: that would never end. */
  private forgetStates(): void {
    for (const read of this.reads) read.isStale = true;
    this.stateOf.fill(0);
    this.states = [undefined, null];
    this.numbers.clear();
    this.numbers.set(null, 1);
    this.unread.clear();
  }

  private keep(key: number, { state, resources }: CatalogEntry): void {
    if (key >= this.limit) return;
    if (this.states.length > maxStates) this.forgetStates();
    if (key >= this.stateOf.length) this.grow(key);
    const number = this.numbers.get(state) ?? this.states.push(this.parseState(state)) - 1;
    this.numbers.set(state, number);
    this.stateOf[key] = number;
    this.countOf[key] = resources ?? uncounted;
    this.unread.delete(key);
  }

  private grow(key: number): void {
    const length = Math.min(this.limit, Math.max(key + 1, 2 * this.stateOf.length));
    const [states, counts] = [new Uint32Array(length), new Uint32Array(length)];
    states.set(this.stateOf);
    counts.set(this.countOf);
    this.stateOf = states;
    this.countOf = counts;
  }
}

/** What decides whether a catalog is searched, as the database writes it: the same text for all catalogs that have it in common. */
export const stateText = `json_build_array(type, is_active and served, networks, schema_types, ${validityText()})::text`;

/** What it is made of. */
export const stateColumns =
  'type, is_active, served, networks, schema_types, valid_from, valid_until, window_start, window_length';

type StateColumns = [
  type: CatalogState['type'],
  isActive: boolean,
  networkIds: string[],
  schemaTypes: string[],
  validity: string | null,
];

function parseState(text: string): CatalogState {
  const [type, isActive, networkIds, schemaTypes, validity]: StateColumns = JSON.parse(text);
  return { type, isActive, networkIds, schemaTypes: new Set(schemaTypes), validity: readPeriod(validity) };
}
