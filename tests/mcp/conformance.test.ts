import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { consumerSettings } from '../support/processes/mcp-process.ts';
import { commandLine, startCommand, type UpProcess } from '../support/processes/up-process.ts';

// The public conformance suite of the Model Context Protocol against `signpost mcp`, on the loopback interface. All scenarios run; those that do not
// apply are listed here with the reason. The suite also fails if one of these passes, so the list stays correct.

const fixtures = 'it calls a tool, prompt or resource of a server that was written for the suite';
const notAnnounced = 'the server does not announce this capability';
const notApplying: Record<string, string> = {
  'logging-set-level': notAnnounced,
  'completion-complete': notAnnounced,
  ...reasonFor(fixtures, 'tools-call-', [
    ...[
      'simple-text',
      'image',
      'audio',
      'embedded-resource',
      'mixed-content',
      'with-logging',
      'error',
      'with-progress',
    ],
    ...['sampling', 'elicitation'],
  ]),
  ...reasonFor(fixtures, '', [
    'json-schema-2020-12',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
  ]),
  'server-sse-polling': fixtures,
  ...reasonFor(notAnnounced, 'resources-', [
    'list',
    'read-text',
    'read-binary',
    'templates-read',
    'subscribe',
    'unsubscribe',
  ]),
  ...reasonFor(notAnnounced, 'prompts-', [
    'list',
    'get-simple',
    'get-with-args',
    'get-embedded-resource',
    'get-with-image',
  ]),
};
const overHttp = {
  ...notApplying,
  'server-sse-multiple-streams': 'it asks for a session, and the server has none',
};
const overStdio = { ...notApplying, 'dns-rebinding-protection': 'standard input has no Host header' };

function reasonFor(reason: string, prefix: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`${prefix}${name}`, reason]));
}

let network: TestNetwork;
let settings: Record<string, string>;
let directory: string;

beforeAll(async () => {
  network = await startNetwork();
  settings = consumerSettings(network);
  directory = await mkdtemp(join(tmpdir(), 'signpost-mcp-'));
});
afterAll(async () => {
  await network?.close();
  await rm(directory, { recursive: true, force: true });
});

/** The output of the suite; rejects if a scenario that applies fails, or one passes that does not apply. */
async function runSuite(url: string, expected: Record<string, string>): Promise<string> {
  const baseline = join(directory, `${randomUUID()}.yml`);
  await writeFile(
    baseline,
    `server:\n${Object.keys(expected)
      .map((name) => `  - ${name}\n`)
      .join('')}`,
  );
  const hook = pathToFileURL(resolve('tests/mcp/older-node.mjs')).href;
  const suite = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const asked = ['server', '--url', url, '--suite', 'all', '--expected-failures', baseline];
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', hook, suite, ...asked], {
    cwd: directory,
  });
  return stdout;
}

/** Scenarios with at least one check and no failure; a warning does not count as a check. */
const passed = (said: string) =>
  [...said.matchAll(/^✓ ([\w-]+): [1-9]\d* passed, 0 failed/gm)].map(([, name]) => name);

describe('the conformance suite', () => {
  it('passes over Streamable HTTP in every scenario that applies', async () => {
    const server: UpProcess = startCommand(
      ['mcp', '--http', '127.0.0.1:0', '--json'],
      network.config.DATA_DIR,
      settings,
    );
    const said = await server.saying('tokenFile');
    const { url } = JSON.parse(said.split('\n').find((line) => line.startsWith('{')) ?? '');
    const summary = await runSuite(url, overHttp);
    expect(passed(summary)).toEqual(['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']);
    server.signal('SIGTERM');
    await server.ended;
  });

  it('passes over standard input and output in every scenario that applies', async () => {
    const bridge = await startBridge();
    const summary = await runSuite(bridge.url, overStdio);
    expect(passed(summary)).toEqual([
      'server-initialize',
      'ping',
      'tools-list',
      'server-sse-multiple-streams',
    ]);
    await bridge.close();
  });
});

/** The suite only speaks HTTP: each of its sessions becomes a process, and all messages are passed on unchanged. */
async function startBridge(): Promise<{ url: string; close(): Promise<void> }> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const children: StdioClientTransport[] = [];
  const open = async () => {
    const outer: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, outer),
    });
    const env = { PATH: process.env.PATH ?? '', ...settings };
    const inner = new StdioClientTransport({
      command: process.execPath,
      args: [commandLine, 'mcp'],
      env,
      stderr: 'ignore',
    });
    children.push(inner);
    outer.onmessage = (message) => void inner.send(message);
    inner.onmessage = (message) => void outer.send(message);
    await inner.start();
    return outer;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    await (known ?? (await open())).handleRequest(request, response);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.closeAllConnections();
      server.close();
      await Promise.all(children.map((child) => child.close()));
    },
  };
}
