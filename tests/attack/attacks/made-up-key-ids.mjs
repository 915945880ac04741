// Requests of subscribers that do not exist: each causes a lookup in the registry.
import { randomUUID } from 'node:crypto';
import { guessKeys } from '../guessed-keys.mjs';

export const behindProxy = true;

export const attack = (tools) =>
  guessKeys(tools, () => ({ subscriberId: `${randomUUID()}.attack.test`, recordId: 'key-1' }));
