import { createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { FindKey } from '../http/authenticate.ts';
import type { Logger } from '../logger.ts';
import { publicKeyOf, type SigningKey } from '../protocol/keys.ts';
import type { KeyLookup } from '../protocol/registry-record.ts';
import { currentKeyId, type KeyOwner, loadOrCreateSigningKey, seedFile } from './key-files.ts';

// A role's own key: created if missing, and looked up in the registry. Until it is found there, everybody refuses the role's signatures: reported.

/** The signing key of a role. A new one is logged with its path: it must be kept, and shared by the processes of the role. */
export function openSigningKey(dataDir: string, owner: KeyOwner, logger: Logger): SigningKey {
  const { id, keyId = currentKeyId(dataDir, id), seed } = owner;
  const file = seedFile(dataDir, { id, keyId });
  const isNew = seed === undefined && !existsSync(file);
  try {
    const key = loadOrCreateSigningKey(dataDir, owner);
    if (isNew)
      logger.warn(
        { subscriberId: id, recordId: keyId, publicKey: publicKeyOf(key.privateKey), file },
        'made a signing key, because there was none: keep it, and give it to every process of this role',
      );
    return key;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`The signing key ${keyId} of ${id} cannot be used: ${reason} (${file}).`, {
      cause: error,
    });
  }
}

export interface Registration {
  subscriberId: string;
  recordId: string;
  publicKey: string;
  /** Undefined before the first request to the registry. */
  registered?: boolean;
  /** When it was first known that the registry does not have it. */
  since?: Date;
  /** Its file was readable at the start and no longer is. */
  isUnreadable?: boolean;
  problem?: string;
}

export type RegistrationWatch = ReturnType<typeof watchRegistration>;

/** A registry client forgets a missing key within this time. */
const untilRegisteredMs = 30_000;
const onceRegisteredMs = 5 * 60_000;

export function watchRegistration(options: {
  /** Read each time: a key may be rotated. */
  key: () => SigningKey;
  findKey: FindKey;
  note?: (state: Registration) => Promise<void>;
  logger: Logger;
  now: () => Date;
  /** How long to wait before looking again for a key that the registry does not have. */
  askAgainMs?: number;
}) {
  const { key, findKey, note, logger, now, askAgainMs = untilRegisteredMs } = options;
  let state = describeKey(key());
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function look(): Promise<void> {
    const before = state;
    const looked = await lookAt(before, key, findKey);
    if (isClosed) return;
    state = looked.registered === false ? { ...looked, since: before.since ?? now() } : looked;
    tell(before, state, logger);
    await note?.(state).catch((error) =>
      logger.debug({ err: error }, 'the state of the key was not recorded'),
    );
    if (isClosed) return;
    timer = setTimeout(look, state.registered ? onceRegisteredMs : askAgainMs).unref();
  }

  return {
    /** The end of the first lookup, whatever its result. */
    first: look(),
    state: (): Registration => ({ ...state }),
    async close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

function describeKey({ subscriberId, recordId, privateKey }: SigningKey): Registration {
  return { subscriberId, recordId, publicKey: publicKeyOf(privateKey) };
}

/** A role continues to sign with the key that it has read: a file that has become unreadable is reported, and ends nothing. */
async function lookAt(
  { subscriberId, recordId, publicKey }: Registration,
  key: () => SigningKey,
  findKey: FindKey,
): Promise<Registration> {
  const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
  let own: SigningKey;
  try {
    own = key();
  } catch (error) {
    const problem = `The signing key of ${subscriberId} cannot be read again: ${reasonOf(error)}`;
    return { subscriberId, recordId, publicKey, isUnreadable: true, problem };
  }
  try {
    const problem = problemWith(await findKey(own.subscriberId, own.recordId), own);
    return { ...describeKey(own), registered: problem === undefined, problem };
  } catch (error) {
    return { ...describeKey(own), problem: reasonOf(error) };
  }
}

function problemWith(found: KeyLookup, { subscriberId, recordId, privateKey }: SigningKey) {
  switch (found.kind) {
    case 'unknown-subscriber':
      return `The registry does not know ${subscriberId}.`;
    case 'unknown-key':
      return `The registry knows no key ${recordId} of ${subscriberId}${found.reason ? `: ${found.reason}` : ''}.`;
    case 'unusable':
      return `The registry has the key ${recordId} of ${subscriberId}, but ${found.reason}.`;
    case 'key':
      return createPublicKey(privateKey).equals(found.publicKey)
        ? undefined
        : `The registry has a different public key for ${recordId} of ${subscriberId}.`;
  }
}

/** Once per change; the client of the registry reports that it could not be asked. */
function tell(before: Registration, now: Registration, logger: Logger): void {
  const { problem, registered, isUnreadable, since: _, ...key } = now;
  if (isUnreadable && problem !== before.problem) logger.error(key, problem);
  if (registered === false && problem !== before.problem)
    logger.warn(key, `${problem} Until this key is registered there, others refuse what this role signs.`);
  if (registered && before.registered === false) logger.info(key, 'the registry knows the key now');
}
