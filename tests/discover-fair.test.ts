import { afterAll, beforeAll, expect, it } from 'vitest';
import { actions } from '../src/protocol/actions.ts';
import { type Discovering, filter, startDiscovering } from './support/discover.ts';

// Identities that ask at the same time: what one asks for never holds up another.

let discovering: Discovering;
beforeAll(async () => {
  discovering = await startDiscovering({ settings: { DISCOVER_TIMEOUT_MS: '20000' } });
  await discovering.hold([
    { id: 'simple', resources: [{ id: 'simple-1', descriptor: { name: 'Simple' } }] },
    {
      id: 'deep',
      resources: Array.from({ length: 300 }, (_, index) => ({ id: `deep-${index}`, deep: nested(40) })),
    },
  ]);
});
afterAll(() => discovering.network.close());

it('the valid filters of an identity are evaluated while the costly ones of another hold threads and wait', async () => {
  const { network, discover } = discovering;
  const attacker = await network.actor('attacker');
  const costly = filter('$.catalogs[*].resources[?count($..*..*..*..*) > 1]');
  let ended = 0;
  const attack = Promise.all(
    Array.from({ length: 30 }, async () => {
      await attacker.send(actions.discover, costly, { to: network.discoveryUrl });
      ended += 1;
    }),
  );
  // It looks at whole catalogs, so that a thread evaluates it.
  const valid = filter("$.catalogs[?@.id == 'simple'].resources[?count($.catalogs[*].resources[*]) == 1]");
  const answers = [await discover(valid), await discover(valid), await discover(valid)];
  const endedMeanwhile = ended;
  await attack;
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(endedMeanwhile).toBe(0);
});

function nested(depth: number): object {
  return depth === 0 ? {} : { more: nested(depth - 1) };
}
