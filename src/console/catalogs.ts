import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { CatalogType } from '../protocol/catalog.ts';
import { parseQuery } from '../protocol/envelope.ts';
import { identityOf } from '../protocol/identity.ts';
import { titled } from '../protocol/shapes.ts';
import { Type } from '../protocol/type.ts';
import { countRemoved, listChangedDocuments, listVersions } from '../storage/catalog/catalog-list.ts';
import { findCatalog } from '../storage/catalog/catalogs.ts';
import { readCatalog } from '../storage/catalog/reader.ts';
import { listIndexedCatalogs, readIndexedDocument } from '../storage/console/indexed-catalogs.ts';
import { listExtensions } from '../storage/console/masters.ts';
import { CatalogDetails, CatalogDifference, CatalogSource, CatalogSummary } from './answers/network.ts';
import type { ConsoleContext } from './context.ts';
import { ConsoleError, notFound } from './errors.ts';
import { CursorKey, ListQuery, listOf, parseListQuery, type Unsent, withoutNulls } from './list.ts';
import { indexedItem, listAllCatalogs, publishedItem } from './list-catalogs.ts';

/** A larger catalog is shown without its documents. */
const maxDocumentBytes = 2 * 1024 * 1024;
const maxDocuments = 2_000;
const maxVersions = 100;
const maxChanges = 200;

export function addCatalogRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const { REGISTRY_NAME } = context.config;

  server.get('/api/catalogs', { config: { operation: listOperation } }, async ({ query }) => {
    const { network: networkId, q: text, owner, ...asked } = parseListQuery(CatalogsQuery, query, Cursor);
    const identity = owner === undefined ? undefined : identityOf(owner, REGISTRY_NAME);
    return listAllCatalogs(context.database, { ...asked, networkId, text, owner: identity });
  });

  const nameIn = ({ params }: FastifyRequest): Named => {
    const { owner, id } = params as Named;
    return { owner: identityOf(owner, REGISTRY_NAME), id };
  };

  server.get('/api/catalogs/:owner/:id', { config: { operation: showOperation } }, async (request) =>
    show(context, { ...nameIn(request), ...parseQuery(ShowQuery, request.query) }),
  );

  server.get(
    '/api/catalogs/:owner/:id/difference',
    { config: { operation: differenceOperation } },
    async (request) =>
      compare(context, { ...nameIn(request), ...parseQuery(DifferenceQuery, request.query) }),
  );
}

interface Named {
  owner: string;
  id: string;
}

async function show(
  context: ConsoleContext,
  { owner, id, source }: Named & { source?: string },
): Promise<Unsent<CatalogDetails>> {
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
      ...(await readPublished(context, published.key)),
    };
  }
  const copies = await listIndexedCatalogs(database, { owner, id, limit: maxCopies });
  const copy = copies.find((one) => source === undefined || one.source === source);
  if (!copy) throw notFound(`There is no catalog ${id} of ${owner}.`);
  const { head, resources, offers } = await readIndexedDocument(database, copy.key, maxDocuments);
  const isWhole = resources.length < maxDocuments && offers.length < maxDocuments;
  const text = `${head.slice(0, head.lastIndexOf('}'))},"resources":[${resources}],"offers":[${offers}]}`;
  return {
    ...indexedItem(copy),
    resourceDirectives: copy.source === 'crawl' ? await listExtensions(database, { node: owner, id }) : [],
    versions: copy.version === null ? [] : [{ version: copy.version, at: copy.updatedAt, by: copy.owner }],
    ...(isWhole && text.length <= maxDocumentBytes ? { document: JSON.parse(text) } : headOnly(head)),
  };
}

const maxCopies = 10;

type ShownDocument = Pick<CatalogDetails, 'document' | 'documentTruncated'>;

async function findPublished({ database }: ConsoleContext, { owner, id }: Named) {
  const found = await findCatalog(database, id);
  if (found === undefined || (found.owner !== null && found.owner !== owner)) return undefined;
  const { descriptor } = JSON.parse(found.head);
  return { ...found, name: descriptor?.name ?? null, schemaTypes: Object.keys(found.schemaUses) };
}

function readPublished({ database }: ConsoleContext, key: number): Promise<ShownDocument> {
  return database.transaction(
    async (snapshot) => {
      let text = '';
      for await (const piece of readCatalog(snapshot, key)) {
        text += piece;
        if (text.length <= maxDocumentBytes) continue;
        const head = await snapshot.value<string>('select head from catalog.catalog where key = $1', [key]);
        return headOnly(head ?? '{}');
      }
      return { document: JSON.parse(text) };
    },
    { isolation: 'repeatable read' },
  );
}

function headOnly(head: string): ShownDocument {
  return { document: JSON.parse(head), documentTruncated: true };
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
      'Only of catalogs that were published through the catalog service of this database, versions are kept.',
    );
  const { key, version } = catalog;
  const { from, to = version } = asked;
  if (from >= to || to > version)
    throw new ConsoleError('SCH_SCHEMA_VALIDATION_FAILED', `There are no versions from ${from} to ${to}.`, {
      hint: `The catalog has version ${version}; from is lower than to.`,
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
    note: 'Earlier documents are not kept: these are the ones that changed last in these versions, as they are now. Of removed ones, only the number is known.',
  };
}

const CatalogsQuery = Type.Object({
  ...ListQuery.properties,
  network: Type.Optional(Type.String({ maxLength: 512 })),
  type: Type.Optional(CatalogType),
  owner: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  q: Type.Optional(
    Type.String({ maxLength: 200, description: 'A part of its id, its name or its owner, in any case.' }),
  ),
  source: Type.Optional(CatalogSource),
});
const Cursor = Type.Object({ in: Type.Enum(['service', 'index']), key: CursorKey });
const ShowQuery = Type.Object({ source: Type.Optional(CatalogSource) });
const DifferenceQuery = Type.Object({
  from: Type.Integer({ minimum: 0 }),
  to: Type.Optional(Type.Integer({ minimum: 1, description: 'The current one, unless given.' })),
});

const tag = 'Catalogs';

const listOperation: PlainOperation = {
  summary: 'List catalogs: those of the catalog service, then those of the index.',
  description:
    'For a part of a name, a page looks at 100,000 catalogs. Where it found less than a page among them and there are more, `lookedAt` says so, and `next` goes on behind them.',
  tag,
  query: CatalogsQuery,
  answer: titled('Catalogs', {
    ...listOf('', CatalogSummary).properties,
    lookedAt: Type.Optional(
      Type.Integer({ description: 'Catalogs that the page looked at, while there are more of them.' }),
    ),
  }),
};
const showOperation: PlainOperation = {
  summary: 'Show a catalog with its document and its versions.',
  tag,
  query: ShowQuery,
  answer: CatalogDetails,
  answers: { 404: 'There is no such catalog.' },
};
const differenceOperation: PlainOperation = {
  summary: 'Tell which documents of a catalog changed between two versions.',
  description: 'Earlier documents are not kept: what changed is shown as it is now.',
  tag,
  query: DifferenceQuery,
  answer: CatalogDifference,
  answers: { 404: 'The catalog service has no such catalog.' },
};
