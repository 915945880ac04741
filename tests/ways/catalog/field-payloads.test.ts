import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerSendCommand } from '../../../src/cli/send.ts';
import { actions } from '../../../src/protocol/actions.ts';
import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { publicKeyOf } from '../../../src/protocol/keys.ts';
import { loadOrCreateSigningKey } from '../../../src/registry/key-files.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { dataFile } from '../../support/catalogs/data-dir.ts';
import type { Actor, Body } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { runCommand } from '../../support/processes/command.ts';

// Payloads as nodes in the field send them, through `signpost send` into a running service. Some are older than the rules, and are refused for their
// faults. Half of them omit the sender.

const folder = dataFile('catalogs');
const london = 'ev-chargers-london-60.publish.json';

describe.skipIf(!existsSync(folder))('payloads of the field (needs the field payloads)', () => {
  let network: TestNetwork;
  /** With a registered address. */
  let node: Actor;

  beforeAll(async () => {
    network = await startNetwork();
    node = await network.actor('field-node');
    for (const id of [
      'sellerapp.example.com',
      'bpp.example.com',
      'bpp.example.com1',
      'facilitator.example.com',
    ]) {
      const key = loadOrCreateSigningKey(network.config.DATA_DIR, { id, keyId: 'key-1' });
      // Without a registered address, so that `send` may receive callbacks on this machine.
      await registerParticipant(network.database, {
        ...splitIdentity(identityOf(id, network.config.REGISTRY_NAME)),
        subscriberId: id,
        networkIds: [],
        key: { recordId: 'key-1', publicKey: publicKeyOf(key.privateKey) },
      });
    }
  });
  afterAll(() => network.close());

  /** The answer, and whether the command reported success. */
  async function send(as: string, file: string, options: string[], stdin = ''): Promise<Body> {
    const { exitCode, out, notes } = await runCommand(
      registerSendCommand,
      ['send', file, '--to', network.catalogUrl, '--as', as, '--json', ...options],
      { DATA_DIR: network.config.DATA_DIR, REGISTRY_URL: network.config.registryUrl },
      stdin,
    );
    if (out === '') throw new Error(notes);
    return { exitCode, ...JSON.parse(out) };
  }

  const path = (file: string) => `${folder}/${file}`;
  const read = (file: string): Body => JSON.parse(readFileSync(path(file), 'utf8'));
  const accepted = { status: 'ACCEPTED' };

  const published: [file: string, as: string, stats: object][] = [
    ['deg__p2p-trading-ies-wave2-uc1__publish-catalog.json', 'sellerapp.example.com', { itemCount: 1 }],
    ['retail-devkit__publish-request.json', 'bpp.example.com', { itemCount: 3 }],
    ['retail-ion__publish-master-catalog-coffee.json', 'facilitator.example.com', { itemCount: 1 }],
    ['retail-ion__publish-regular-tea-coffee.json', 'facilitator.example.com', { itemCount: 2 }],
  ];
  it.each(published)('%s, published by %s: ACCEPTED', async (file, as, stats) => {
    const { exitCode, answer, callback } = await send(as, path(file), ['--wait']);
    expect({ exitCode, answer }).toMatchObject({
      exitCode: 0,
      answer: { status: 200, body: { message: { status: 'ACK' } }, signature: { holds: true } },
    });
    expect(callback).toMatchObject({
      chained: true,
      bound: true,
      message: { results: [{ ...accepted, stats }] },
    });
  });

  it.each([['ev_charging_catalog_example.json'], ['ev_charging_patch_example.json']])(
    'SCH_REQUIRED_FIELD_MISSING: %s is of an older protocol, without a provider',
    async (file) => {
      const { exitCode, answer } = await send('bpp.example.com1', path(file), ['--wait']);
      expect(exitCode).toBe(1);
      expect(answer).toMatchObject({
        status: 400,
        body: {
          message: {
            status: 'NACK',
            error: {
              code: 'SCH_REQUIRED_FIELD_MISSING',
              details: { path: '$.message.catalogs[0].provider' },
            },
          },
        },
      });
    },
  );

  it("AUT_UNAUTHORIZED_ACTION: a catalog that names somebody else's bppId is REJECTED", async () => {
    const { callback } = await send('facilitator.example.com', path('retail-devkit__publish-request.json'), [
      '--wait',
    ]);
    expect(callback.message.results).toMatchObject([
      { status: 'REJECTED', errors: [{ code: 'AUT_UNAUTHORIZED_ACTION' }] },
    ]);
  });

  const verbatim: [file: string, as: string, code: string | undefined, at: string | undefined][] = [
    ['deg__p2p-trading-ies-wave2-uc1__publish-catalog.json', 'sellerapp.example.com', undefined, undefined],
    ['retail-devkit__publish-request.json', 'bpp.example.com', 'CTX_TTL_EXPIRED', '$.context.ttl'],
    ['ev_charging_catalog_example.json', 'bpp.example.com1', 'CTX_TTL_EXPIRED', '$.context.ttl'],
    ['ev_charging_patch_example.json', 'bpp.example.com1', 'CTX_TTL_EXPIRED', '$.context.ttl'],
    [
      'retail-ion__publish-master-catalog-coffee.json',
      'facilitator.example.com',
      'CTX_MISSING_FIELD',
      '$.context.bppUri',
    ],
    [
      'retail-ion__publish-regular-tea-coffee.json',
      'facilitator.example.com',
      'CTX_MISSING_FIELD',
      '$.context.bppUri',
    ],
    [london, 'facilitator.example.com', 'AUT_UNAUTHORIZED_ACTION', '$.context.bppId'],
  ];
  it.each(verbatim)('%s sent --verbatim as %s: %s', async (file, as, code, at) => {
    const { exitCode, answer } = await send(as, path(file), ['--verbatim', '--action', 'catalog/publish']);
    const { status, error } = answer.body.message;
    expect({ exitCode, status, code: error?.code, at: error?.details.path }).toEqual({
      exitCode: code ? 1 : 0,
      status: code ? 'NACK' : 'ACK',
      code,
      at,
    });
  });

  it.each(['retail-ion__publish-master-catalog-coffee.json', 'retail-ion__publish-regular-tea-coffee.json'])(
    '%s, byte for byte from a node with a registered address: answered there',
    async (file) => {
      const raw = readFileSync(path(file));
      const { messageId } = read(file).context;
      const { status } = await node.send(actions.publish, undefined, { raw, context: { messageId } });
      expect(status).toBe(200);
      const { body } = await node.waitFor('catalog/on_publish', messageId);
      expect(body.context).toMatchObject({ bppId: node.id, bppUri: node.url });
    },
  );

  it.each([
    'requests__discover_geo_s_dwithin.json',
    'requests__ev_charging_jsonpath_connector_match.json',
    'retail-ion__discover-jsonpath.json',
    'retail-ion__discover-spatial-query-catalog.json',
    'retail-ion__discover-text-search.json',
  ])('%s, sent now and without a placeholder as address: finds nothing here', async (file) => {
    const { context, message } = read(file);
    const { bapUri: _, ...kept } = { ...context, timestamp: new Date().toISOString() };
    const raw = Buffer.from(JSON.stringify({ context: kept, message }));
    const { status, body } = await node.send(actions.discover, undefined, { raw, to: network.discoveryUrl });
    expect([status, body.message]).toEqual([
      202,
      {
        status: 'ACK',
        messageId: context.messageId,
        error: expect.objectContaining({ code: 'BIZ_NO_RESULTS_FOUND' }),
      },
    ]);
  });

  it('retail-ion__search-master-resources.json finds the master that was published', async () => {
    const file = path('retail-ion__search-master-resources.json');
    const { answer } = await send('bpp.example.com', file, []);
    expect(answer.body.message).toMatchObject({
      catalogs: [{ id: 'MASTER-CAT-GROCERY-ION-COFFEE' }],
      pagination: { total: 1 },
    });
  });

  it('retail-ion__subscription-api.json makes a subscription', async () => {
    const { answer } = await send('bpp.example.com', path('retail-ion__subscription-api.json'), []);
    expect(answer).toMatchObject({
      status: 200,
      body: { message: { subscriptions: [{ status: 'ACTIVE', networkIds: ['beckn.one/ion-retail'] }] } },
    });
  });

  describe('chargers of London', () => {
    const as = 'bpp.example.com';

    it('are all ACCEPTED', async () => {
      const { message } = read(london);
      const { callback } = await send(as, path(london), ['--wait']);
      expect(callback.message.results).toEqual(
        message.catalogs.map(({ id, resources }: Body) => ({
          catalogId: id,
          status: 'ACCEPTED',
          stats: { itemCount: resources.length, providerCount: 1, categoryCount: 1 },
        })),
      );
    });

    const faults: [what: string, attributes: object, at: string][] = [
      ['an unknown connector', { connectorType: 'Schuko' }, 'connectorType'],
      ['a v2xProtocol on an EV_CHARGER', { v2xProtocol: 'CCS_BPT' }, 'v2xProtocol'],
      ['a negative power', { ratedPower: { value: -7, unit: 'kW' } }, 'ratedPower.value'],
    ];
    it.each(faults)(
      'one of which has %s make their catalog PARTIAL, with the path',
      async (_what, attributes, at) => {
        const body = read(london);
        const culprit = body.message.catalogs[0].resources[1].resourceAttributes;
        Object.assign(culprit.attributes, attributes);
        const { callback } = await send(as, '-', ['--wait'], JSON.stringify(body));
        const [first, ...others]: Body[] = callback.message.results;
        expect(first).toMatchObject({
          status: 'PARTIAL',
          errors: [
            {
              code: 'SCH_SCHEMA_VALIDATION_FAILED',
              details: { path: `$.message.catalogs[0].resources[1].resourceAttributes.attributes.${at}` },
            },
          ],
        });
        expect(first.errors).toHaveLength(1);
        expect(new Set(others.map(({ status }) => status))).toEqual(new Set(['ACCEPTED']));
      },
    );
  });
});
