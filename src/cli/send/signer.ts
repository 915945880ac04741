import { existsSync, readFileSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { privateKeyFromSeed, type SigningKey } from '../../protocol/keys.ts';
import { currentKeyId, findSigningKey, type KeyOwner } from '../../registry/key-files.ts';
import { CommandError } from '../command.ts';

export interface SignerOptions {
  /** A subscriberId, or the name of a role of this machine. */
  as: string;
  keyId?: string;
  /** A file with a seed, or the seed itself. */
  key?: string;
}

export function resolveSigner(options: SignerOptions, config: Config): SigningKey {
  const owner = findOwner(options, config);
  if (options.key === undefined) {
    const found = findSigningKey(config.DATA_DIR, owner);
    if (found) return found;
    throw new CommandError(
      `There is no key ${owner.keyId} of ${owner.id} in ${config.DATA_DIR}/keys. Check DATA_DIR, give --key FILE, start "signpost up" ` +
        `once for its demo identities, or make one: signpost keys new --id ${owner.id} --save`,
    );
  }
  return { subscriberId: owner.id, recordId: owner.keyId, privateKey: readPrivateKey(options.key) };
}

function findOwner({ as, keyId }: SignerOptions, config: Config): KeyOwner & { keyId: string } {
  const own = Object.entries(config.identities).find(([role, { id }]) => role === as || id === as)?.[1];
  const id = own?.id ?? as;
  const usual = own?.keyId ?? currentKeyId(config.DATA_DIR, id);
  return keyId === undefined || keyId === usual ? { id, keyId: usual, seed: own?.seed } : { id, keyId };
}

function readPrivateKey(fileOrSeed: string) {
  const isFile = existsSync(fileOrSeed);
  try {
    return privateKeyFromSeed(isFile ? readFileSync(fileOrSeed, 'utf8') : fileOrSeed);
  } catch (error) {
    const what = isFile ? `The file ${fileOrSeed} holds` : 'The value of --key is neither a file nor';
    throw new CommandError(
      `${what} ${isFile ? 'no' : 'an'} Ed25519 seed: 32 bytes in Base64, as "signpost keys new" makes them.`,
      error,
    );
  }
}
