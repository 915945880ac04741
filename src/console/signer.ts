import type { Config } from '../config.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { currentKeyId, findSigningKey } from '../registry/key-files.ts';
import { ConsoleError } from './errors.ts';

/** The key of an identity of this machine; throws where there is none. */
export function findSigner(config: Config, id: string): SigningKey {
  const own = Object.values(config.identities).find((identity) => identity.id === id);
  const keyId = own?.keyId ?? currentKeyId(config.DATA_DIR, id);
  const key = findSigningKey(config.DATA_DIR, { id, keyId, ...(own?.seed && { seed: own.seed }) });
  if (key) return key;
  throw new ConsoleError('AUT_KEY_NOT_FOUND', `There is no key of ${id} on this machine.`, {
    ...{
      status: 409,
      hint: `Publish where its key is: signpost publish FILE --to ${config.identities.catalog.url}`,
    },
  });
}
