import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from './support/time.ts';
import { makeDataDir, startCommand } from './support/up-process.ts';

// Ctrl-C while a service is checked that never answers.

let silent: Server;
let asked = 0;
let home: Awaited<ReturnType<typeof makeDataDir>>;

beforeAll(async () => {
  home = await makeDataDir();
  silent = createServer(() => {
    asked += 1;
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  silent?.closeAllConnections();
  silent?.close();
  await home?.remove();
});

it('conform says at once that it was heard, and ends at once when told again', async () => {
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const checking = startCommand(['conform', url, '--role', 'tree'], home.dataDir, { REGISTRY_URL: url });
  await until(() => asked > 0, 'a request');
  checking.signal('SIGINT');
  await checking.saying('Ctrl-C again ends at once.');
  checking.signal('SIGINT');
  expect((await checking.ended).code).not.toBe(0);
});
