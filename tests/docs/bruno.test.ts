import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConsole, type TestConsole } from '../support/network/console.ts';
import { brunoSigner } from '../support/pages/bruno.ts';

// The collection of docs/api/bruno, run by Bruno's own command line, which is downloaded from npm's registry because it is too large for a dependency.

const run = promisify(execFile);
const bruno = '@usebruno/cli@4.1.0';
const installTimeoutMs = 300_000;

describe('the Bruno collection', () => {
  let the: TestConsole;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-bruno-'));
    await run('npm', [
      'install',
      '--prefix',
      directory,
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      bruno,
    ]);
    the = await startConsole({ ROLES: 'registry,catalog,discovery,publisher,console' });
  }, installTimeoutMs);
  afterAll(async () => {
    await the?.network.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('is run by Bruno, which signs by its script, and every assertion of it holds', async () => {
    const { network } = the;
    const variables = {
      catalogUrl: network.catalogUrl,
      discoveryUrl: network.discoveryUrl,
      ...brunoSigner('provider', await network.actor('bruno-provider')),
      ...brunoSigner('consumer', await network.actor('bruno-consumer')),
    };
    const given = Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]);
    const { stdout } = await run(
      join(directory, 'node_modules', '.bin', 'bru'),
      ['run', '--env', 'demo', '--sandbox', 'developer', ...given],
      { cwd: resolve('docs/api/bruno') },
    );
    expect(stdout).toMatch(/Requests\W+9 \(9 Passed\)|Requests: +9 passed, 9 total/);
  });
});
