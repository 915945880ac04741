import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { register as registerDoctorCommand } from '../../../src/cli/doctor.ts';
import { splitIdentity } from '../../../src/protocol/identity.ts';
import {
  removeMembership,
  setCatalogIndexUrls,
  setKeyState,
} from '../../../src/storage/registry/participants.ts';
import { coffee, extending } from '../../support/catalogs/masters.ts';
import { catalogOf } from '../../support/hosted/crawl-scene.ts';
import { forge } from '../../support/hosted/forged-node.ts';
import { newSigningKey } from '../../support/hosted/published-tree.ts';
import { answers, broken, only, replaced } from '../../support/hosted/tampering.ts';
import type { Body } from '../../support/network/actor.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type Provider, startProvider } from '../../support/network/provider.ts';
import { runCommand } from '../../support/processes/command.ts';

// "Why does my catalog not appear?": faults are planted at a provider, the real publisher over real HTTP, and `signpost doctor` names each. Longer
// than our other tests: half of it is the table of these faults.

let network: TestNetwork;
let provider: Provider;
let number = 0;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry' } });
});
afterAll(() => network?.close());
beforeEach(async () => {
  number += 1;
  provider = await startProvider(network, `patient-${number}`);
});
afterEach(() => provider.stop());

const teas = () => catalogOf('teas', 0, 3);
const who = () => splitIdentity(provider.identity);

function publish(changes: object = {}, directive: object = {}) {
  const publishDirectives = [{ catalogId: 'teas', catalogType: 'REGULAR' as const, ...directive }];
  return provider.publish({ message: { catalogs: [{ ...teas(), ...changes }], publishDirectives } });
}

function doctor(args: string[] = [], env: Record<string, string> = {}) {
  return runCommand(registerDoctorCommand, ['doctor', provider.id, '--network', defaultNetwork, ...args], {
    ...{ REGISTRY_URL: network.config.registryUrl, ALLOW_PRIVATE_ADDRESSES: 'true', MASTER_PUBLISHERS: '*' },
    ...{ DATA_DIR: network.config.DATA_DIR, ...env },
  });
}

async function diagnose(args: string[] = [], env: Record<string, string> = {}): Promise<Body> {
  const { exitCode, out } = await doctor([...args, '--json'], env);
  return { exitCode, ...JSON.parse(out) };
}

