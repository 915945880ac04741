import type { Config } from '../config.ts';
import type { LocalKey } from '../discovery/inspect/name-signers.ts';
import { publicKeyOf } from '../protocol/keys.ts';
import { currentKeyId, findSigningKey, type KeyFile, listKeyFiles } from '../registry/key-files.ts';
import { CommandError, reasonOf } from './command.ts';

export function listLocalKeys({ DATA_DIR, identities }: Config): LocalKey[] {
  const roles = Object.entries(identities);
  const given = roles.flatMap(([role, { id, keyId = 'key-1', seed }]) => {
    const where = { place: `setting ${role.toUpperCase()}_PRIVATE_KEY`, isInUse: true };
    return seed === undefined ? [] : [readKey(DATA_DIR, { id, keyId, seed }, where)];
  });
  const ids = roles.map(([, { id }]) => id);
  const inFiles = readKeyFiles(DATA_DIR, ids).map(({ id, keyId, file }) => {
    const role = roles.map(([, identity]) => identity).find((identity) => identity.id === id);
    const inUse = role?.seed === undefined ? (role?.keyId ?? currentKeyId(DATA_DIR, id)) : undefined;
    return readKey(DATA_DIR, { id, keyId }, { place: file, isInUse: keyId === inUse });
  });
  return [...given, ...inFiles];
}

function readKeyFiles(dataDir: string, ids: readonly string[]): KeyFile[] {
  try {
    return listKeyFiles(dataDir, ids);
  } catch (error) {
    throw new CommandError(
      `The keys of this machine cannot be read: ${reasonOf(error)}. See DATA_DIR.`,
      error,
    );
  }
}

function readKey(
  dataDir: string,
  owner: { id: string; keyId: string; seed?: string },
  where: Pick<LocalKey, 'place' | 'isInUse'>,
): LocalKey {
  const { id, keyId } = owner;
  try {
    const key = findSigningKey(dataDir, owner);
    return { id, keyId, ...(key && { publicKey: publicKeyOf(key.privateKey) }), ...where };
  } catch {
    // Not a seed, or not readable: lists the key, so that the operator notices the file.
    return { id, keyId, ...where };
  }
}
