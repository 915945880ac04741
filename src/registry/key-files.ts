import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSeed, privateKeyFromSeed, type SigningKey } from '../protocol/keys.ts';

// The signing keys of this machine: one seed per subscriber in DATA_DIR/keys, readable by its owner alone.

export interface KeyOwner {
  /** The subscriberId in the registry. */
  id: string;
  keyId: string;
  /** A seed given in the settings wins over the file. */
  seed?: string;
}

/** The signing key of a subscriber, made and kept on first use. */
export function loadOrCreateSigningKey(dataDir: string, owner: KeyOwner): SigningKey {
  const seed = owner.seed ?? readSeed(dataDir, owner) ?? createSeed(dataDir, owner);
  return { subscriberId: owner.id, recordId: owner.keyId, privateKey: privateKeyFromSeed(seed) };
}

/** The signing key of a subscriber whose seed lies on this machine. */
export function findSigningKey(dataDir: string, owner: KeyOwner): SigningKey | undefined {
  const seed = owner.seed ?? readSeed(dataDir, owner);
  if (seed === undefined) return undefined;
  return { subscriberId: owner.id, recordId: owner.keyId, privateKey: privateKeyFromSeed(seed) };
}

/** The file of a key. Subscriber ids have one slash at most, which no file name can hold. */
export function seedFile(dataDir: string, { id, keyId }: Pick<KeyOwner, 'id' | 'keyId'>): string {
  return join(dataDir, 'keys', `${id.replaceAll('/', '+')}.${keyId}.seed`);
}

function readSeed(dataDir: string, owner: KeyOwner): string | undefined {
  try {
    return readFileSync(seedFile(dataDir, owner), 'utf8').trim();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Written whole under another name and then linked: two processes that start at the same moment agree on one key. */
function createSeed(dataDir: string, owner: KeyOwner): string {
  const file = seedFile(dataDir, owner);
  const draft = `${file}.${process.pid}`;
  mkdirSync(join(dataDir, 'keys'), { recursive: true, mode: 0o700 });
  writeFileSync(draft, `${generateSeed()}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
  return readFileSync(file, 'utf8').trim();
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
