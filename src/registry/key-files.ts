import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../error-code.ts';
import { generateSeed, privateKeyFromSeed, type SigningKey } from '../protocol/keys.ts';
import { createSecret, readIfThere } from '../secret-file.ts';

// The signing keys of this machine: seeds in DATA_DIR/keys, readable only by their owner. A file beside them names the current key.

export interface KeyOwner {
  id: string;
  /** The recordId of the key; by default the current one (`currentKeyId`). */
  keyId?: string;
  /** A seed in the settings wins over the file. */
  seed?: string;
}

const firstKeyId = 'key-1';

export function loadOrCreateSigningKey(dataDir: string, owner: KeyOwner): SigningKey {
  const named = nameKey(dataDir, owner);
  return signingKey(named, owner.seed ?? readSeed(dataDir, named) ?? createSeed(dataDir, named));
}

export function findSigningKey(dataDir: string, owner: KeyOwner): SigningKey | undefined {
  const named = nameKey(dataDir, owner);
  const seed = owner.seed ?? readSeed(dataDir, named);
  return seed === undefined ? undefined : signingKey(named, seed);
}

/** Like `findSigningKey`; throws if there is none, and creates none. */
export function requireSigningKey(dataDir: string, owner: KeyOwner): SigningKey {
  const found = findSigningKey(dataDir, owner);
  if (!found) throw new Error(`There is no ${seedFile(dataDir, nameKey(dataDir, owner))}.`);
  return found;
}

export function seedFile(dataDir: string, { id, keyId }: NamedKey): string {
  return fileOf(dataDir, id, `${keyId}.seed`);
}

export interface KeyFile extends NamedKey {
  file: string;
}

/** The seeds on this machine, by owner and key. `ids` are known subscribers: ids and key ids may contain dots, so file names are ambiguous. */
export function listKeyFiles(dataDir: string, ids: readonly string[] = []): KeyFile[] {
  const names = readNames(join(dataDir, 'keys'));
  const marked = names.filter((name) => name.endsWith('.current')).map((name) => name.slice(0, -8));
  const owners = [...new Set([...ids.map(fileName), ...marked])].sort((a, b) => b.length - a.length);
  return names.sort().flatMap((name) => {
    if (!name.endsWith('.seed')) return [];
    const stem = name.slice(0, -5);
    const owner = owners.find((one) => stem.startsWith(`${one}.`)) ?? stem.slice(0, stem.lastIndexOf('.'));
    const keyId = stem.slice(owner.length + 1);
    if (owner === '' || keyId === '') return [];
    return [{ id: owner.replaceAll('+', '/'), keyId, file: join(dataDir, 'keys', name) }];
  });
}

function readNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** The key that a subscriber signs with, unless the settings name another. */
export function currentKeyId(dataDir: string, id: string): string {
  return readIfThere(fileOf(dataDir, id, 'current')) ?? firstKeyId;
}

/** The subscriber now signs with this key, in every process that reads its key again. */
export function setCurrentKey(dataDir: string, { id, keyId }: NamedKey): void {
  const file = fileOf(dataDir, id, 'current');
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${keyId}\n`);
  renameSync(draft, file);
}

interface NamedKey {
  id: string;
  keyId: string;
}

/** A seed in the settings is independent of the files, including the one that names the current key. */
function nameKey(dataDir: string, { id, keyId, seed }: KeyOwner): NamedKey {
  return { id, keyId: keyId ?? (seed === undefined ? currentKeyId(dataDir, id) : firstKeyId) };
}

function signingKey({ id, keyId }: NamedKey, seed: string): SigningKey {
  return { subscriberId: id, recordId: keyId, privateKey: privateKeyFromSeed(seed) };
}

function fileOf(dataDir: string, id: string, name: string): string {
  return join(dataDir, 'keys', `${fileName(id)}.${name}`);
}

/** Subscriber ids have at most one slash, which file names cannot contain. */
function fileName(id: string): string {
  return id.replaceAll('/', '+');
}

function readSeed(dataDir: string, key: NamedKey): string | undefined {
  return readIfThere(seedFile(dataDir, key));
}

function createSeed(dataDir: string, key: NamedKey): string {
  mkdirSync(join(dataDir, 'keys'), { recursive: true, mode: 0o700 });
  return createSecret(seedFile(dataDir, key), generateSeed());
}
