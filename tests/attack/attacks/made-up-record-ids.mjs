// Requests in the name of the honest client, each with another recordId that does not exist.
import { randomUUID } from 'node:crypto';
import { guessKeys } from '../guessed-keys.mjs';

export const behindProxy = true;

export const attack = (tools) =>
  guessKeys(tools, () => ({ subscriberId: tools.people.shopper.id, recordId: `key-${randomUUID()}` }));