describe('signpost doctor', () => {
  it('walks the whole chain of a node that is well, a line for each link', async () => {
    await publish();
    await setCatalogIndexUrls(network.database, who(), [`${provider.url}/index/catalogs.index.json`]);
    const { exitCode, out } = await doctor();
    expect(exitCode).toBe(0);
    const lines = out.split('\n');
    expect(lines.slice(0, 6).map((line) => line.split(/\s+/).slice(0, 2).join(' '))).toEqual([
      '✓ registry',
      '✓ network',
      '✓ manifest',
      '✓ record',
      '✓ index',
      '✓ catalog',
    ]);
    expect(lines[5]).toContain('teas: version 1: 3 resources, 0 offers; appears in every network');
    expect(out).toContain(`1 catalog of ${provider.identity} can be found.`);
  });

  it('finds a node by its address', async () => {
    await publish();
    const { exitCode, out } = await runCommand(registerDoctorCommand, ['doctor', provider.url], {
      ...{ REGISTRY_URL: network.config.registryUrl, ALLOW_PRIVATE_ADDRESSES: 'true' },
    });
    expect(out).toContain(`1 catalog of ${provider.identity} can be found`);
    expect(exitCode).toBe(0);
  });

  it('names the first thing that is wrong and what to do about it', async () => {
    provider.spoil(only('record', replaced('BPP', 'BAP')));
    await publish();
    const { exitCode, out } = await doctor();
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^✗ record {4}The record at http:.*does not have the digest.*\(digest-mismatch\)$/m);
    expect(out).toMatch(
      /\n\nWhat is wrong: The record at .*\n {2}What to do: Upload content before the index/,
    );
  });

  it('counts what can be found, and says which catalog to publish again', async () => {
    await publish();
    await provider.publish({ message: { catalogs: [catalogOf('old-teas', 0, 2)] } });
    provider.spoil((path) => (path.includes('old-teas') ? { body: Buffer.from('{}') } : undefined));
    const { out } = await doctor();
    expect(out).toContain('What to do: Restore the file, or publish old-teas again. Upload content');
    expect(out).toContain(`1 of 2 catalogs of ${provider.identity} can be found`);
  });

  it('says that a node without files may publish through a catalog service', async () => {
    await publish();
    provider.spoil(only('manifest', answers(404)));
    expect((await doctor()).out).toContain(
      'index.json. A node that publishes through a catalog service needs no files.',
    );
  });

  it('says what is hidden on purpose, and complains only when nothing else is to be found', async () => {
    await publish();
    await provider.publish({ message: { catalogs: [catalogOf('old-teas', 0, 2)] } });
    await provider.publish({ retire: ['old-teas'] });
    expect(await diagnose()).toMatchObject({
      ...{ exitCode: 0, isFound: true, appearing: ['teas'], faults: [] },
      hidden: [{ catalogId: 'old-teas', code: 'retired' }],
    });
    expect(await diagnose(['--catalog', 'old-teas'])).toMatchObject({ exitCode: 1, isFound: false });
  });

  it('warns of what works, but not for long, or not for everybody', async () => {
    const past = (document: Body) => {
      document.next_update = '2020-01-01T00:00:00Z';
    };
    provider.spoil(forge(provider, { manifest: past, index: past }));
    await publish();
    const { exitCode, warnings } = await diagnose();
    expect(exitCode).toBe(0);
    const found = warnings.map(({ document, code }: Body) => `${document} ${code}`);
    expect(found).toEqual(['manifest stale', 'registry registry-unlisted', 'index stale']);
    const { out } = await doctor();
    expect(out).toMatch(
      /\n\nWarning: The manifest was to be renewed by 2020-\S+\.\n {2}What to do: Renew the document/,
    );
  });

  it('finds the masters of other nodes, and says where they are too much to inherit, as crawlers do', async () => {
    const facilitator = await startProvider(network, `facilitator-${number}`);
    try {
      const publishDirectives = [{ catalogId: 'beans', catalogType: 'MASTER' as const }];
      const beans = { ...catalogOf('beans', 0, 0), resources: [coffee('bean', { roast: 'dark' })] };
      await facilitator.publish({ message: { catalogs: [beans], publishDirectives } });
      await publish({ resources: [coffee('r1')] }, { resourceDirectives: [extending('r1', 'bean')] });
      expect(await diagnose()).toMatchObject({ exitCode: 0, appearing: ['teas'], faults: [] });
      const others = { MASTER_PUBLISHERS: 'another.example.org' };
      expect(await diagnose([], others)).toMatchObject({ faults: [{ code: 'waiting-for-master' }] });
      const tight = { INHERITED_RESOURCE_LIMIT: '50' };
      expect(await diagnose([], tight)).toMatchObject({ faults: [{ code: 'inherits-too-much' }] });
    } finally {
      await facilitator.stop();
    }
  });

  it('takes a key by the name that the manifest gives it, as crawlers do', async () => {
    const { key } = provider.tree;
    const named = { ...key, recordId: `did:web:${provider.id}#key` };
    const manifest = (document: Body) => {
      document.keys[0].kid = named.recordId;
    };
    const signed = { manifest: named, record: named, index: named, entry: named, baseline: named };
    provider.spoil(forge(provider, { manifest }, { signed }));
    await publish();
    expect(await diagnose()).toMatchObject({ exitCode: 0, appearing: ['teas'], faults: [] });
  });

  it('plays a crawler that takes nodes without a manifest, and says so: REQUIRE_MANIFEST=false', async () => {
    await publish();
    provider.spoil(only('manifest', answers(404)));
    const lenient = { REQUIRE_MANIFEST: 'false' };
    expect(await diagnose([], lenient)).toMatchObject({
      ...{ exitCode: 1, faults: [{ document: 'record', code: 'no-index-urls' }] },
      warnings: [{ code: 'manifest-missing', message: expect.stringContaining('REQUIRE_MANIFEST=false') }],
    });
    await setCatalogIndexUrls(network.database, who(), [`${provider.url}/index/catalogs.index.json`]);
    expect(await diagnose([], lenient)).toMatchObject({ exitCode: 0, appearing: ['teas'], faults: [] });
    expect(await diagnose()).toMatchObject({ exitCode: 1, faults: [{ code: 'manifest-missing' }] });

    // A manifest that exists must be valid.
    provider.spoil(only('manifest', replaced('2', '3')));
    expect(await diagnose([], lenient)).toMatchObject({ faults: [{ code: 'signature-invalid' }] });
  });

  it('plays a crawler that takes indexes without a signature: ALLOW_UNSIGNED_INDEX', async () => {
    const index = (document: Body) => {
      delete document.signature;
    };
    provider.spoil(forge(provider, { index }, { signed: { index: 'as it was' } }));
    await publish();
    expect(await diagnose()).toMatchObject({ faults: [{ document: 'index', code: 'signature-missing' }] });
    const lenient = { ALLOW_UNSIGNED_INDEX: 'true' };
    expect(await diagnose([], lenient)).toMatchObject({ exitCode: 0, appearing: ['teas'], faults: [] });
  });

  it('tells when the registry cannot be queried', async () => {
    const { exitCode, notes } = await doctor([], { REGISTRY_URL: 'http://127.0.0.1:1/dedi' });
    expect(exitCode).toBe(1);
    expect(notes).toContain('The registry at http://127.0.0.1:1/dedi cannot be queried.');
  });
});

