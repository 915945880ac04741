import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerDeliveriesCommand } from '../../../src/cli/deliveries.ts';
import { actions } from '../../../src/protocol/actions.ts';
import type { Actor, Body, Received } from '../../support/network/actor.ts';
import { type Discovering, filter, startDiscovering } from '../../support/network/discover.ts';
import type { TestNetwork } from '../../support/network/network.ts';
import { type Closed, likeOnix, refuseWhatIsClosed } from '../../support/peers/closed-consumer.ts';
import { hopeless, isAccepted, joinClosed, loose, sentTo } from '../../support/peers/closed-receivers.ts';
import { runCommand } from '../../support/processes/command.ts';

// One provider must not silence the others: an on_discover reaches consumers with closed schemas (protocol decision: strict form).

let network: TestNetwork;
let shopper: Actor;
let hold: Discovering['hold'];

beforeAll(async () => {
  ({ network, consumer: shopper, hold } = await startDiscovering());
});
afterAll(() => network?.close());

/** Indexes catalogs that this word finds. */
async function holdAll(word: string, contents: readonly object[]): Promise<void> {
  await hold(
    contents.map((content, index) => ({
      id: `${word}-${index}`,
      resources: [{ id: `${word}-${index}-r`, kind: word }],
      ...content,
    })),
  );
}

const good = {};
let words = 0;
const newWord = () => `leaf-${words++}`;

async function discover(consumer: Actor, word: string): Promise<string> {
  const message = filter(`$.catalogs[*].resources[?@.kind == '${word}']`);
  const { status, messageId } = await consumer.send(actions.discover, message, { to: network.discoveryUrl });
  expect(status).toBe(200);
  return messageId;
}

const sendsOf = async (consumer: Actor, word: string) =>
  sentTo(network, consumer, await discover(consumer, word));

const idsIn = ({ body }: Received): string[] => body.message.catalogs.map(({ id }: Body) => id);
const acceptedIds = (sends: Received[]) => sends.filter(isAccepted).flatMap(idsIn);
const ids = (word: string, ...indexes: number[]) => indexes.map((index) => `${word}-${index}`);

describe('an on_discover with one catalog that closed schemas refuse', () => {
  it.each<[string, Closed]>([
    ['answers 400, as Beckn-ONIX', likeOnix],
    ['answers 200 with NACK', { path: 'jsonPath', nack: true }],
    ['does not say where the fault is', { path: 'none' }],
  ])('arrives whole, in strict form, at a consumer that %s', async (what, closed) => {
    const word = newWord();
    await holdAll(word, [good, loose, good]);
    const consumer = await joinClosed(network, `closed-${what.length}`, closed);
    const { sends, delivery } = await sendsOf(consumer, word);
    expect(sends.map(isAccepted)).toEqual([false, true]);
    const [full, strict] = sends as [Received, Received];
    expect(idsIn(strict).sort()).toEqual(ids(word, 0, 1, 2));
    expect(strict.body.context).toEqual(full.body.context);
    const found = (one: Received) => one.body.message.catalogs.find(({ id }: Body) => id === `${word}-1`);
    expect(found(full)).toMatchObject(loose);
    expect(found(strict)).toMatchObject({
      descriptor: { name: 'Loose' },
      validity: { startDate: '2026-01-01T00:00:00Z', endDate: '2099-12-31T23:59:59.999Z' },
    });
    expect(delivery).toMatchObject({ state: 'delivered', form: 'strict', attempts: 1, lastError: null });
  });

  it('is remembered: the next one is strict at once, in every process, and everything again after a day', async () => {
    const word = newWord();
    await holdAll(word, [good, loose]);
    const consumer = await joinClosed(network, 'remembered');
    expect((await sendsOf(consumer, word)).sends).toHaveLength(2);
    expect((await sendsOf(consumer, word)).sends.map(isAccepted)).toEqual([true]);
    await network.restart();
    expect((await sendsOf(consumer, word)).sends.map(isAccepted)).toEqual([true]);
    const { rows } = await network.database.query(
      `update work.receiver_form set until = until - interval '24 hours' where receiver like 'remembered.%'
       returning form, until <= now() and until > now() - interval '1 hour' as "isADayLater"`,
    );
    expect(rows).toEqual([{ form: 'strict', isADayLater: true }]);
    await network.restart();
    expect((await sendsOf(consumer, word)).sends.map(isAccepted)).toEqual([false, true]);
  });

  it('has everything for a tolerant consumer', async () => {
    const word = newWord();
    await holdAll(word, [good, loose]);
    const { sends, delivery } = await sendsOf(shopper, word);
    expect(sends).toHaveLength(1);
    expect(sends[0]?.body.message.catalogs).toContainEqual(expect.objectContaining(loose));
    expect(delivery).toMatchObject({ state: 'delivered', form: 'full' });
  });

  it('is not sent again to a consumer that refuses it for another reason', async () => {
    const word = newWord();
    await holdAll(word, [good, loose]);
    const consumer = await network.actor('moody');
    const error = { code: 'CTX_INVALID_FIELD', message: 'not today' };
    consumer.behave(() => ({ status: 400, body: { message: { status: 'NACK', error } } }));
    const { sends, delivery } = await sendsOf(consumer, word);
    expect(sends).toHaveLength(1);
    expect(delivery).toMatchObject({ state: 'refused', form: 'full' });
  });
});

