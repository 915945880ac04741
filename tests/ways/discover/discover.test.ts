import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { charger } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor } from '../../support/network/actor.ts';
import { type Discovering, filter, resourceIds, startDiscovering } from '../../support/network/discover.ts';
import { defaultNetwork, type TestNetwork } from '../../support/network/network.ts';

let network: TestNetwork;
let consumer: Actor;
let hold: Discovering['hold'];
let discover: Discovering['discover'];
let found: Discovering['found'];

beforeAll(async () => {
  ({ network, consumer, hold, discover, found } = await startDiscovering());
});
afterAll(() => network.close());

describe('discover', () => {
  it('finds resources by equality, and answers with their catalogs on on_discover', async () => {
    await hold([
      { id: 'c1', resources: [charger('c1-a', { connectorType: 'CCS2' }), charger('c1-b')] },
      { id: 'c2', resources: [charger('c2-a', { connectorType: 'CCS2' })] },
    ]);
    const answer = await discover(
      filter("$.catalogs[*].resources[?@.resourceAttributes.attributes.connectorType == 'CCS2']"),
      { networkId: defaultNetwork },
    );
    expect(answer).toMatchObject({ status: 200, body: { message: { status: 'ACK' } } });
    const callback = await consumer.waitFor('on_discover', answer.messageId);
    expect(callback).toMatchObject({
      chained: true,
      signer: network.config.DISCOVERY_ID,
      path: '/on_discover',
    });
    expect(callback.body.context).toMatchObject({
      action: 'on_discover',
      bapId: consumer.id,
      bppId: network.config.DISCOVERY_ID,
      bppUri: network.discoveryUrl,
      requestDigest: { digest: expect.stringMatching(/^BLAKE-512=/) },
    });
    expect(resourceIds(callback.body)).toEqual(['c1-a', 'c2-a']);
    expect(callback.body.message.catalogs[0]).toMatchObject({ id: 'c1', descriptor: { name: 'Catalog c1' } });
    expect(callback.body.message).not.toHaveProperty('pagination');
  });

  it('answers 202 BIZ_NO_RESULTS_FOUND when nothing matches, and sends no callback', async () => {
    const answer = await discover(filter("$.catalogs[*].resources[?@.id == 'nobody']"));
    expect(answer).toMatchObject({
      status: 202,
      body: {
        message: { status: 'ACK', messageId: answer.messageId, error: { code: 'BIZ_NO_RESULTS_FOUND' } },
      },
    });
    const { rows } = await network.database.query('select from work.callback where message_id = $1', [
      answer.messageId,
    ]);
    expect(rows).toHaveLength(0);
  });

  it('that is repeated, at the same moment or later, gets the same answer, and one on_discover', async () => {
    const raw = rawDiscover('repeated');
    const first = await Promise.all([sendRaw('repeated', raw), sendRaw('repeated', raw)]);
    await consumer.waitFor('on_discover', 'repeated');
    const answers = [...first, await sendRaw('repeated', raw)];
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    const { rows } = await network.database.query('select from work.callback where message_id = $1', [
      'repeated',
    ]);
    expect(rows).toHaveLength(1);
  });

  it('CTX_MESSAGE_ID_DUPLICATE: with another body under the same messageId is refused', async () => {
    await sendRaw('doubled', rawDiscover('doubled'));
    const other = await sendRaw('doubled', rawDiscover('doubled', { transactionId: 'another' }));
    expect([other.status, other.body.message.error.code]).toEqual([400, 'CTX_MESSAGE_ID_DUPLICATE']);
  });

  it('digests the request in the callback', async () => {
    const raw = rawDiscover('digested');
    expect((await sendRaw('digested', raw)).status).toBe(200);
    const { body } = await consumer.waitFor('on_discover', 'digested');
    expect(body.context.requestDigest.digest).toBe(bodyDigest(raw));
  });

  function rawDiscover(messageId: string, context: object = {}): Buffer {
    return Buffer.from(
      JSON.stringify({
        context: {
          version: '2.0.0',
          action: 'discover',
          messageId,
          transactionId: 't',
          timestamp: new Date().toISOString(),
          bapId: consumer.id,
          bapUri: consumer.url,
          ...context,
        },
        message: filter("$.catalogs[*].resources[?@.id == 'c1-a']"),
      }),
    );
  }

  function sendRaw(messageId: string, raw: Buffer) {
    const to = network.discoveryUrl;
    return consumer.send(actions.discover, undefined, { to, raw, context: { messageId } });
  }
});

