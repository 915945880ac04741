import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database/database.ts';
import { until } from '../../tests/support/time.ts';
import { createGuardedClient, type GuardedClient } from '../http/guarded-client.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import type { Database } from '../storage/database.ts';
import { registerParticipant, setKeyState } from '../storage/registry/participants.ts';
import { createRegistryClient } from './client.ts';
import { type Registration, type RegistrationWatch, watchRegistration } from './registration.ts';
import { startRegistryRole } from './role.ts';

// Our own key, looked up in the registry role as others look it up.

const subscriber = { namespace: 'catalog.example.org', registryName: 'subscribers.beckn.one' };
const privateKey = privateKeyFromSeed(generateSeed());
const own = { subscriberId: subscriber.namespace, recordId: 'key-1', privateKey };
const metrics = createMetrics({ process: false });
const logger = silentLogger();

let database: Database;
let http: GuardedClient;
let role: Awaited<ReturnType<typeof startRegistryRole>>;
let watch: RegistrationWatch | undefined;
const noted: Registration[] = [];

useDatabase((opened) => {
  database = opened;
});
beforeAll(async () => {
  http = createGuardedClient({ allowPrivateAddresses: false });
  role = await startRegistryRole({ database, logger, metrics, host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  await watch?.close();
  await database.query('delete from registry.participant');
});
afterAll(async () => {
  await role.close();
  await http.close();
});

it('a key that is registered later is known at the next look', async () => {
  const { state } = await look();
  const unregistered = state();
  expect(unregistered).toEqual({
    ...{ subscriberId: 'catalog.example.org', recordId: 'key-1', publicKey: publicKeyOf(privateKey) },
    registered: false,
    since: expect.any(Date),
    problem: 'The registry does not know catalog.example.org.',
  });
  await until(() => noted.length > 2, 'more looks');
  // It lasts since the first look, and each look is told.
  expect(noted.map(({ since }) => since)).toEqual(noted.map(() => unregistered.since));
  await register('key-1', publicKeyOf(privateKey));
  await until(() => state().registered === true, 'the key to be known');
  expect([state().problem, state().since]).toEqual([undefined, undefined]);
  await until(() => noted.at(-1)?.registered === true, 'that to be told');
});

it.each([
  ['under another name', 'key-7', publicKeyOf(privateKey), 'knows no key key-1 of catalog.example.org.'],
  [
    'as another key',
    'key-1',
    publicKeyOf(privateKeyFromSeed(generateSeed())),
    'has a different public key for',
  ],
])('a subscriber whose key is registered %s is told so', async (_how, recordId, publicKey, problem) => {
  await register(recordId, publicKey);
  const { state } = await look();
  expect(state()).toMatchObject({ registered: false, problem: expect.stringContaining(problem) });
});

it('a key that was revoked is told so', async () => {
  await register('key-1', publicKeyOf(privateKey));
  await setKeyState(database, subscriber, 'revoked', 'key-1');
  const { state } = await look();
  expect(state()).toMatchObject({
    registered: false,
    problem: expect.stringContaining('but the key is in state revoked.'),
  });
});

it('a registry that cannot be queried leaves it open', async () => {
  const { state } = await look('http://127.0.0.1:1');
  expect(state().registered).toBeUndefined();
  expect(state().problem).toContain('could not be queried');
});

it('a seed that can no longer be read is told, and ends nothing', async () => {
  let isGone = false;
  const key = () => {
    if (isGone) throw new Error('There is no key-1.seed.');
    return own;
  };
  const { state } = await look(role.url, key);
  isGone = true;
  await until(() => state().isUnreadable === true, 'the missing seed to be noticed');
  expect(state()).toEqual({
    ...{ subscriberId: 'catalog.example.org', recordId: 'key-1', publicKey: publicKeyOf(privateKey) },
    isUnreadable: true,
    problem: 'The signing key of catalog.example.org cannot be read again: There is no key-1.seed.',
  });
  isGone = false;
  await register('key-1', publicKeyOf(privateKey));
  await until(() => state().registered === true, 'the seed to be read again');
  expect(state().problem).toBeUndefined();
});

/** Each question is asked anew: what a client has not found it remembers for half a minute. */
async function look(url = role.url, key = () => own): Promise<RegistrationWatch> {
  const { registryName } = subscriber;
  const findKey = (...asked: [string, string]) =>
    createRegistryClient({ url, registryName, client: http, logger, metrics }).findKey(...asked);
  const note = async (state: Registration) => void noted.push(state);
  watch = watchRegistration({ key, findKey, note, logger, now: () => new Date(), askAgainMs: 20 });
  await watch.first;
  return watch;
}

function register(recordId: string, publicKey: string) {
  return registerParticipant(database, {
    ...subscriber,
    subscriberId: subscriber.namespace,
    networkIds: [],
    key: { recordId, publicKey },
  });
}
