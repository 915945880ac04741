import { isReadingFault } from '../../discovery/crawl/reasons.ts';
import { readLive } from '../../discovery/inspect/read-live.ts';
import { identityOf } from '../../protocol/identity.ts';
import type { Json } from '../../protocol/json.ts';
import { type ComparedCatalog, compareCatalogs } from '../../rules/compare-catalogs.ts';
import type { CatalogContent } from '../../rules/self-hosted/content.ts';
import {
  type DocumentsOf,
  findKnownCatalogs,
  type KnownCatalog,
  listCopies,
  type ReadDocument,
  readDocuments,
} from '../../storage/console/subjects.ts';
import { listCrawledCatalogs } from '../../storage/crawl/status.ts';
import type { Difference } from '../answers/inspect.ts';
import type { ConsoleContext } from '../context.ts';
import { ConsoleError, notFound } from '../errors.ts';
import { openTools, tooSlow } from './inspect.ts';
import { findOwnCopy } from './through-service.ts';

// Compares the index with the live state: the files of the node, or the documents of our catalog service.

const bounds = { maxDocuments: 20_000, maxBytes: 16 * 1024 * 1024 };
const maxChanges = 200;

export async function compareWithLive(
  context: ConsoleContext,
  { node, catalogId }: { node: string; catalogId: string },
): Promise<Difference> {
  const { database, config } = context;
  const owner = identityOf(node, config.REGISTRY_NAME);
  const [known] = await findKnownCatalogs(database, { catalogId, owner, limit: 1 });
  const indexed = await readKnown(context, 'indexed', known?.indexed);
  const live = await (known?.stored ? readStored(context, known) : readFiles(context, { owner, catalogId }));
  const { changes, truncated } = compareCatalogs(indexed, live.catalog, {
    maxChanges,
    // The index contains members that a service adds, and inherited members of resources.
    isPartial: (list, id) => list === 'members' || live.inheriting.has(id ?? ''),
  });
  return { indexed: live.indexedVersion, live: live.version, changes, truncated };
}

const nothing: ComparedCatalog = { members: {}, resources: new Map(), offers: new Map() };

interface Live {
  catalog: ComparedCatalog;
  version: number | null;
  indexedVersion: number | null;
  inheriting: ReadonlySet<string>;
}

async function readStored(context: ConsoleContext, known: KnownCatalog): Promise<Live> {
  const copies = await listCopies(context.database, known);
  return {
    catalog: await readKnown(context, 'stored', known.stored),
    version: known.stored?.version ?? null,
    indexedVersion: findOwnCopy(context.config, copies)?.version ?? null,
    inheriting: new Set(),
  };
}

async function readFiles(
  context: ConsoleContext,
  { owner, catalogId }: { owner: string; catalogId: string },
): Promise<Live> {
  const { reader, signal } = openTools(context);
  const [crawled] = await listCrawledCatalogs(context.database, owner, [catalogId]);
  const indexedVersion = crawled?.version ?? null;
  try {
    const content = await readLive(reader, { identity: owner, catalogId, signal });
    if (!content && indexedVersion === null) throw notFound(`There is no catalog ${catalogId} of ${owner}.`);
    return {
      catalog: content ? ofContent(content) : nothing,
      version: content?.version ?? null,
      indexedVersion,
      inheriting: new Set(content?.directives.keys()),
    };
  } catch (error) {
    if (signal.aborted) throw tooSlow();
    if (!isReadingFault(error)) throw error;
    throw new ConsoleError('NET_CATALOG_SOURCE_UNAVAILABLE', error.message, {
      ...{ status: 409, hint: 'Inspect its node: the chain shows the link that is broken.' },
    });
  }
}

function ofContent({ members, resources, offers }: CatalogContent): ComparedCatalog {
  if (Math.max(resources.size, offers.size) > bounds.maxDocuments) throw tooLarge();
  return {
    members: members as ComparedCatalog['members'],
    resources: resources as ReadonlyMap<string, Json>,
    offers: offers as ReadonlyMap<string, Json>,
  };
}

async function readKnown({ database }: ConsoleContext, of: DocumentsOf, catalog?: { key: number } | null) {
  if (!catalog) return nothing;
  const { head, lists } = await readDocuments(database, of, catalog.key, bounds);
  if (!lists) throw tooLarge();
  const byId = (list: readonly ReadDocument[]) =>
    new Map(list.map(({ id, document }): [string, Json] => [id, JSON.parse(document)]));
  return { members: JSON.parse(head), resources: byId(lists.resources), offers: byId(lists.offers) };
}

/** A partial catalog would show false differences. */
function tooLarge(): ConsoleError {
  const { maxDocuments, maxBytes } = bounds;
  const most = `${maxDocuments} resources or offers, or ${maxBytes / 1024 / 1024} MiB of them,`;
  return new ConsoleError('SCH_SCHEMA_VALIDATION_FAILED', `Catalogs of more than ${most} are not compared.`, {
    ...{ status: 413, hint: 'Compare the versions: an inspection shows which is indexed and which is live.' },
  });
}
