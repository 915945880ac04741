import { addTo } from '../group.ts';
import { Recent } from '../recent.ts';
import { catalogKeyOf } from './discovery-keys.ts';

// Which resources pass checks on their documents, as far as it was asked lately: the same filters are asked for again and again. By their catalogs,
// with which they change.

interface Kept {
  /** By the checks' names, whether resources pass, by their keys. */
  checks: Map<string, Map<number, boolean>>;
  bytes: number;
}

/** Of one catalog. Of more, the first one is forgotten. */
const maxChecks = 100;
/** What one takes, about. */
const catalogBytes = 250;
const checkBytes = 250;
const verdictBytes = 60;

export class VerdictMemory {
  private readonly catalogs: Recent<number, Kept>;

  constructor(maxBytes: number) {
    this.catalogs = new Recent(maxBytes, ({ bytes }) => bytes);
  }

  find(check: string, key: number): boolean | undefined {
    return this.catalogs.find(catalogKeyOf(key))?.checks.get(check)?.get(key);
  }

  /** Of these resources, those that are among the passing ones pass, and the others do not. */
  keep(check: string, keys: readonly number[], passing: ReadonlySet<number>): void {
    const byCatalog = new Map<number, number[]>();
    for (const key of keys) addTo(byCatalog, catalogKeyOf(key), key);
    for (const [catalogKey, judged] of byCatalog) {
      const { checks } = this.catalogs.find(catalogKey) ?? { checks: new Map() };
      const verdicts = checks.get(check) ?? new Map();
      for (const key of judged) verdicts.set(key, passing.has(key));
      checks.set(check, verdicts);
      if (checks.size > maxChecks) forgetFirst(checks);
      this.catalogs.keep(catalogKey, { checks, bytes: sizeOf(checks) });
    }
  }

  forget(catalogKey: number): void {
    this.catalogs.forget(catalogKey);
  }

  clear(): void {
    this.catalogs.clear();
  }
}

function forgetFirst(checks: Kept['checks']): void {
  for (const name of checks.keys()) {
    checks.delete(name);
    return;
  }
}

function sizeOf(checks: Kept['checks']): number {
  let bytes = catalogBytes;
  for (const [name, { size }] of checks) bytes += checkBytes + name.length + size * verdictBytes;
  return bytes;
}
