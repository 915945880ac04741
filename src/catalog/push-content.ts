import { LruCache } from '../lru-cache.ts';
import type { Part, PushPlan, Withdrawal } from '../rules/push-message.ts';
import { bareDocument, withdrawnHead } from '../rules/withdrawal.ts';
import { readHead, readOldest, readWhole } from '../storage/catalog/push-content.ts';
import { openHead } from '../storage/catalog/reader.ts';
import type { Database } from '../storage/database.ts';

// The catalog inside a push, rendered once for all receivers of the same version: a change goes to many of them within moments.

/** Catalogs up to this size are sent in one piece from memory; larger ones are streamed. */
const maxWholeBytes = 1024 * 1024;
const maxCachedBytes = 32 * 1024 * 1024;
const maxCachedEntries = 1_000;

interface PushContent {
  version: number;
  /** The catalog as JSON text; missing if it is too large to hold in memory. */
  catalog?: Buffer;
}

export type SayingPlan = Exclude<PushPlan, { kind: 'nothing' }>;

/** The content for a plan, of this version or of a later one if the catalog has changed since. */
export function createPushContents(database: Database) {
  const cache = new LruCache<string, { content: Promise<PushContent>; bytes: number }>(
    maxCachedBytes,
    ({ bytes }) => Math.max(bytes, maxCachedBytes / maxCachedEntries),
  );
  return (catalogKey: number, version: number, plan: SayingPlan): Promise<PushContent> => {
    const key = [catalogKey, version, ...whatIsAskedFor(plan)].join(' ');
    const known = cache.find(key);
    if (known) return known.content;
    const content = readContent(database, catalogKey, plan);
    cache.keep(key, { content, bytes: 0 });
    content.then(
      ({ version: found, catalog }) => {
        if (cache.find(key)?.content !== content) return;
        if (found === version) cache.keep(key, { content, bytes: catalog?.length ?? 0 });
        else cache.forget(key);
      },
      () => cache.forget(key),
    );
    return content;
  };
}

/** The inputs of the content besides catalog and version. The networks are not part of it. */
function whatIsAskedFor(plan: SayingPlan): unknown[] {
  if (plan.kind === 'merge') return [plan.kind, plan.changedAfter];
  if (plan.kind === 'withdrawal') return [plan.kind, plan.knownVersion, plan.isVisible];
  return [plan.kind];
}

async function readContent(database: Database, catalogKey: number, plan: SayingPlan): Promise<PushContent> {
  if (plan.kind === 'withdrawal') return readWithdrawal(database, catalogKey, plan);
  const changedAfter = plan.kind === 'merge' ? plan.changedAfter : undefined;
  const { version, head, part } = await readWhole(database, catalogKey, {
    changedAfter,
    maxBytes: maxWholeBytes,
  });
  if (part === undefined) return { version };
  if (part.resources.length + part.offers.length === 0) return readHeadOnly(database, catalogKey);
  return { version, catalog: Buffer.from(renderCatalog(head, part)) };
}

/** If only the head changed, it is sent with one document. */
async function readHeadOnly(database: Database, catalogKey: number): Promise<PushContent> {
  return database.transaction(
    async (snapshot) => {
      const { version, head } = await readHead(snapshot, catalogKey);
      const catalog = renderCatalog(head, await readOldest(snapshot, catalogKey));
      return { version, catalog: Buffer.from(catalog) };
    },
    { isolation: 'repeatable read' },
  );
}

/** Sent as a MERGE with one document that the receiver knows, so its copy stays the same, but inactive. */
function readWithdrawal(database: Database, catalogKey: number, { knownVersion, isVisible }: Withdrawal) {
  return database.transaction(
    async (snapshot) => {
      const { version, head } = await readHead(snapshot, catalogKey);
      const known = await readOldest(snapshot, catalogKey, knownVersion);
      const isKnown = known.resources.length + known.offers.length > 0;
      const part = isKnown ? known : { resources: [bareDocument(head)], offers: [] };
      return { version, catalog: Buffer.from(renderCatalog(withdrawnHead(head, { isVisible }), part)) };
    },
    { isolation: 'repeatable read' },
  );
}

/** The members of the head as stored, and the documents of a part. */
export function renderCatalog(head: string, { resources, offers }: Part): string {
  const members = Object.entries({ resources, offers })
    .filter(([, documents]) => documents.length > 0)
    .map(([member, documents]) => `,"${member}":[${documents.join(',')}]`);
  return `${openHead(head)}${members.join('')}}`;
}
