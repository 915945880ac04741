import type { CatalogState } from '../../rules/discover/served.ts';
import { readPeriod, validityText } from '../validity.ts';

// The state and the number of resources of every catalog, in two columns by catalog key. Loaded at the start of the process (documents/scope.ts). So
// thousands of candidates are compared with scopes, and catalogs replaced by their resources, without asking the database.

export interface CatalogEntry {
  /** As the database writes it; null: the catalog does not exist. */
  state: string | null;
  /** Undefined if there are too many to count, or if their numbers are not 1, 2, 3 and so on. */
  resources: number | undefined;
}

/** Resources of a catalog. More are not counted, because that would take a tenth of a second after each change. */
export const maxCounted = 1_000_000;
/** Marks a missing count in the column. */
const uncounted = maxCounted + 1;
/** Catalogs with different validities have different states. Above this number, all states are forgotten, and read again when needed. */
const maxStates = 500_000;
const firstLength = 1_024;

export class CatalogTable {
  /** Catalogs from this key on are not cached. */
  readonly limit: number;
  /** Index in `states`, by catalog key. */
  private stateOf = new Uint32Array(firstLength);
  private countOf = new Uint32Array(firstLength);
  /** Unknown, no catalog, and the existing states. */
  private states: (CatalogState | null | undefined)[] = [undefined, null];
  private readonly numbers = new Map<string | null, number>([[null, 1]]);
  /** All catalogs up to this key were loaded. */
  loadedUpTo = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Null: the catalog does not exist; undefined: unknown. */
  find(key: number): CatalogState | null | undefined {
    return this.states[this.stateOf[key] ?? 0];
  }

  /** The number of resources of a known catalog (CatalogEntry). */
  findCount(key: number): number | undefined {
    const count = this.countOf[key];
    return count === uncounted ? undefined : count;
  }

  parseState(state: string | null): CatalogState | null {
    const known = this.states[this.numbers.get(state) ?? 0];
    return known === undefined ? parseState(state as string) : known;
  }

  forget(key: number): void {
    if (key < this.stateOf.length) this.stateOf[key] = 0;
  }

  clear(): void {
    this.forgetStates();
    this.loadedUpTo = 0;
  }

  /** Keeps `loadedUpTo`, because repeated loading of all catalogs would never end. */
  private forgetStates(): void {
    this.stateOf.fill(0);
    this.states = [undefined, null];
    this.numbers.clear();
    this.numbers.set(null, 1);
  }

  keep(key: number, { state, resources }: CatalogEntry): void {
    if (key >= this.limit) return;
    if (this.states.length > maxStates) this.forgetStates();
    if (key >= this.stateOf.length) this.grow(key);
    const number = this.numbers.get(state) ?? this.states.push(this.parseState(state)) - 1;
    this.numbers.set(state, number);
    this.stateOf[key] = number;
    this.countOf[key] = resources ?? uncounted;
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

/** The state that decides whether a catalog is searched, as the database writes it. */
export const stateText = `json_build_array(type, is_active and served, networks, schema_types, ${validityText()})::text`;

function parseState(text: string): CatalogState {
  const [type, isActive, networkIds, schemaTypes, validity] = JSON.parse(text);
  return { type, isActive, networkIds, schemaTypes: new Set(schemaTypes), validity: readPeriod(validity) };
}