interface Planted {
  code: string;
  what: string;
  /** The broken link of the chain. */
  document: string;
  /** Runs after the catalog was published. */
  plant(): unknown;
  args?: string[];
  env?: Record<string, string>;
}

const forged = (forgery: Parameters<typeof forge>[1], options?: Parameters<typeof forge>[2]) =>
  provider.spoil(forge(provider, forgery, options));

const faults: Planted[] = [
  {
    ...{ code: 'node-unknown', what: 'no registry record', document: 'registry' },
    plant: async () => {
      await provider.stop();
      provider = await startProvider(network, `patient-${number}-unknown`, { register: false });
    },
  },
  {
    ...{ code: 'key-unusable', what: 'a revoked key', document: 'registry' },
    plant: () => setKeyState(network.database, who(), 'revoked', 'key-1'),
  },
  {
    ...{ code: 'not-in-network', what: 'not a member of the network', document: 'network' },
    plant: () => removeMembership(network.database, who(), defaultNetwork),
  },
  {
    ...{ code: 'manifest-missing', what: 'no manifest', document: 'manifest' },
    plant: () => provider.spoil(only('manifest', answers(404))),
  },
  {
    ...{ code: 'signature-invalid', what: 'a manifest signed with the wrong key', document: 'manifest' },
    plant: () => forged({}, { signed: { manifest: newSigningKey('key-1') } }),
  },
  {
    ...{ code: 'key-unknown', what: 'a manifest signed with an unknown key', document: 'manifest' },
    plant: () => forged({}, { signed: { manifest: newSigningKey('key-7') } }),
  },
  {
    ...{ code: 'record-inactive', what: 'a record of an inactive registry', document: 'record' },
    plant: () =>
      forged({
        record: ({ registry }) => {
          registry.state = 'inactive';
        },
      }),
  },
  {
    ...{ code: 'address-refused', what: 'a private address', document: 'manifest' },
    plant: () => undefined,
    env: { ALLOW_PRIVATE_ADDRESSES: 'false' },
  },
  {
    ...{ code: 'digest-mismatch', what: 'a record that the manifest does not mean', document: 'record' },
    plant: () => provider.spoil(only('record', replaced('BPP', 'BAP'))),
  },
  {
    ...{ code: 'record-missing', what: 'a record of somebody else', document: 'record' },
    plant: () =>
      forged({
        record: ({ records: [record] }) => {
          record.details.subscriber_id = 'another.example.org';
        },
      }),
  },
  {
    ...{ code: 'no-index-urls', what: 'no meta.catalog_index_urls', document: 'record' },
    plant: () =>
      forged({
        record: ({ records: [record] }) => {
          delete record.meta;
        },
      }),
  },
  {
    ...{ code: 'too-many-indexes', what: 'more indexes than are read', document: 'record' },
    plant: () => provider.publish({ message: { catalogs: [catalogOf('more-teas', 0, 2)] } }, 'second'),
    env: { CRAWL_MAX_INDEXES: '1' },
  },
  {
    ...{ code: 'unreachable', what: 'an index that cannot be had', document: 'index' },
    plant: () => provider.spoil(only('index', broken)),
  },
  {
    ...{ code: 'node-mismatch', what: 'an index of somebody else', document: 'index' },
    plant: () =>
      forged({
        index: (document) => {
          document.nodeId = 'another.example.org';
        },
      }),
  },
  {
    ...{ code: 'signature-invalid', what: 'an entry that was changed', document: 'entry' },
    plant: () =>
      forged(
        {
          entry: (document) => {
            document.isActive = false;
          },
        },
        { signed: { entry: 'as it was' } },
      ),
  },
  {
    ...{ code: 'digest-mismatch', what: 'a file that its entry does not mean', document: 'catalog' },
    plant: () => provider.spoil(only('baseline', replaced('Tea', 'Tee'))),
  },
  {
    ...{ code: 'schema-violation', what: 'attributes that their schema refuses', document: 'catalog' },
    plant: () =>
      forged({
        baseline: ({ catalog }) => {
          catalog.resources[0].resourceAttributes = {
            '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
            ...{ '@type': 'EnergyResourceEVCharger', id: 'x', type: 'EV_TOASTER' },
          };
        },
      }),
  },
  {
    ...{ code: 'waiting-for-master', what: 'a master that nobody has', document: 'catalog' },
    plant: () =>
      publish(
        { resources: [coffee('r1')] },
        { resourceDirectives: [extending('r1', 'a-bean-that-nobody-has')] },
      ),
  },
  {
    ...{ code: 'not-relevant', what: 'a catalog for another network', document: 'catalog' },
    plant: () => publish({}, { visibleTo: ['elsewhere.org/retail'] }),
  },
  {
    ...{ code: 'not-valid', what: 'a validity that is over', document: 'catalog' },
    plant: () => publish({ validity: { startDate: '2020-01-01', endDate: '2020-12-31' } }),
  },
  {
    ...{ code: 'paused', what: 'a catalog that is paused', document: 'catalog' },
    plant: () => provider.publish({ pause: ['teas'] }),
  },
  {
    ...{ code: 'retired', what: 'a catalog that is retired', document: 'catalog' },
    plant: () => provider.publish({ retire: ['teas'] }),
  },
  {
    ...{ code: 'not-listed', what: 'another id than the published one', document: 'catalog' },
    plant: () => undefined,
    args: ['--catalog', 'Teas'],
  },
];

describe('signpost doctor finds and names', () => {
  it.each(faults)('$code: $what', async ({ code, document, plant, args, env }) => {
    await publish();
    await plant();
    const { exitCode, faults: found, hidden } = await diagnose(args, env);
    expect(exitCode).toBe(1);
    const [first] = [...found, ...hidden];
    expect(first).toMatchObject({ code, document, message: expect.stringMatching(/\.$/) });
    expect(first.hint).toMatch(/^[A-Z].{20,}/);
  });
});
