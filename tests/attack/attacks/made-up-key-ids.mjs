// Requests of subscribers that there are none of: each asks the registry.
import { randomUUID } from 'node:crypto';
import { guessKeys } from '../guessed-keys.mjs';

export const behindProxy = true;

export const attack = (tools) =>
  guessKeys(tools, () => ({ subscriberId: `${randomUUID()}.attack.test`, recordId: 'key-1' }));
