import { isJsonObject } from '../protocol/json.ts';
import type { Part, PushPlan } from '../rules/push-message.ts';
import { openHead } from '../storage/catalog-reader.ts';
import type { Database } from '../storage/database.ts';
import { readHead, readOldest, readWhole } from '../storage/push-content.ts';

// The catalog inside a push, rendered once for all receivers that are at the same version: a change goes to many of them
// within moments.

/** Catalogs up to this size are sent in one piece from memory; larger ones are read while they are sent. */
const maxWholeBytes = 1024 * 1024;
const maxCachedBytes = 32 * 1024 * 1024;

export interface PushContent {
  version: number;
  /** The catalog as JSON text; missing when it is too large to be held. */
  catalog?: Buffer;
}

/** A plan that says something. */
export type SayingPlan = Exclude<PushPlan, { kind: 'nothing' }>;

export interface PushContents {
  /** What the plan asks for, of this version or of a later one when the catalog has moved on. */
  find(catalogKey: number, version: number, plan: SayingPlan): Promise<PushContent>;
}

export function createPushContents(database: Database): PushContents {
  const cache = new Map<string, { content: Promise<PushContent>; bytes: number }>();
  let cachedBytes = 0;

  function forget(key: string): void {
    cachedBytes -= cache.get(key)?.bytes ?? 0;
    cache.delete(key);
  }

  function remember(key: string, version: number, content: Promise<PushContent>): void {
    const entry = { content, bytes: 0 };
    cache.set(key, entry);
    content.then(
      (found) => {
        if (cache.get(key) !== entry) return;
        if (found.version !== version) return forget(key);
        entry.bytes = found.catalog?.length ?? 0;
        cachedBytes += entry.bytes;
        for (const oldest of cache.keys()) {
          if (cachedBytes <= maxCachedBytes && cache.size <= maxCachedEntries) break;
          forget(oldest);
        }
      },
      () => forget(key),
    );
  }

  return {
    find(catalogKey, version, plan) {
      const key = [catalogKey, version, plan.kind, plan.kind === 'merge' ? plan.changedAfter : ''].join(' ');
      const known = cache.get(key);
      if (known) return known.content;
      const content = readContent(database, catalogKey, plan);
      remember(key, version, content);
      return content;
    },
  };
}

const maxCachedEntries = 1_000;

async function readContent(database: Database, catalogKey: number, plan: SayingPlan): Promise<PushContent> {
  if (plan.kind === 'withdrawal') return readHeadOnly(database, catalogKey, withdrawnHead);
  const changedAfter = plan.kind === 'merge' ? plan.changedAfter : undefined;
  const { version, head, part } = await readWhole(database, catalogKey, {
    changedAfter,
    maxBytes: maxWholeBytes,
  });
  if (part === undefined) return { version };
  if (part.resources.length + part.offers.length === 0)
    return readHeadOnly(database, catalogKey, (same) => same);
  return { version, catalog: Buffer.from(renderCatalog(head, part)) };
}

/** Where only the head has news, it goes with one document. */
async function readHeadOnly(
  database: Database,
  catalogKey: number,
  edit: (head: string) => string,
): Promise<PushContent> {
  return database.transaction(
    async (snapshot) => {
      const { version, head } = await readHead(snapshot, catalogKey);
      const catalog = renderCatalog(edit(head), await readOldest(snapshot, catalogKey));
      return { version, catalog: Buffer.from(catalog) };
    },
    { isolation: 'repeatable read' },
  );
}

/** The members of the head as they are stored, and the documents of a part. */
export function renderCatalog(head: string, { resources, offers }: Part): string {
  const members = Object.entries({ resources, offers })
    .filter(([, documents]) => documents.length > 0)
    .map(([member, documents]) => `,"${member}":[${documents.join(',')}]`);
  return `${openHead(head)}${members.join('')}}`;
}

/**
 * A catalog that is not for the receiver any more, or not active, is said to be inactive: `isActive: false` on its head, and
 * besides one document, because the specification asks for at least one resource or offer. As a MERGE it leaves the
 * receiver's copy as it is, and it gives away nothing that is new.
 */
function withdrawnHead(head: string): string {
  const members: unknown = JSON.parse(head);
  return JSON.stringify(isJsonObject(members) ? { ...members, isActive: false } : members);
}
