import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerSendCommand } from '../../../src/cli/send.ts';
import { actions } from '../../../src/protocol/actions.ts';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../../src/protocol/keys.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { smallCatalog } from '../../support/hosted/publisher.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { served } from '../../support/network/publish.ts';
import { runCommand } from '../../support/processes/command.ts';
import { publish, type Settings, useDirectory } from '../../support/processes/publish-command.ts';

// The commands of a provider that publishes through a catalog service.

const { write } = useDirectory();

describe('publish --to a catalog service', () => {
  let network: TestNetwork;
  let settings: Settings;

  beforeAll(async () => {
    network = await startNetwork({
      settings: { ROLES: 'registry,catalog,publisher', LOG_LEVEL: 'silent', BODY_SIZE_LIMIT: '40kb' },
    });
    const { config } = network;
    settings = {
      DATA_DIR: config.DATA_DIR,
      REGISTRY_URL: config.registryUrl,
      PUBLISHER_PORT: String(config.PUBLISHER_PORT),
      PUBLISHER_TRIGGER_PORT: String(config.PUBLISHER_TRIGGER_PORT),
      BODY_SIZE_LIMIT: '40kb',
    };
  });
  afterAll(() => network.close());

  it('signs as the publisher, and gets on_publish through the publisher that runs at its address', async () => {
    const file = write('coffee.json', smallCatalog('coffee', ['espresso', 'lungo']));
    const run = await publish([file, '--to', network.catalogUrl], settings);
    expect(run).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/^coffee +ACCEPTED +2 resources$/m),
    });
    expect(await served(network.database, 'coffee')).toMatchObject({
      bppId: network.config.identities.publisher.id,
      bppUri: network.config.identities.publisher.url,
    });
  });

  it('takes an on_publish that names the request by its whole Authorization value, as a deployed peer does, but not for what it does not name', async () => {
    const service = await network.actor('peer-service');
    const answers: number[] = [];
    service.behave((publish) => {
      const { messageId, transactionId, bppId, bppUri } = publish.body.context;
      const requestDigest = { digest: bodyDigest(publish.raw) };
      const message = { results: [{ catalogId: 'peer-coffee', status: 'ACCEPTED' }] };
      service
        .send(actions.onPublish, message, {
          to: bppUri,
          context: { messageId, transactionId, bppId, bppUri, requestDigest },
          answering: publish.authorization,
        })
        .then(({ status }) => answers.push(status));
      return undefined;
    });
    const run = await publish(
      [write('coffee.json', smallCatalog('peer-coffee')), '--to', service.url],
      settings,
    );
    expect(run).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^peer-coffee +ACCEPTED/m) });
    const both = write('both.json', [smallCatalog('peer-coffee'), smallCatalog('peer-tea')]);
    expect(await publish([both, '--to', service.url], settings)).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('The on_publish has no result for peer-tea.'),
    });
    expect(answers).toEqual([200, 200]);
  });

  it('says which catalog was not taken as it is, and why', async () => {
    const attributes = {
      '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
      '@type': 'EnergyResourceEVCharger',
      id: 'c',
      type: 'TOASTER',
    };
    const catalog = smallCatalog('toast', ['bread']);
    catalog.resources?.push({ id: 'c', descriptor: { name: 'c' }, resourceAttributes: attributes });
    const run = await publish([write('toast.json', catalog), '--to', network.catalogUrl], settings);
    expect(run.exitCode).toBe(1);
    expect(run.out).toMatch(/^toast +PARTIAL +1 resource$/m);
    expect(run.out).toContain('SCH_SCHEMA_VALIDATION_FAILED');
  });

  it('sends many catalogs in as many requests as it takes', async () => {
    const catalogs = Array.from({ length: 12 }, (_, index) => ({
      ...smallCatalog(`many-${index}`),
      descriptor: { name: 'x'.repeat(8_000) },
    }));
    const run = await publish([write('many.json', catalogs), '--to', network.catalogUrl, '--json'], settings);
    expect(run.exitCode).toBe(0);
    expect(JSON.parse(run.out).results).toHaveLength(12);
  });

  it('says what the service refused', async () => {
    const run = await publish([write('none.json', []), '--to', network.catalogUrl], settings);
    expect(run).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('The catalog service refused this, 400'),
    });
  });

  it('is what send does too, as the publisher', async () => {
    const file = write('request.json', { message: { catalogs: [smallCatalog('sent')] } });
    const args = [
      'send',
      file,
      '--to',
      network.catalogUrl,
      '--as',
      'publisher',
      '--action',
      'catalog/publish',
      '--wait',
    ];
    const run = await runCommand(registerSendCommand, args, settings);
    expect(run).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('and covers the signature of the request'),
    });
  });

  it('waits at an address of its own as somebody else than the publisher', async () => {
    const seed = generateSeed();
    const id = 'other-provider.signpost.test';
    await registerParticipant(network.database, {
      ...splitIdentity(identityOf(id, network.config.REGISTRY_NAME)),
      subscriberId: id,
      key: { recordId: 'key-1', publicKey: publicKeyOf(privateKeyFromSeed(seed)) },
    });
    const file = write('coffee.json', smallCatalog('other-coffee'));
    const run = await publish([file, '--to', network.catalogUrl, '--as', id, '--key', seed], settings);
    expect(run).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^other-coffee +ACCEPTED/m) });
  });
});