describe('an on_discover that is refused in strict form too', () => {
  it.each<Closed['path']>(['jsonPath', 'brackets', 'jsonPointer', 'slashes'])(
    'is sent without the catalog that the error names (%s)',
    async (path) => {
      const word = newWord();
      await holdAll(word, [good, loose, hopeless, good]);
      const consumer = await joinClosed(network, `named-${path.toLowerCase()}`, { path });
      const { sends, delivery } = await sendsOf(consumer, word);
      expect(sends.map(isAccepted)).toEqual([false, false, true]);
      expect(acceptedIds(sends).sort()).toEqual(ids(word, 0, 1, 3));
      expect(new Set(sends.map(({ body }) => body.context.messageId)).size).toBe(1);
      expect(delivery).toMatchObject({
        ...{ state: 'delivered', form: 'strict' },
        lastError: expect.stringMatching(
          /^1 of 4 catalogs were left out: the receiver answered 400: SCH_FIELD_NOT_ALLOWED .*docs.*pages.*\)$/,
        ),
      });
    },
  );

  it('is not sent a second time where strict form changes nothing', async () => {
    const word = newWord();
    await holdAll(word, [good, hopeless, good]);
    const consumer = await joinClosed(network, 'unchanged');
    const { sends } = await sendsOf(consumer, word);
    expect(sends.map(isAccepted)).toEqual([false, true]);
    expect(acceptedIds(sends).sort()).toEqual(ids(word, 0, 2));
  });

  it('is sent in halves where the error names none, six times in all', async () => {
    const word = newWord();
    await holdAll(word, [loose, good, good, good, good, good, good, hopeless]);
    const consumer = await joinClosed(network, 'halving', { path: 'none' });
    const { sends, delivery } = await sendsOf(consumer, word);
    expect(sends).toHaveLength(6);
    expect(sends.slice(2).map((send) => idsIn(send).length)).toEqual([4, 4, 2, 2]);
    expect(acceptedIds(sends)).toHaveLength(6);
    expect(acceptedIds(sends)).not.toContain(`${word}-7`);
    expect(delivery).toMatchObject({
      ...{ state: 'delivered', form: 'strict' },
      lastError: expect.stringContaining('2 of 8 catalogs were left out'),
    });
  });

  it('is parked where nothing of it is accepted, after six sends', async () => {
    const word = newWord();
    await holdAll(
      word,
      Array.from({ length: 9 }, () => ({ ...hopeless, validity: loose.validity })),
    );
    const consumer = await joinClosed(network, 'hopeless', { path: 'jsonPath' });
    const { sends, delivery } = await sendsOf(consumer, word);
    expect(sends).toHaveLength(6);
    expect(acceptedIds(sends)).toEqual([]);
    expect(delivery).toMatchObject({ state: 'refused', form: 'strict', lastStatus: 400 });
  });

  it('goes on where it was when a part could not be delivered: nothing that was accepted is sent again', async () => {
    const word = newWord();
    await holdAll(word, [loose, good, good, hopeless]);
    const consumer = await network.actor('busy');
    const refuse = refuseWhatIsClosed({ path: 'none' });
    let partsLeft = 1;
    consumer.behave((received) => {
      const isPart = received.body.message.catalogs.length < 4;
      if (isPart && partsLeft-- === 0) return { status: 503 };
      return refuse(received);
    });
    const { sends, delivery } = await sendsOf(consumer, word);
    expect(sends.map((send) => idsIn(send).length)).toEqual([4, 4, 2, 2, 2, 1, 1]);
    expect(idsIn(sends[4] as Received)).toEqual(idsIn(sends[3] as Received));
    expect(sends[4]?.raw).toEqual(sends[3]?.raw);
    expect(new Set(acceptedIds(sends)).size).toBe(3);
    expect(delivery).toMatchObject({ state: 'delivered', form: 'strict', attempts: 2 });
  });
});

it('A large on_discover is brought into strict form too', async () => {
  const word = newWord();
  const resources = Array.from({ length: 300 }, (_, index) => ({
    ...{ id: `large-${index}`, kind: word, descriptor: { short_desc: 'x'.repeat(5_000) } },
  }));
  await holdAll(word, [good, { resources }]);
  const consumer = await joinClosed(network, 'large');
  const { sends } = await sendsOf(consumer, word);
  expect(sends.map(isAccepted)).toEqual([false, true]);
  const [full, strict] = sends as [Received, Received];
  expect(full.raw.length).toBeGreaterThan(1_500_000);
  expect(strict.raw.length).toBeLessThan(100_000);
  expect(idsIn(strict).sort()).toEqual(idsIn(full).sort());
});

it('`signpost deliveries list` shows the form, and what was left out', async () => {
  const settings = { DATABASE_URL: network.databaseUrl, LOG_LEVEL: 'silent' };
  const { out } = await runCommand(registerDeliveriesCommand, ['deliveries', 'list'], settings);
  expect(out).toMatch(/^callback-\d+ +delivered .* on_discover \S+ +strict +1 +- +- *$/m);
  expect(out).toMatch(/^callback-\d+ +delivered .* on_discover \S+ +full +1 +- +- *$/m);
  expect(out).toMatch(/ strict +1 +- +- +1 of 4 catalogs were left out: the receiver answered 400: SCH_/);
});
