import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { register as registerDiscoverCommand } from '../../src/cli/discover.ts';
import { actions } from '../../src/protocol/actions.ts';
import type { Actor } from '../support/network/actor.ts';
import { type Discovering, filter, resourceIds, startDiscovering } from '../support/network/discover.ts';
import type { TestNetwork } from '../support/network/network.ts';
import { refuseWhatIsClosed } from '../support/peers/closed-consumer.ts';
import { type CommandRun, runCommand } from '../support/processes/command.ts';

// Searches that match many resources, by a consumer with closed schemas.

let network: TestNetwork;
let consumer: Actor;
let hold: Discovering['hold'];
let found: Discovering['found'];
const logged: Record<string, unknown>[] = [];

beforeAll(async () => {
  const logger = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  ({ network, consumer, hold, found } = await startDiscovering({ logger }));
  consumer.behave(refuseWhatIsClosed());
  await hold([
    { id: 'a hundred and fifty', resources: resources('cup', 150) },
    { id: 'a thousand', resources: resources('plate', 1_000) },
    { id: 'more', resources: resources('bowl', 1_200) },
    { id: 'large', resources: resources('jug', 30, 'x'.repeat(400_000)) },
  ]);
});
beforeEach(() => {
  logged.length = 0;
});
afterAll(() => network.close());

function resources(kind: string, count: number, text?: string) {
  return Array.from({ length: count }, (_, index) => ({
    id: `${kind}-${index}`,
    kind,
    ...(text !== undefined && { text }),
  }));
}

const every = (kind: string) => filter(`$.catalogs[*].resources[?@.kind == '${kind}']`);

/** Log lines about truncated answers. */
const cuts = () => logged.filter(({ leftOut }) => leftOut !== undefined);

function discover(...args: string[]): Promise<CommandRun> {
  const { config, databaseUrl, discoveryUrl } = network;
  return runCommand(registerDiscoverCommand, ['discover', ...args], {
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.DATA_DIR,
    REGISTRY_URL: config.registryUrl,
    DISCOVERY_URL: discoveryUrl,
  });
}

describe('a broad search without limit and offset', () => {
  it('reaches a consumer whose schema is closed: on_discover has catalogs and no pagination', async () => {
    const { message } = await found(every('cup'));
    expect(Object.keys(message)).toEqual(['catalogs']);
    expect(message.catalogs[0].resources).toHaveLength(150);
    expect(cuts()).toEqual([]);
  });

  it('brings up to 1,000 resources, and what is left out is logged', async () => {
    expect((await found(every('plate'))).message.catalogs[0].resources).toHaveLength(1_000);
    expect(cuts()).toEqual([]);
    const { message, context } = await found(every('bowl'));
    expect(message).not.toHaveProperty('pagination');
    expect(message.catalogs[0].resources).toHaveLength(1_000);
    expect(cuts()).toMatchObject([
      { messageId: context.messageId, leftOut: { resources: 1, orMore: true, offers: 0 } },
    ]);
  });

  it('says in a header of the acknowledgement and of on_discover that it was cut; a repeat says it again', async () => {
    const truncated = async (message: object) => {
      const { body: raw, messageId } = consumer.sign(actions.discover, message);
      const send = () => consumer.send(actions.discover, undefined, { to: network.discoveryUrl, raw });
      const sent = await send();
      const { headers } = await consumer.waitFor('on_discover', messageId);
      return [sent, await send()]
        .map((answer) => answer.headers.get('signpost-truncated'))
        .concat(String(headers['signpost-truncated']));
    };
    expect(await truncated(every('bowl'))).toEqual(['1000', '1000', '1000']);
    expect(await truncated(every('plate'))).toEqual([null, null, 'undefined']);
    expect(await truncated({ ...every('bowl'), limit: 10 })).toEqual([null, null, 'undefined']);
  });

  it('ends between two resources before it has 8 MiB', async () => {
    const body = await found(every('jug'));
    const { raw } = await consumer.waitFor('on_discover', body.context.messageId);
    expect(raw.length).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(raw.length).toBeGreaterThan(8 * 1024 * 1024 - 500_000);
    expect(resourceIds(body)).toEqual(Array.from({ length: 20 }, (_, index) => `jug-${index}`));
    expect(cuts()).toMatchObject([{ leftOut: { resources: 10, orMore: false } }]);
  });

  it('is explained with what it leaves out', async () => {
    const where = '@.kind == "jug"';
    const { steps, leftOut } = JSON.parse((await discover('--where', where, '--explain', '--json')).out);
    expect(leftOut).toEqual({ resources: 10, orMore: false, offers: 0 });
    expect(steps).toContainEqual({ step: 'cut', leftOut });
    expect((await discover('--where', where, '--explain')).out).toContain(
      'Resources in the answer: 20; left out: 10 other resources',
    );
    expect((await discover('--where', '@.kind == "bowl"', '--explain')).out).toContain(
      'Resources in the answer: 1000; left out: 1 or more other resources',
    );
  });

  it('is taken by our own consumer, whatever its size', async () => {
    const run = await discover('--where', '@.kind == "jug"', '--json');
    expect(run.notes).not.toContain('Refused');
    const { catalogs, pagination } = JSON.parse(run.out);
    expect(catalogs[0].resources).toHaveLength(20);
    expect(pagination).toBeUndefined();
    const cut = 'The service cut this answer: there are more.';
    expect(run.notes).toContain(cut);
    const many = await discover('--where', '@.kind == "bowl"');
    expect(many.out).toMatch(/1,000 resources of 1 catalog\.\n$/);
    expect(many.notes).toContain(cut);
    expect((await discover('--where', '@.kind == "plate"')).notes).not.toContain(cut);
  });
});

describe('a search with limit or offset', () => {
  const paged = async (message: object) => {
    consumer.behave(() => undefined);
    const { message: answer } = await found(message);
    consumer.behave(refuseWhatIsClosed());
    return { pagination: answer.pagination, count: answer.catalogs[0].resources.length };
  };

  it.each([
    ['a page', 'cup', { limit: 20 }, { pagination: { total: 150, limit: 20, offset: 0 }, count: 20 }],
    [
      'the rest',
      'cup',
      { offset: 140 },
      { pagination: { total: 150, limit: 1_000, offset: 140 }, count: 10 },
    ],
    ['a thousand', 'plate', { limit: 5 }, { pagination: { total: 1_000, limit: 5, offset: 0 }, count: 5 }],
    [
      'more',
      'bowl',
      { limit: 1_000 },
      { pagination: { total: 1_001, limit: 1_000, offset: 0 }, count: 1_000 },
    ],
    ['large ones', 'jug', { limit: 25 }, { pagination: { total: 30, limit: 20, offset: 0 }, count: 20 }],
  ])(
    'says which page it is, with a total that is exact up to 1,000: %s',
    async (_, kind, paging, expected) => {
      expect(await paged({ ...every(kind), ...paging })).toEqual(expected);
      expect(cuts()).toEqual([]);
    },
  );
});
