import { expect } from 'vitest';
import type { Body } from '../network/actor.ts';
import { type Discovering, filter, resourceIds } from '../network/discover.ts';

// A catalog of three switches. Each version turns another one on, and its id contains the version, so that every answer shows its moment.

export const findOn = filter('$.catalogs[*].resources[?@.state == "on"]');

export interface Switches {
  /** The last version that was committed, and the last that was begun. */
  last: { committed: number; begun: number };
  publish(): Promise<void>;
  /** Fails unless the answer is the state at one moment since the search began. */
  search(): Promise<void>;
  /** The same, but the service may refuse for now. Resolves with whether it answered. */
  trySearch(): Promise<boolean>;
}

export function createSwitches(discovering: () => Discovering): Switches {
  const last = { committed: 0, begun: 0 };
  const trySearch = async () => {
    const { committed } = last;
    const { status, body, messageId } = await discovering().discover(findOn);
    if (status >= 500) return false;
    expect({ status, body }).toMatchObject({ status: 200, body: { message: { status: 'ACK' } } });
    const version = readVersion((await discovering().consumer.waitFor('on_discover', messageId)).body);
    expect(version).toBeGreaterThanOrEqual(committed);
    expect(version).toBeLessThanOrEqual(last.begun);
    return true;
  };
  return {
    last,
    async publish() {
      const version = ++last.begun;
      const resources = [0, 1, 2].map((index) => ({
        id: `v${index === version % 3 ? version : `-${index}`}`,
        descriptor: { name: 'Switch' },
        state: index === version % 3 ? 'on' : 'off',
      }));
      await discovering().hold([{ id: 'switches', resources }]);
      last.committed = version;
    },
    search: async () => expect(await trySearch(), 'the search was answered').toBe(true),
    trySearch,
  };
}

export function readVersion(answer: Body): number {
  const found = resourceIds(answer);
  expect(found).toHaveLength(1);
  return Number(found[0]?.slice(1));
}
