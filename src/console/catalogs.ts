import type { FastifyInstance } from 'fastify';
import { CatalogType } from '../protocol/catalog.ts';
import { identityOf } from '../protocol/identity.ts';
import { Type } from '../protocol/type.ts';
import { countRemoved, listChangedDocuments, listVersions } from '../storage/catalog/catalog-list.ts';
import { findCatalog } from '../storage/catalog/catalogs.ts';
import { listIndexedCatalogs } from '../storage/console/indexed-catalogs.ts';
import { listExtensions } from '../storage/console/masters.ts';
import { type DocumentsOf, type ReadDocument, readDocuments } from '../storage/console/subjects.ts';
import { CatalogDetails, CatalogDifference, CatalogSource, CatalogSummary } from './answers/network.ts';
import type { ConsoleContext } from './context.ts';
import { ConsoleError, notFound } from './errors.ts';
import { addList, CursorKey, listOf, withoutNulls } from './list.ts';
import { indexedItem, listAllCatalogs, publishedItem } from './list-catalogs.ts';
import { addRoute } from './route.ts';

/** A larger catalog is shown without its documents. */
const shownBounds = { maxDocuments: 20_000, maxBytes: 2 * 1024 * 1024 };
const maxVersions = 100;
const maxCopies = 10;
const maxChanges = 200;

export function addCatalogRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const identify = (owner: string) => identityOf(owner, context.config.REGISTRY_NAME);

  addList(server, '/api/catalogs', {
    summary: 'List catalogs: those of the catalog service, then those of the index.',
    description:
      'For a part of a name, a page checks 100,000 catalogs. If there are more, the page may be short, or empty, and have a `next` that continues after them.',
    tag,
    filter: {
      network: Type.Optional(Type.String({ maxLength: 512 })),
      type: Type.Optional(CatalogType),
      owner: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
      q: Type.Optional(
        Type.String({ maxLength: 200, description: 'A part of its id, name or owner; ignores case.' }),
      ),
      source: Type.Optional(CatalogSource),
    },
    cursor: Type.Object({ in: Type.Enum(['service', 'index']), key: CursorKey }),
    answer: listOf('Catalogs', CatalogSummary),
    read({ network: networkId, q: text, owner, ...asked }) {
      const identity = owner === undefined ? undefined : identify(owner);
      return listAllCatalogs(context.database, { ...asked, networkId, text, owner: identity });
    },
  });

  addRoute(server, 'GET /api/catalogs/:owner/:id', {
    summary: 'Show a catalog with its document and its versions.',
    tag,
    query: Type.Object({ source: Type.Optional(CatalogSource) }),
    answer: CatalogDetails,
    answers: { 404: 'There is no such catalog.' },
    handle: ({ params: { owner, id }, query }) => show(context, { owner: identify(owner), id, ...query }),
  });

  addRoute(server, 'GET /api/catalogs/:owner/:id/difference', {
    summary: 'Show which documents of a catalog changed between two versions.',
    description: 'Earlier documents are not kept: what changed is shown as it is now.',
    tag,
    query: Type.Object({
      from: Type.Integer({ minimum: 0 }),
      to: Type.Optional(Type.Integer({ minimum: 1, description: 'Default: the current one.' })),
    }),
    answer: CatalogDifference,
    answers: { 404: 'The catalog service has no such catalog.' },
    handle: ({ params: { owner, id }, query }) => compare(context, { owner: identify(owner), id, ...query }),
  });
}

const tag = 'Catalogs';

interface Named {
  owner: string;
  id: string;
}

async function show(context: ConsoleContext, { owner, id, source }: Named & { source?: string }) {
  const { database } = context;
  const published =
    source === undefined || source === 'service' ? await findPublished(context, { owner, id }) : undefined;
  if (published) {
    const versions = await listVersions(database, published.key, maxVersions);
    return {
      ...publishedItem(published),
      resourceDirectives: await listExtensions(database, published),
      versions: versions.map(({ version, at, publisher: by, kind: status, messageId }) =>
        withoutNulls({ version, at, by, status, messageId }),
      ),
      ...(await readDocument(context, 'stored', published.key)),
    };
  }
  const copies = await listIndexedCatalogs(database, { owner, id, limit: maxCopies });
  const copy = copies.find((one) => source === undefined || one.source === source);
  if (!copy) throw notFound(`There is no catalog ${id} of ${owner}.`);
  return {
    ...indexedItem(copy),
    resourceDirectives: copy.source === 'crawl' ? await listExtensions(database, { node: owner, id }) : [],
    versions: copy.version === null ? [] : [{ version: copy.version, at: copy.updatedAt, by: copy.owner }],
    ...(await readDocument(context, 'indexed', copy.key)),
  };
}

async function findPublished({ database }: ConsoleContext, { owner, id }: Named) {
  const found = await findCatalog(database, id);
  if (found === undefined || (found.owner !== null && found.owner !== owner)) return undefined;
  const { descriptor } = JSON.parse(found.head);
  return { ...found, name: descriptor?.name ?? null, schemaTypes: Object.keys(found.schemaUses) };
}

async function readDocument({ database }: ConsoleContext, of: DocumentsOf, key: number) {
  const { head, lists } = await readDocuments(database, of, key, shownBounds);
  if (!lists) return { document: JSON.parse(head), documentTruncated: true };
  const parse = (list: readonly ReadDocument[]) => list.map(({ document }) => JSON.parse(document));
  const { resources, offers } = lists;
  return { document: { ...JSON.parse(head), resources: parse(resources), offers: parse(offers) } };
}

async function compare(
  context: ConsoleContext,
  asked: Named & { from: number; to?: number },
): Promise<CatalogDifference> {
  const { database } = context;
  const catalog = await findPublished(context, asked);
  if (!catalog)
    throw notFound(
      `The catalog service has no catalog ${asked.id} of ${asked.owner}.`,
      'Versions are kept only for catalogs that were published through the catalog service of this database.',
    );
  const { key, version } = catalog;
  const { from, to = version } = asked;
  if (from >= to || to > version)
    throw new ConsoleError('SCH_SCHEMA_VALIDATION_FAILED', `There are no versions from ${from} to ${to}.`, {
      hint: `The catalog has version ${version}; from must be lower than to.`,
      path: '$.query',
    });
  const span = { key, after: from, upTo: to };
  const documents = await listChangedDocuments(database, { ...span, limit: maxChanges + 1 });
  return {
    changes: documents.slice(0, maxChanges).map(({ kind, id, version: changedIn, document }) => ({
      path: `$.${kind}[?@.id==${JSON.stringify(id)}]`,
      kind: from === 0 || changedIn === 1 ? 'added' : 'changed',
      after: document,
      version: changedIn,
    })),
    truncated: documents.length > maxChanges,
    removed: await countRemoved(database, span),
    note: 'Earlier documents are not kept: these are the documents that changed in these versions, with their current content. Of removed ones, only the number is known.',
  };
}
