import { afterAll, beforeAll, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { type Discovering, startDiscovering } from '../support/network/discover.ts';
import { until } from '../support/time.ts';

// Callbacks are kept until they are delivered: a caller that accepts none must not fill the disk.

let discovering: Discovering;
beforeAll(async () => {
  discovering = await startDiscovering();
  await discovering.hold([{ id: 'tea', resources: [{ id: 'tea-1', descriptor: { name: 'Tea' } }] }]);
});
afterAll(() => discovering?.network.close());

const tea = { intent: { textSearch: 'tea' } };

it('a caller to whom hundreds of megabytes are owed is promised nothing more until it has taken some, and others are', async () => {
  const { network, discover } = discovering;
  const { database } = network;
  const deaf = await network.actor('deaf');
  const ask = () => deaf.send(actions.discover, tea, { to: network.discoveryUrl });
  expect((await ask()).status).toBe(200);
  const { rowCount } = await database.query(
    `insert into work.callback
       (role, action, message_id, destination, receiver, body, request_signature, request_id, created_at, give_up_at, due_at, attempts)
     select 'discovery', 'on_discover', number::text, $1, $1, convert_to(repeat('x', 8 * 1024 * 1024), 'UTF8'), 's', request.id, now(),
       now() + interval '1 hour', now() + interval '30 minutes', 3
     from work.request cross join generate_series(1, 33) as number
     where request.id = (select max(id) from work.request where identity = $2)`,
    ['http://127.0.0.1:9', `${deaf.id}/subscribers.beckn.one`],
  );
  expect(rowCount).toBe(33);
  const refused = await until(async () => {
    const answer = await ask();
    return answer.status === 200 ? undefined : answer;
  }, 'the deaf caller to be refused');
  expect(refused).toMatchObject({
    status: 503,
    body: { message: { status: 'NACK', error: { code: 'NET_OVERLOADED' } } },
  });
  expect((await discover(tea)).status).toBe(200);
  await database.query("delete from work.callback where receiver = 'http://127.0.0.1:9'");
  await until(async () => (await ask()).status === 200, 'the caller to be served again');
});
