import { isReadingFault } from '../../discovery/crawl/reasons.ts';
import { readLive } from '../../discovery/inspect/read-live.ts';
import { identityOf } from '../../protocol/identity.ts';
import type { Json } from '../../protocol/json.ts';
import { type CatalogChange, type ComparedCatalog, compareCatalogs } from '../../rules/compare-catalogs.ts';
import type { CatalogContent } from '../../rules/self-hosted/content.ts';
import {
  type CatalogDocuments,
  findKnownCatalogs,
  type KnownCatalog,
  listCopies,
  readIndexedDocuments,
  readStoredDocuments,
} from '../../storage/console/subjects.ts';
import { listCrawledCatalogs } from '../../storage/crawl/status.ts';
import type { ConsoleContext } from '../context.ts';
import { ConsoleError, notFound } from '../errors.ts';
import { openTools } from './inspect.ts';
import { findOwnCopy } from './through-service.ts';

// What is indexed beside what is live: the files of the node, or what the own catalog service stores.

const maxDocuments = 20_000;
const maxChanges = 200;

export interface Difference {
  indexed: number | null;
  live: number | null;
  changes: CatalogChange[];
  truncated: boolean;
}

export async function compareWithLive(
  context: ConsoleContext,
  { node, catalogId }: { node: string; catalogId: string },
): Promise<Difference> {
  const { database, config } = context;
  const owner = identityOf(node, config.REGISTRY_NAME);
  const [known] = await findKnownCatalogs(database, { catalogId, owner, limit: 1 });
  const held = known?.indexed && (await readIndexedDocuments(database, known.indexed.key, maxDocuments));
  const indexed = held ? parseDocuments(held) : nothing;
  const live = await (known?.stored ? readStored(context, known) : readFiles(context, { owner, catalogId }));
  const isShort = [indexed, live.catalog].some(
    ({ resources, offers }) => Math.max(resources.size, offers.size) >= maxDocuments,
  );
  const { changes, truncated } = compareCatalogs(indexed, live.catalog, {
    maxChanges,
    // The index has what a service adds to the members, and what resources inherit.
    isPartial: (list, id) => list === 'members' || live.inheriting.has(id ?? ''),
  });
  return { indexed: live.indexedVersion, live: live.version, changes, truncated: truncated || isShort };
}

const nothing: ComparedCatalog = { members: {}, resources: new Map(), offers: new Map() };

interface Live {
  catalog: ComparedCatalog;
  version: number | null;
  indexedVersion: number | null;
  /** Ids of resources that extend a template. */
  inheriting: ReadonlySet<string>;
}

async function readStored({ database, config }: ConsoleContext, known: KnownCatalog): Promise<Live> {
  const documents = await readStoredDocuments(database, known, maxDocuments);
  const copies = await listCopies(database, known);
  return {
    catalog: documents ? parseDocuments(documents) : nothing,
    version: known.stored?.version ?? null,
    indexedVersion: findOwnCopy(config, copies)?.version ?? null,
    inheriting: new Set(),
  };
}

async function readFiles(
  context: ConsoleContext,
  { owner, catalogId }: { owner: string; catalogId: string },
): Promise<Live> {
  const { reader, signal } = openTools(context);
  const crawled = await listCrawledCatalogs(context.database, owner);
  const indexedVersion = crawled.find((one) => one.catalogId === catalogId)?.version ?? null;
  try {
    const content = await readLive(reader, { identity: owner, catalogId, signal });
    if (!content && indexedVersion === null) throw notFound(`There is no catalog ${catalogId} of ${owner}.`);
    const inheriting = new Set(content?.directives.keys());
    return {
      catalog: content ? ofContent(content) : nothing,
      version: content?.version ?? null,
      indexedVersion,
      inheriting,
    };
  } catch (error) {
    if (!isReadingFault(error)) throw error;
    throw new ConsoleError('NET_CATALOG_SOURCE_UNAVAILABLE', error.message, {
      ...{ status: 409, hint: 'Inspect its node: the chain shows the link that is broken.' },
    });
  }
}

function ofContent({ members, resources, offers }: CatalogContent): ComparedCatalog {
  return {
    members: members as ComparedCatalog['members'],
    resources: resources as ReadonlyMap<string, Json>,
    offers: offers as ReadonlyMap<string, Json>,
  };
}

function parseDocuments({ head, resources, offers }: CatalogDocuments): ComparedCatalog {
  const byId = (list: CatalogDocuments['resources']) =>
    new Map(list.map(({ id, document }): [string, Json] => [id, JSON.parse(document)]));
  return { members: JSON.parse(head), resources: byId(resources), offers: byId(offers) };
}
