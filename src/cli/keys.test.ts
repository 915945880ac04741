import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../tests/support/processes/command.ts';
import type { LocalKey } from '../discovery/inspect/name-signers.ts';
import { privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { findSigningKey, loadOrCreateSigningKey, seedFile, setCurrentKey } from '../registry/key-files.ts';
import { register as registerKeysCommand } from './keys.ts';

describe('signpost keys new', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'signpost-keys-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const keys = (...args: string[]) =>
    runCommand(registerKeysCommand, ['keys', 'new', ...args], { DATA_DIR: directory });

  it('prints a seed, its public key, and the command that registers it', async () => {
    const { out } = await keys('--id', 'bpp.example.com', '--key-id', 'key-2');
    const seed = /seed \(keep it secret\)\s+(\S+)/.exec(out)?.[1] ?? '';
    const publicKey = publicKeyOf(privateKeyFromSeed(seed));
    expect(out).toContain(
      `signpost registry register bpp.example.com --key-id key-2 --public-key ${publicKey}`,
    );
  });

  it('makes another key each time', async () => {
    const made = await Promise.all([1, 2, 3].map(async () => JSON.parse((await keys('--json')).out)));
    expect(new Set(made.map(({ publicKey }) => publicKey)).size).toBe(3);
  });

  it('writes the seed to a file that only its owner can read, and does not print it', async () => {
    const file = join(directory, 'new', 'bpp.seed');
    const { out } = await keys('--out', file);
    const seed = readFileSync(file, 'utf8').trim();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(out).toContain(publicKeyOf(privateKeyFromSeed(seed)));
    expect(out).not.toContain(seed);
  });

  it('never overwrites a file', async () => {
    const file = join(directory, 'bpp.seed');
    await keys('--out', file);
    const before = readFileSync(file, 'utf8');
    expect(await keys('--out', file)).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('not overwritten'),
    });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('saves the seed where send and the roles find it', async () => {
    await keys('--id', 'bpp.example.com', '--save');
    const found = findSigningKey(directory, { id: 'bpp.example.com', keyId: 'key-1' });
    expect(found).toMatchObject({ subscriberId: 'bpp.example.com', recordId: 'key-1' });
    expect(await keys('--save')).toMatchObject({ exitCode: 1, notes: expect.stringContaining('--id') });
  });

  it('refuses a name that cannot stand in a keyId', async () => {
    expect(await keys('--id', 'not a name')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('domain'),
    });
  });
});

describe('signpost keys list and show', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'signpost-keys-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const keys = (args: string[], env: Record<string, string> = {}) =>
    runCommand(registerKeysCommand, ['keys', ...args], { DATA_DIR: directory, ...env });
  const save = (id: string, keyId: string) => {
    const { privateKey } = loadOrCreateSigningKey(directory, { id, keyId });
    const file = seedFile(directory, { id, keyId });
    return { file, publicKey: publicKeyOf(privateKey), seed: readFileSync(file, 'utf8').trim() };
  };

  it('list every key with its public half, its names and its file, and which one signs, but no seed', async () => {
    const saved = [
      save('bpp.example.com', 'key-1'),
      save('bpp.example.com', 'key.2'),
      save('bpp.example.com/registry', 'key-1'),
    ];
    setCurrentKey(directory, { id: 'bpp.example.com', keyId: 'key.2' });
    const { out } = await keys(['list']);
    for (const { file, publicKey, seed } of saved) {
      expect(out).toContain(file);
      expect(out).toContain(publicKey);
      expect(out).not.toContain(seed);
    }
    const listed = JSON.parse((await keys(['list', '--json'])).out);
    expect(listed.map(({ id, keyId, isInUse }: LocalKey) => [id, keyId, isInUse])).toEqual([
      ['bpp.example.com/registry', 'key-1', true],
      ['bpp.example.com', 'key-1', false],
      ['bpp.example.com', 'key.2', true],
    ]);
  });

  it('list what the settings give, and what cannot be read', async () => {
    const { publicKey, seed, file } = save('old.example.com', 'key-1');
    writeFileSync(file, 'not a seed');
    const given = { PUBLISHER_ID: 'bpp.example.com', PUBLISHER_PRIVATE_KEY: seed };
    const { out } = await keys(['list'], given);
    expect(out).toMatch(/bpp\.example\.com +key-1 +yes .*setting PUBLISHER_PRIVATE_KEY/);
    expect(out).toContain(publicKey);
    expect(out).toMatch(/old\.example\.com +key-1 +yes +cannot be read/);
    expect(out).not.toContain(seed);
    expect(out).not.toContain('not a seed');
  });

  it('say that there are none', async () => {
    expect((await keys(['list'])).out).toContain('There are no keys');
    expect(await keys(['show', 'bpp.example.com'])).toMatchObject({
      ...{ exitCode: 1, notes: expect.stringContaining('signpost keys new --id bpp.example.com --save') },
    });
  });

  it('say in a sentence that the directory of the keys cannot be read', async () => {
    writeFileSync(join(directory, 'keys'), 'not a directory');
    for (const args of [['list'], ['show', 'bpp.example.com']])
      expect(await keys(args)).toMatchObject({
        ...{
          exitCode: 1,
          notes: expect.stringMatching(/^The keys of this machine cannot be read: ENOTDIR/),
        },
      });
  });

  it('show the key that signs, or the one that is named, with what the registry must have', async () => {
    const first = save('bpp.example.com', 'key-1');
    const second = save('bpp.example.com', 'key-2');
    setCurrentKey(directory, { id: 'bpp.example.com', keyId: 'key-2' });
    const { out } = await keys(['show', 'bpp.example.com']);
    expect(out).toContain(`signing_public_key  ${second.publicKey}`);
    expect(out).toContain(`--key-id key-2 --public-key ${second.publicKey}`);
    expect(out).toContain(second.file);
    expect(out).not.toContain(second.seed);
    const named = await keys(['show', 'bpp.example.com', '--key-id', 'key-1', '--json']);
    expect(JSON.parse(named.out)).toEqual({
      ...{
        id: 'bpp.example.com',
        keyId: 'key-1',
        publicKey: first.publicKey,
        place: first.file,
        isInUse: false,
      },
    });
    const publisher = await keys(['show'], { PUBLISHER_ID: 'bpp.example.com', PUBLISHER_KEY_ID: 'key-1' });
    expect(publisher.out).toContain(first.publicKey);
    expect(await keys(['show', 'bpp.example.com', '--key-id', 'key-9'])).toMatchObject({
      ...{ exitCode: 1, notes: expect.stringContaining('only key-1, key-2') },
    });
  });
});
