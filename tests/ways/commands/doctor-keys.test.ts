import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { register as registerDoctorCommand } from '../../../src/cli/doctor.ts';
import { splitIdentity } from '../../../src/protocol/identity.ts';
import {
  generateSeed,
  privateKeyFromSeed,
  publicKeyOf,
  type SigningKey,
} from '../../../src/protocol/keys.ts';
import { seedFile, setCurrentKey } from '../../../src/registry/key-files.ts';
import { registerParticipant, setKeyState } from '../../../src/storage/registry/participants.ts';
import { catalogOf } from '../../support/hosted/crawl-scene.ts';
import { forge } from '../../support/hosted/forged-node.ts';
import type { Body } from '../../support/network/actor.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type Provider, startProvider } from '../../support/network/provider.ts';
import { runCommand } from '../../support/processes/command.ts';

// What `signpost doctor` says if the registry has another key than the one that signs.

let network: TestNetwork;
let provider: Provider;
let dataDir: string;
let number = 0;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry' } });
});
afterAll(() => network?.close());
beforeEach(async () => {
  number += 1;
  dataDir = mkdtempSync(join(tmpdir(), 'signpost-doctor-'));
  provider = await startProvider(network, `signer-${number}`);
  await provider.publish({ message: { catalogs: [catalogOf('teas', 0, 3)] } });
});
afterEach(async () => {
  await provider.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function diagnose(): Promise<Body> {
  const { exitCode, out } = await runDoctor('--json');
  return { exitCode, ...JSON.parse(out) };
}

function runDoctor(...args: string[]) {
  return runCommand(registerDoctorCommand, ['doctor', provider.id, '--network', defaultNetwork, ...args], {
    ...{ REGISTRY_URL: network.config.registryUrl, ALLOW_PRIVATE_ADDRESSES: 'true', DATA_DIR: dataDir },
  });
}

interface MadeKey extends SigningKey {
  seed: string;
  publicKey: string;
}

function makeKey(recordId: string): MadeKey {
  const seed = generateSeed();
  const privateKey = privateKeyFromSeed(seed);
  return { subscriberId: provider.id, recordId, privateKey, seed, publicKey: publicKeyOf(privateKey) };
}

/** Stores the key where this machine keeps it. */
function keep({ recordId: keyId, seed }: MadeKey): string {
  const file = seedFile(dataDir, { id: provider.id, keyId });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${seed}\n`);
  return file;
}

const registeredKey = () => publicKeyOf(provider.tree.key.privateKey);

/** Registers another key under the name of the provider's key. */
async function registerAnother(): Promise<string> {
  const { publicKey } = makeKey('key-1');
  await registerParticipant(network.database, {
    ...{ ...splitIdentity(provider.identity), subscriberId: provider.id, replaceKey: true },
    key: { recordId: 'key-1', publicKey, ttlSeconds: 0 },
  });
  return publicKey;
}

describe('signpost doctor, where another key signs than the registered one,', () => {
  it('names both: the one in the registry, and the one that signs, which the manifest lists', async () => {
    const signing = registeredKey();
    const registered = await registerAnother();
    const { exitCode, faults } = await diagnose();
    expect(exitCode).toBe(1);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({
      ...{ document: 'manifest', code: 'key-mismatch', hint: expect.stringContaining('signpost keys show') },
      message: `The manifest is signed as key-1 with ${signing} (key-1 in its manifest); the registry has ${registered} under key-1.`,
    });
    const { out } = await runDoctor();
    expect(out).toMatch(/^✗ manifest .*\(key-mismatch\)$/m);
    expect(out).toContain('What is wrong: The manifest is signed as key-1 with');
  });

  it('says where this machine has the key that signs, but never its seed', async () => {
    const mine = makeKey('key-1');
    const file = keep(mine);
    provider.spoil(forge(provider, {}, { signed: { manifest: mine } }));
    const { out } = await runDoctor();
    expect(out).toContain(
      `The manifest is signed as key-1 with ${mine.publicKey} (key-1 of this machine, ${file}); the registry has ${registeredKey()} under key-1.`,
    );
    expect(out).not.toContain(mine.seed);
  });

  it('names the registered keys where the one that signs has another name', async () => {
    const next = makeKey('key-2');
    const manifest = (document: Body) => {
      const { x } = next.privateKey.export({ format: 'jwk' });
      document.keys.push({ kid: 'key-2', kty: 'OKP', crv: 'Ed25519', x });
    };
    provider.spoil(forge(provider, { manifest }, { signed: { index: next, entry: next, baseline: next } }));
    expect((await diagnose()).faults[0]).toMatchObject({
      ...{ document: 'index', code: 'key-mismatch' },
      message: `The index is signed as key-2 with ${next.publicKey} (key-2 in its manifest); the registry has no key of that name, but key-1 (${registeredKey()}).`,
    });
  });

  it.each([
    ['entry', 'entry'],
    ['baseline', 'catalog'],
  ] as const)('finds it out for a single %s', async (kind, document) => {
    const mine = makeKey('key-1');
    keep(mine);
    provider.spoil(forge(provider, {}, { signed: { [kind]: mine } }));
    expect((await diagnose()).faults[0]).toMatchObject({
      ...{ document, code: 'key-mismatch', catalogId: 'teas' },
      message: expect.stringContaining(`The ${kind} is signed as key-1 with ${mine.publicKey}`),
    });
  });

  it('leaves it at an invalid signature where nobody has the key, and where the document was changed', async () => {
    provider.spoil(forge(provider, {}, { signed: { manifest: makeKey('key-1') } }));
    expect((await diagnose()).faults).toMatchObject([{ code: 'signature-invalid' }]);
    const manifest = (document: Body) => {
      document.updated_at = '2020-01-01T00:00:00Z';
    };
    provider.spoil(forge(provider, { manifest }, { signed: { manifest: 'as it was' } }));
    expect((await diagnose()).faults).toMatchObject([{ code: 'signature-invalid' }]);
  });
});

describe('signpost doctor, on the machine that signs,', () => {
  it('warns where everything verifies and what is signed next would not', async () => {
    const mine = makeKey('key-1');
    const file = keep(mine);
    expect(await diagnose()).toMatchObject({
      ...{ exitCode: 0, faults: [], appearing: ['teas'] },
      warnings: expect.arrayContaining([
        expect.objectContaining({
          code: 'local-key-differs',
          message: `This machine signs as key-1 with ${mine.publicKey} (${file}), but the registry has key-1 (${registeredKey()}).`,
        }),
      ]),
    });
  });

  it('says that the key in use is not registered, or cannot be used any more', async () => {
    const next = makeKey('key-2');
    keep(next);
    setCurrentKey(dataDir, { id: provider.id, keyId: 'key-2' });
    const told = async () =>
      (await diagnose()).warnings.find(({ code }: Body) => code === 'local-key-differs')?.message;
    expect(await told()).toContain('but the registry has no key-2.');
    await registerParticipant(network.database, {
      ...{ ...splitIdentity(provider.identity), subscriberId: provider.id },
      key: { recordId: 'key-2', publicKey: next.publicKey, ttlSeconds: 0 },
    });
    expect(await told()).toBeUndefined();
    await setKeyState(network.database, splitIdentity(provider.identity), 'suspended', 'key-2');
    expect(await told()).toContain('but the key is in state suspended.');
  });

  it('says nothing of keys of others', async () => {
    const other = makeKey('key-1');
    const file = seedFile(dataDir, { id: 'another.example.org', keyId: 'key-1' });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${other.seed}\n`);
    expect((await diagnose()).warnings.map(({ code }: Body) => code)).not.toContain('local-key-differs');
  });
});
