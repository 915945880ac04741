import type { PlainExamples } from '../http/openapi.ts';
import { catalog, networkId, provider } from '../protocol/example-catalog.ts';
import { actionExamples } from '../protocol/example-messages.ts';

// Example requests to the console, for its OpenAPI document. A test sends each body.

const { message: discover } = actionExamples.discover.bodies.words.value as { message: object };
const publish = actionExamples.publish.bodies.publish.value;
const inList = { limit: 50 };
const owner = provider.bppId;
const signature =
  'Signature keyId="provider.example.org|key-1|ed25519",algorithm="ed25519",created="1769860800",expires="1769861100",' +
  `headers="(created) (expires) digest",signature="${Buffer.alloc(64, 7).toString('base64')}"`;

export const consoleExamples: Readonly<Record<string, PlainExamples>> = {
  'POST /api/session': say('Log in', { token: 'the-operator-token-of-this-machine' }),
  'POST /api/find': say('Fast chargers within 5 km', { networkId, message: discover }),
  'POST /api/find/why': say('Why a charger is not among them', {
    networkId,
    message: discover,
    resource: { id: 'voltpath:IND-1', catalogId: catalog.id },
  }),
  'POST /api/publish/check': say('A publish request', { text: JSON.stringify(publish) }),
  'POST /api/publish': say('Through the catalog service', { text: JSON.stringify(publish), way: 'service' }),
  'POST /api/debug/signature': say('A header and its body', {
    header: signature,
    body: '{}',
    method: 'POST',
  }),
  'POST /api/crawl/now': say('Crawl a node now', { node: owner }),
  'POST /api/deliveries/replay': say('Everything that is parked for a receiver', {
    receiver: 'discovery.example.org',
  }),
  'POST /inbox/*': { bodies: { ...actionExamples.onDiscover.bodies, ...actionExamples.onPublish.bodies } },
  'GET /api/publish/:messageId': at({ messageId: '0a6f0d3c-5f0b-4b52-9d64-6e1c6a6f2c11' }),
  'GET /api/inbox': at({ limit: 20 }),
  'GET /api/audit': at(inList),
  'GET /api/health/series': at({ hours: 24 }),
  'GET /api/health/empty-searches': at(inList),
  'GET /api/schemas/fields': at({ network: networkId }),
  'GET /api/catalogs': at({ ...inList, network: networkId, type: 'REGULAR', q: 'voltpath' }),
  'GET /api/catalogs/:owner/:id': at({ owner, id: catalog.id, source: 'service' }),
  'GET /api/catalogs/:owner/:id/difference': at({ owner, id: catalog.id, from: 1, to: 2 }),
  'GET /api/inspect': at({ q: owner, network: networkId }),
  'GET /api/inspect/issues.csv': at({ q: owner, network: networkId }),
  'GET /api/inspect/difference': at({ node: owner, catalogId: catalog.id }),
  'GET /api/receivers': at({ ...inList, state: 'parked' }),
  'GET /api/deliveries': at({ ...inList, state: 'parked', receiver: 'discovery.example.org' }),
  'POST /api/deliveries/:id/replay': at({ id: 'push-7' }),
  'POST /api/deliveries/:id/skip': at({ id: 'callback-12' }),
  'GET /api/participants': at({ ...inList, q: 'provider' }),
  'GET /api/subscriptions': at(inList),
  'GET /api/masters': at(inList),
  'GET /api/nodes': at({ ...inList, state: 'failing' }),
  'GET /api/crawl/log': at({ node: owner, limit: 20 }),
  'GET /tiles/:name': at({ name: 'streets.pmtiles' }),
};

function say(summary: string, value: object): PlainExamples {
  return { bodies: { usual: { summary, value } } };
}

function at(parameters: NonNullable<PlainExamples['parameters']>): PlainExamples {
  return { parameters };
}
