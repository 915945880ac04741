import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConsole, type TestConsole } from '../support/network/console.ts';

// Clients return the cursors of the console's lists, unchanged or altered.

let desk: TestConsole;
beforeAll(async () => {
  desk = await startConsole();
});
afterAll(() => desk?.network.close());

function askAfter(list: string, cursor: object) {
  const after = Buffer.from(JSON.stringify(cursor)).toString('base64url');
  return desk.ask(`${list}?after=${after}`);
}

describe('A list of the console', () => {
  it.each([
    ['/api/audit', { id: 1e300 }],
    ['/api/catalogs', { in: 'service', key: 1e300 }],
    ['/api/crawl/log', { at: '0000-01-01T00:00:00Z', id: 1 }],
    ['/api/crawl/log', { at: 1e300, id: 1 }],
    ['/api/deliveries', { state: 'open', callback: 1e300 }],
    ['/api/deliveries', { state: 'open', subscriber: '\0', catalogKey: 1 }],
    ['/api/health/empty-searches', { at: '0000-00-00', key: '0'.repeat(64) }],
    ['/api/masters', { source: 'crawl', key: 1e300 }],
    ['/api/nodes', { node: 'a\0' }],
    ['/api/participants', { namespace: '\0', registryName: 'x' }],
    ['/api/receivers', { kind: 'push', receiver: '\0', isTroubled: true }],
    ['/api/subscriptions', { subscriber: '\0', id: '00000000-0000-4000-8000-000000000000' }],
  ])('%s refuses a cursor with what no database holds: %j', async (list, cursor) => {
    const { status, body } = await askAfter(list, cursor);
    expect([status, body.error.message]).toEqual([400, 'query.after is not a cursor of this list']);
  });

  const key = Number.MAX_SAFE_INTEGER;
  const at = 8_640_000_000_000_000;
  const text = '\u{10ffff}'.repeat(300);
  it.each([
    ['/api/audit', { id: key }],
    ['/api/catalogs', { in: 'service', key }],
    ['/api/catalogs', { in: 'index', key }],
    ['/api/crawl/log', { at, id: key }],
    ['/api/deliveries', { state: 'delivered', callback: key }],
    ['/api/deliveries', { state: 'delivered', subscriber: text, catalogKey: key }],
    ['/api/health/empty-searches', { at, key: 'f'.repeat(64) }],
    ['/api/masters', { source: 'service', key }],
    ['/api/masters', { source: 'crawl', key }],
    ['/api/nodes', { node: text }],
    ['/api/participants', { namespace: text, registryName: text }],
    ['/api/receivers', { kind: 'push', receiver: text, isTroubled: true }],
    ['/api/receivers', { kind: 'callback', receiver: text, isTroubled: true }],
    ['/api/subscriptions', { subscriber: text, id: 'ffffffff-ffff-4fff-bfff-ffffffffffff' }],
  ])('%s takes a cursor with the largest values that it may have', async (list, cursor) => {
    expect((await askAfter(list, cursor)).status).toBe(200);
  });
});
