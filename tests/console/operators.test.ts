import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerOperatorsCommand } from '../../src/cli/operators.ts';
import { consoleOf } from '../support/network/console.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { runCommand } from '../support/processes/command.ts';

// Operators with a name and a role, as `signpost operators` makes them, at a console that does not listen on loopback and therefore needs a token for
// everything.

let network: TestNetwork;
let url: string;
beforeAll(async () => {
  const settings = { ROLES: 'registry,catalog,console', CONSOLE_HOST: '0.0.0.0' };
  network = await startNetwork({ settings });
  url = network.config.consoleUrl;
});
afterAll(() => network?.close());

const operators = (...args: string[]) =>
  runCommand(registerOperatorsCommand, ['operators', ...args], {
    DATABASE_URL: network.databaseUrl,
    LOG_LEVEL: 'silent',
  });

async function create(name: string, role: string): Promise<string> {
  const { out } = await operators('create', name, '--role', role, '--json');
  return JSON.parse(out).token;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function ask(path: string, headers: Record<string, string>, method = 'GET', body?: object) {
  const response = await fetch(url + path, {
    ...{ method, headers: { ...headers, ...(body && { 'content-type': 'application/json' }) } },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined, headers: response.headers };
}

async function signIn(token: string): Promise<Record<string, string>> {
  const { headers } = await ask('/api/session', {}, 'POST', { token });
  return { cookie: String(headers.get('set-cookie')).split(';')[0] ?? '', 'x-signpost': 'console' };
}

describe('an operator', () => {
  // 409 and 400 come from the route: the guard let the request through.
  it.each([
    ['read', [200, 403, 403]],
    ['operate', [200, 409, 403]],
    ['publish', [200, 409, 400]],
  ])('with the role %s gets a list, a replay and a publish answered %j', async (role, expected) => {
    const token = await create(`${role}er`, role);
    for (const headers of [bearer(token), await signIn(token)]) {
      const answers = [
        await ask('/api/audit', headers),
        await ask('/api/deliveries/push-999999/replay', headers, 'POST'),
        await ask('/api/publish', headers, 'POST', {}),
      ];
      expect(answers.map(({ status }) => status)).toEqual(expected);
      const { body } = await ask('/api/session', headers);
      expect(body.operator).toEqual({ name: `${role}er`, role });
    }
  });

  it('is refused by name, and learns which role it takes', async () => {
    const headers = bearer(await create('rita', 'read'));
    const { status, body } = await ask('/api/publish', headers, 'POST', {});
    expect([status, body.error]).toEqual([
      403,
      {
        code: 'AUT_UNAUTHORIZED_ACTION',
        message: 'The operator rita has the role read; this needs the role publish.',
        hint: expect.stringContaining('--role publish'),
      },
    ]);
  });

  it('is named in the audit log: when signing in, and with what was done', async () => {
    const token = await create('anna@example.org', 'operate');
    await ask('/api/deliveries/push-999999/replay', await signIn(token), 'POST');
    const { items } = await consoleOf(network).get('/api/audit?limit=3');
    expect(items).toMatchObject([
      { operator: 'anna@example.org', actor: 'console', action: 'deliveries.replay', from: '127.0.0.1' },
      { operator: 'anna@example.org', actor: 'console', action: 'session.open', outcome: 'done' },
      { actor: 'cli', action: 'operators.create', target: 'anna@example.org (operate)' },
    ]);
  });

  it('is out at once when revoked: token, session and open event stream', async () => {
    const token = await create('leaver', 'publish');
    const session = await signIn(token);
    const stream = await fetch(`${url}/api/events`, { headers: session });
    const reading = stream.text();
    const isIn = async (headers: Record<string, string>) => (await ask('/api/audit', headers)).status;
    expect([await isIn(bearer(token)), await isIn(session)]).toEqual([200, 200]);
    expect(await operators('revoke', 'leaver')).toMatchObject({ exitCode: 0 });
    expect([await isIn(bearer(token)), await isIn(session)]).toEqual([401, 401]);
    await reading;
    // The next operator of that name is another person.
    expect(await isIn(bearer(await create('leaver', 'read')))).toBe(200);
    expect(await isIn(session)).toBe(401);
  });

  it('is stored without the token', async () => {
    const token = await create('secret', 'read');
    const { rows } = await network.database.query('select * from console.operator');
    expect(JSON.stringify(rows)).not.toContain(token);
    expect((await operators('list')).out).not.toContain(token);
  });

  it('cannot be forged by who has read the database', async () => {
    const token = await create('victim', 'publish');
    const { cookie = '' } = await signIn(token);
    const forged = cookie.replace(/\.victim$/, '.operator');
    expect((await ask('/api/audit', { cookie: forged })).status).toBe(401);
    const { rows } = await network.database.query<{ hash: string }>(
      "select encode(token_hash, 'hex') as hash from console.operator where name = 'victim'",
    );
    expect((await ask('/api/audit', bearer(rows[0]?.hash ?? ''))).status).toBe(401);
  });
});

describe('signpost operators', () => {
  it('lists names and roles', async () => {
    await create('bob', 'operate');
    const { out } = await operators('list');
    expect(out).toMatch(/^NAME +ROLE +CREATED$/m);
    expect(out).toMatch(/^bob +operate +\d{4}-/m);
  });

  it.each([
    [['create', 'bob', '--role', 'read'], 'An operator bob already exists.'],
    [['create', 'operator', '--role', 'read'], 'is the name of'],
    [['create', 'a b', '--role', 'read'], '1 to 64 letters'],
    [['create', 'eve', '--role', 'root'], 'Allowed choices are read, operate, publish'],
    [['create', 'eve'], '--role'],
    [['revoke', 'nobody'], 'There is no operator nobody. To list them'],
  ])('refuses %j', async (args, reason) => {
    expect(await operators(...args)).toMatchObject({ exitCode: 1, notes: expect.stringContaining(reason) });
  });
});
