import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session } from '../../web/src/api/session.ts';
import { findSender, snippets } from '../../web/src/pages/find/snippets.ts';
import { buildRequest } from '../../web/src/search/intent.ts';
import type { FindQuery } from '../../web/src/search/query.ts';
import { catalog } from '../support/catalogs/sample-catalogs.ts';
import type { Body } from '../support/network/actor.ts';
import { startConsole, type TestConsole } from '../support/network/console.ts';
import { defaultNetwork } from '../support/network/network.ts';
import { publish } from '../support/network/publish.ts';
import { commandLine } from '../support/processes/up-process.ts';
import { until } from '../support/time.ts';

// The page shows a search as a program that sends it. Each program runs here as shown, against the discovery service of the page.

const run = promisify(execFile);
const query: FindQuery = {
  ...{ text: "Bob's café", network: defaultNetwork, type: '', conditions: [], expression: '', offset: 0 },
  area: {
    kind: 'polygon',
    corners: [
      [12, 77],
      [12, 78],
      [13, 78],
      [13, 77],
    ],
  },
};

describe('a search as the page shows it', () => {
  let the: TestConsole;
  let directory: string;
  let show: (name: keyof typeof snippets) => string;

  beforeAll(async () => {
    the = await startConsole();
    const provider = await the.network.actor('cafe');
    await publish(
      provider,
      catalog('cafe', {
        provider: {
          ...{ id: 'bob', descriptor: { name: 'Bob' } },
          availableAt: [{ geo: { type: 'Point', coordinates: [77.6, 12.97] } }],
        },
        resources: [{ id: 'espresso', descriptor: { name: "Espresso of Bob's café" } }],
      }),
    );
    const found = await until(async () => {
      const { body } = await the.ask('/api/find', { body: buildRequest(query) });
      return body.total > 0 && body;
    }, 'the resource to be found');
    const session: Session = (await the.ask('/api/session')).body;
    show = (name) => snippets[name]({ query, request: found.request, sender: findSender(session) });

    directory = await mkdtemp(join(tmpdir(), 'signpost-snippets-'));
    await mkdir(join(directory, 'node_modules'));
    await symlink(resolve('packages/client'), join(directory, 'node_modules/signpost-client'), 'junction');
    await symlink(resolve('examples'), join(directory, 'examples'), 'junction');
  });
  afterAll(async () => {
    await the?.network.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('finds the same in TypeScript', async () => {
    await writeFile(join(directory, 'discover.mjs'), show('typescript'));
    const { stdout } = await run(process.execPath, ['discover.mjs'], { cwd: directory });
    expect(stdout).toBe("Espresso of Bob's café 0 Bob\n");
  });

  it('finds the same in Python (needs Python with cryptography)', async (context) => {
    const python = await run('python3', ['-c', 'import cryptography']).catch(() => undefined);
    if (!python) context.skip('needs Python with cryptography');
    await writeFile(join(directory, 'discover.py'), show('python'));
    const { stdout } = await run('python3', ['-B', 'discover.py'], { cwd: directory });
    expect(stdout).toBe("Bob Espresso of Bob's café\n");
  });

  it.skipIf(process.platform === 'win32')(
    'is sent by curl, and its answer comes to the inbox of the console (needs curl and OpenSSL 3)',
    async (context) => {
      const versions = await run('sh', ['-c', 'curl --version && openssl version']).catch(() => undefined);
      if (!versions?.stdout.includes('OpenSSL 3')) context.skip('needs curl and OpenSSL 3');
      const { stdout } = await run('sh', ['-c', show('curl')], { cwd: directory });
      const { message } = JSON.parse(stdout);
      expect(message.status).toBe('ACK');
      const arrived = await until(async () => {
        const items: Body[] = (await the.ask('/api/inbox')).body.items;
        return items.find(({ messageId }) => messageId === message.messageId);
      }, 'the answer in the inbox');
      expect(arrived).toMatchObject({ action: 'on_discover', verifies: true });
      expect(arrived.body).toContain('espresso');
    },
  );

  it.skipIf(process.platform === 'win32')('finds the same as a command, also within a polygon', async () => {
    const { DATA_DIR, registryUrl, identities } = the.network.config;
    const env = {
      ...{
        PATH: process.env.PATH,
        DATA_DIR,
        REGISTRY_URL: registryUrl,
        DISCOVERY_URL: identities.discovery.url,
      },
      ALLOW_PRIVATE_ADDRESSES: 'true',
    };
    const shell = async (text: string) => {
      // Only npx is replaced: it would look for the package in npm's registry.
      const here = text.replace('npx signpost', `"${process.execPath}" "${commandLine}"`);
      return (await run('sh', ['-c', here], { cwd: directory, env })).stdout;
    };
    expect(show('command')).toContain('npx signpost send');
    expect(await shell(show('command'))).toContain("Espresso of Bob's café");
    const { area: _, ...everywhere } = query;
    const sender = findSender();
    const short = snippets.command({ query: everywhere, request: buildRequest(everywhere), sender });
    expect(short).toContain(`npx signpost discover 'Bob'\\''s café'`);
    expect(await shell(short)).toContain("Espresso of Bob's café");
  });
});
