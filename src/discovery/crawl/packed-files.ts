import { setImmediate } from 'node:timers/promises';
import type { BaselineFile, ChangeFile, IndexEntry } from '../../protocol/signed-files.ts';
import type { Steps } from '../../rules/self-hosted/check-file.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import type { GenuineBaseline, GenuineChange } from '../../rules/self-hosted/trust-files.ts';
import type { JudgedEntries, TrustedEntry, TrustedIndex } from '../../rules/self-hosted/trust-index.ts';

// What comes back from the thread that verifies large files: lists as JSON texts of some items each. To take over a large value at once would
// stop everything else for as long as to read it; so it is read text by text, and others get their turn in between.

export interface PackedFile {
  signedBy: string;
  /** The file without its resources and offers. */
  rest: string;
  resources: string[];
  offers: string[];
}

export interface PackedIndex extends Pick<TrustedIndex, 'url' | 'nextUpdate' | 'signedBy'> {
  /** Of the trusted entries: as received, as read, and who signed. */
  entries: string[];
  faults: { catalogId?: string; fault: PlainFault }[];
}

export type PlainFault = Pick<TrustFault, 'document' | 'code' | 'message'>;

export function packBaseline({ file, signedBy }: GenuineBaseline): PackedFile {
  const { resources = [], offers = [], ...catalog } = file.catalog;
  return { signedBy, rest: JSON.stringify({ ...file, catalog }), ...packLists(resources, offers) };
}

export async function unpackBaseline(packed: PackedFile): Promise<GenuineBaseline> {
  const file = JSON.parse(packed.rest) as BaselineFile;
  const [resources, offers] = [await unpackList(packed.resources), await unpackList(packed.offers)];
  const whole = { ...file, catalog: { ...file.catalog, resources, offers } };
  return { file: whole, signedBy: packed.signedBy } as GenuineBaseline; // which it was before it was packed
}

export function packChange({ file, signedBy }: GenuineChange): PackedFile {
  const [resources, offers] = [
    { ...file.resources, upserts: [] },
    { ...file.offers, upserts: [] },
  ];
  const lists = packLists(file.resources.upserts, file.offers.upserts);
  return { signedBy, rest: JSON.stringify({ ...file, resources, offers }), ...lists };
}

export async function unpackChange(packed: PackedFile): Promise<GenuineChange> {
  const file = JSON.parse(packed.rest) as ChangeFile;
  const [resources, offers] = [await unpackList(packed.resources), await unpackList(packed.offers)];
  const whole = {
    ...file,
    resources: { ...file.resources, upserts: resources },
    offers: { ...file.offers, upserts: offers },
  };
  return { file: whole, signedBy: packed.signedBy } as GenuineChange; // which it was before it was packed
}

type PackedEntry = [received: unknown, entry: IndexEntry, signedBy: string];

export function packIndex(index: TrustedIndex, { entries, faults }: JudgedEntries): PackedIndex {
  const received = new Map(index.entries.map((entry) => [catalogIdOf(entry), entry]));
  const { url, nextUpdate, signedBy } = index;
  return {
    ...{ url, nextUpdate, signedBy },
    entries: packList(
      entries.map((one): PackedEntry => [received.get(one.entry.catalogId), one.entry, one.signedBy]),
    ),
    faults: faults.map(({ catalogId, fault }) => ({ catalogId, fault: plainFault(fault) })),
  };
}

export async function unpackIndex(packed: PackedIndex): Promise<JudgedEntries & { index: TrustedIndex }> {
  const { entries: texts, faults, ...head } = packed;
  const entries = await unpackList<PackedEntry>(texts);
  // Which they were before they were packed.
  const index = { ...head, entries: entries.map(([received]) => received) } as Partial<TrustedIndex>;
  return {
    index: index as TrustedIndex,
    entries: entries.map(([, entry, signedBy]) => ({ entry, signedBy }) as TrustedEntry),
    faults: faults.map(({ catalogId, fault }) => ({
      ...(catalogId !== undefined && { catalogId }),
      fault: faultOf(fault),
    })),
  };
}

export function plainFault({ document, code, message }: TrustFault): PlainFault {
  return { document, code, message };
}

export function faultOf({ document, code, message }: PlainFault): TrustFault {
  return new TrustFault(document, code, message);
}

export function catalogIdOf(entry: unknown): unknown {
  return (entry as { catalogId?: unknown } | null)?.catalogId;
}

/** Others get their turn between the steps. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await setImmediate();
  }
}

const itemsPerText = 200;

function packLists(resources: readonly unknown[], offers: readonly unknown[]) {
  return { resources: packList(resources), offers: packList(offers) };
}

function packList(items: readonly unknown[]): string[] {
  const texts = [];
  for (let start = 0; start < items.length; start += itemsPerText) {
    texts.push(JSON.stringify(items.slice(start, start + itemsPerText)));
  }
  return texts;
}

async function unpackList<T>(texts: readonly string[]): Promise<T[]> {
  const items: T[] = [];
  for (const text of texts) {
    items.push(...(JSON.parse(text) as T[]));
    await setImmediate();
  }
  return items;
}
