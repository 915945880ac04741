import type { FastifyInstance } from 'fastify';
import { Type } from '../protocol/type.ts';
import { listCrawledMasters, listPublishedMasters, type MasterCatalog } from '../storage/console/masters.ts';
import { listAllFeeds, listAllSubscriptions, listParticipants } from '../storage/console/network.ts';
import { readOverview } from '../storage/console/overview.ts';
import { Feed, Master, Overview, Participant, Subscription } from './answers/network.ts';
import type { ConsoleContext } from './context.ts';
import {
  addList,
  CursorKey,
  CursorText,
  listOf,
  nextCursor,
  pageOf,
  renderCursor,
  withoutNulls,
} from './list.ts';
import { addRoute, type Unsent } from './route.ts';

export function addNetworkRoutes(server: FastifyInstance, { database }: ConsoleContext): void {
  addRoute(server, 'GET /api/overview', {
    summary: 'Count participants, catalogs, resources and deliveries.',
    description:
      'Waiting and parked deliveries are counted up to 10,000 of each kind, other rows up to 100,000. Above 10,000 resources, the number is an estimate.',
    tag,
    answer: Overview,
    async handle() {
      const { deliveries, ...rest } = await readOverview(database);
      return { ...rest, deliveries: withoutNulls(deliveries) };
    },
  });

  addList(server, '/api/participants', {
    summary: 'List the participants of the local registry with their keys.',
    tag,
    filter: {
      q: Type.Optional(Type.String({ maxLength: 200, description: 'A part of its name or address.' })),
    },
    cursor: Type.Object({ namespace: CursorText, registryName: CursorText }),
    answer: listOf('Participants', Participant),
    async read({ limit, after, q: text }) {
      const found = await listParticipants(database, { limit, after, text });
      const items = found.map(({ namespace, registryName, keys, ...rest }) =>
        withoutNulls({
          ...{ identity: `${namespace}/${registryName}`, registry: registryName, ...rest },
          keys: keys.map(withoutNulls),
        }),
      );
      const next = nextCursor(found, limit, ({ namespace, registryName }) => ({ namespace, registryName }));
      return { items, next };
    },
  });

  addList(server, '/api/subscriptions', {
    summary: 'List who subscribes to the catalog service, and to what.',
    tag,
    cursor: Type.Object({ subscriber: CursorText, id: Type.String({ format: 'uuid' }) }),
    answer: listOf('Subscriptions', Subscription),
    async read({ limit, after }) {
      const found = await listAllSubscriptions(database, { limit, after });
      return pageOf(found, limit, ({ subscriber, id }) => ({ subscriber, id }));
    },
  });

  addRoute(server, 'GET /api/feeds', {
    summary: 'List the catalog services that the discovery service follows.',
    tag,
    answer: listOf('Feeds', Feed),
    handle: async () => ({ items: (await listAllFeeds(database)).map(withoutNulls) }),
  });

  addList(server, '/api/masters', {
    summary: 'List MASTER catalogs, and which catalogs extend them.',
    tag,
    cursor: Type.Object({ source: Type.Enum(['service', 'crawl']), key: CursorKey }),
    answer: listOf('Masters', Master),
    async read({ limit, after }) {
      const isCrawled = after?.source === 'crawl';
      const published = isCrawled ? [] : await listPublishedMasters(database, { limit, after: after?.key });
      const room = limit - published.length;
      const wanted = { limit: room, after: isCrawled ? after.key : undefined };
      const crawled = room === 0 ? [] : await listCrawledMasters(database, wanted);
      const items = [
        ...published.map((one) => masterItem('service', one)),
        ...crawled.map((one) => masterItem('crawl', one)),
      ];
      const last = crawled.at(-1) ?? published.at(-1);
      const source = crawled.length > 0 ? 'crawl' : 'service';
      return { items, next: items.length < limit ? undefined : renderCursor({ source, key: last?.key }) };
    },
  });
}

function masterItem(source: 'service' | 'crawl', { key: _, ...master }: MasterCatalog): Unsent<Master> {
  return withoutNulls({ source, ...master });
}

const tag = 'Network';
