import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sameSignalMs } from '../../src/cli/interrupt.ts';
import { checkerSeed } from '../support/conform/request-faults.ts';
import { makeDataDir, startCommand } from '../support/processes/up-process.ts';
import { takeTime, until, watchFor } from '../support/time.ts';

// Ctrl-C while `signpost conform` waits for a registry and a service that never answer.

let silent: Server;
let asked = 0;
let home: Awaited<ReturnType<typeof makeDataDir>>;

beforeEach(async () => {
  home = await makeDataDir();
  asked = 0;
  silent = createServer(() => {
    asked += 1;
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  silent?.closeAllConnections();
  silent?.close();
  await home?.remove();
});

async function startWaiting(role: string) {
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const asker = role === 'tree' ? [] : ['--as', 'asker.signpost.test', '--key', checkerSeed];
  const args = ['conform', url, '--role', role, ...asker];
  const checking = startCommand(args, home.dataDir, { REGISTRY_URL: url });
  await until(() => asked > 0, 'a request', 20_000);
  return checking;
}

it('conform is not killed by a Ctrl-C that comes twice, as under npm, and ends with 130', async () => {
  const checking = await startWaiting('catalog');
  checking.signal('SIGINT');
  await checking.saying('then withdrawing the published catalogs. Ctrl-C again ends at once.');
  checking.signal('SIGINT');
  await watchFor(sameSignalMs / 2);
  silent.closeAllConnections();
  silent.close();
  expect(await checking.ended).toEqual({ code: 130, signal: null });
  expect(checking.said().match(/Ctrl-C again/g)).toHaveLength(1);
});

it('conform is killed by a second Ctrl-C', async () => {
  const checking = await startWaiting('catalog');
  checking.signal('SIGINT');
  await checking.saying('Ctrl-C again ends at once.');
  await takeTime(2 * sameSignalMs);
  checking.signal('SIGINT');
  expect(await checking.ended).toEqual({ code: null, signal: 'SIGINT' });
});

it('conform of a tree, which is only read, speaks of no withdrawal and ends with 130', async () => {
  const checking = await startWaiting('tree');
  checking.signal('SIGINT');
  expect(await checking.ended).toEqual({ code: 130, signal: null });
  expect(checking.said()).toBe('Ending. Ctrl-C again ends at once.\n0 checks: 0 passed, 0 failed.\n');
});