describe('a filter', () => {
  it('compares numbers, alone and with something else', async () => {
    await hold([
      {
        id: 'powers',
        resources: [7, 22, 50, 150].map((value) =>
          charger(`p${value}`, { ratedPower: { value, unit: 'kW' }, serialNumber: 'range' }),
        ),
      },
    ]);
    const at = '@.resourceAttributes.attributes';
    const mine = `${at}.serialNumber == 'range'`;
    const select = async (condition: string) =>
      resourceIds(await found(filter(`$.catalogs[*].resources[?${mine} && ${condition}]`)));
    expect(await select(`${at}.ratedPower.value >= 22 && ${at}.ratedPower.value < 150`)).toEqual([
      'p22',
      'p50',
    ]);
    expect(await select(`${at}.ratedPower.value == 7`)).toEqual(['p7']);
    expect(await select(`!(${at}.ratedPower.value == 7)`)).toEqual(['p22', 'p50', 'p150']);
    expect(await select(`match(${at}.ratedPower.unit, 'k.')`)).toEqual(['p7', 'p22', 'p50', 'p150']);
  });

  it('may be written as PostgreSQL does', async () => {
    const answer = await found(
      filter('$.catalogs[*].resources[*] ? (@.resourceAttributes.attributes.ratedPower.value == 150)'),
    );
    expect(resourceIds(answer)).toEqual(['p150']);
  });

  it('looks at elements of arrays, and at whole catalogs', async () => {
    await hold([
      {
        id: 'nested',
        provider: { id: 'nested provider', descriptor: { name: 'Nested' } },
        resources: [
          charger('n1', { tags: ['red', 'blue'] }),
          charger('n2', { tags: ['green'] }),
          charger('n3', { tags: { first: 'blue' } }),
        ],
        offers: [{ id: 'o1', resourceIds: ['n2'], descriptor: { name: 'Cheap' } }],
      },
    ]);
    const tags = '@.resourceAttributes.attributes.tags';
    expect(resourceIds(await found(filter(`$.catalogs[*].resources[?${tags}[?@ == 'blue']]`)))).toEqual([
      'n1',
      'n3',
    ]);
    expect(resourceIds(await found(filter("$.catalogs[?@.provider.id == 'nested provider']")))).toEqual([
      'n1',
      'n2',
      'n3',
    ]);
    expect(resourceIds(await found(filter("$.catalogs[*].offers[?@.descriptor.name == 'Cheap']")))).toEqual([
      'n2',
    ]);
  });

  it("sees a catalog's own offers alone; those of other catalogs are attached to what it finds", async () => {
    const provider = { id: 'ordered provider', descriptor: { name: 'Ordered' } };
    await hold([
      { id: 'offers only', provider, offers: [{ id: 'elsewhere', descriptor: { name: 'Elsewhere' } }] },
      {
        id: 'ordered',
        provider,
        resources: [charger('ordered-1'), charger('ordered-2')],
        offers: [{ id: 'own', resourceIds: ['ordered-2'], descriptor: { name: 'Own' } }],
      },
    ]);
    const at = (place: number, id: string) =>
      filter(`$.catalogs[?@.provider.id == 'ordered provider'].offers[${place}][?@ == '${id}']`);
    expect(resourceIds(await found(at(0, 'own')))).toEqual(['ordered-2']);
    expect(await discover(at(-1, 'elsewhere'))).toMatchObject({ status: 202 });
    expect(await discover({ intent: { textSearch: 'elsewhere' } })).toMatchObject({ status: 202 });
    const { message } = await found(at(0, 'own'));
    expect(message.catalogs[0].offers.map(({ id }: { id: string }) => id).sort()).toEqual([
      'elsewhere',
      'own',
    ]);
  });

  it('gives SCH_INVALID_JSONPATH with the place when it cannot be read', async () => {
    const answer = await discover(filter('$.catalogs[*].resources[?@.a =='));
    expect(answer).toMatchObject({
      status: 400,
      body: {
        message: {
          status: 'NACK',
          error: { code: 'SCH_INVALID_JSONPATH', details: { path: '$.message.intent.filters.expression' } },
        },
      },
    });
    expect(answer.body.message.error.message).toMatch(/at character \d+/);
  });
});

describe('a text search', () => {
  const text = (textSearch: string) => ({ intent: { textSearch } });
  const named = (id: string, name: string, shortDesc?: string) => ({ id, descriptor: { name, shortDesc } });

  it('finds what has any of its words, more and rarer ones first', async () => {
    await hold([
      {
        id: 'texts',
        descriptor: { name: 'Zanzibar' },
        resources: [
          named('t1', 'Alpaca scarf', 'of wool'),
          named('t2', 'Alpaca farm', 'with wool and a zebra'),
          named('t3', 'Merino wool'),
          named('t4', 'Cotton shirt'),
        ],
        offers: [{ id: 'o', resourceIds: ['t4'], descriptor: { name: 'Quincunx days' } }],
      },
    ]);
    expect(resourceIds(await found(text('alpaca wool')))).toEqual(['t1', 't2', 't3']);
    expect(resourceIds(await found(text('the zebra please')))).toEqual(['t2']);
  });

  it('forgives typing errors, and lets the exact word stand first', async () => {
    expect(resourceIds(await found(text('alpacca')))).toEqual(['t1', 't2']);
    expect(resourceIds(await found(text('Zébra')))).toEqual(['t2']);
  });

  it('looks at what is said of the catalog, and of offers', async () => {
    expect(resourceIds(await found(text('zanzibar')))).toEqual(['t1', 't2', 't3', 't4']);
    expect(resourceIds(await found(text('quincunx')))).toEqual(['t4']);
  });

  it('combines with a filter', async () => {
    const answer = await found({
      intent: {
        textSearch: 'wool',
        filters: { type: 'jsonpath', expression: "$.catalogs[*].resources[?@.id == 't3' || @.id == 't4']" },
      },
    });
    expect(resourceIds(answer)).toEqual(['t3']);
  });
});
