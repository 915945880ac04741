import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../tests/support/command.ts';
import { privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { findSigningKey } from '../registry/key-files.ts';
import { registerKeysCommand } from './keys.ts';

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
