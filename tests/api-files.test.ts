import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Action, actions } from '../src/protocol/actions.ts';
import { findTriggerToken } from '../src/publisher/trigger-token.ts';
import type { Actor } from './support/actor.ts';
import { readWorkflows, runWorkflow, type StepAnswer, type StepRequest } from './support/arazzo.ts';
import { startConsole, type TestConsole } from './support/console.ts';

// docs/api as others use it: the flows and the collection run against a network.

const folder = 'docs/api';
let the: TestConsole;
let actors: Record<string, Actor>;

beforeAll(async () => {
  the = await startConsole({ ROLES: 'registry,catalog,discovery,publisher,console' });
  const { network } = the;
  const names = ['provider', 'consumer', 'subscriber'];
  actors = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await network.actor(`flow-${name}`)] as const)),
  );
});
afterAll(() => the?.network.close());

describe('the files of docs/api', () => {
  it('are those that scripts/api-files.mjs makes of what is built', async () => {
    await promisify(execFile)(process.execPath, ['scripts/api-files.mjs', '--check']);
  });
});

describe('the flows of docs/api/flows.arazzo.json', () => {
  const workflows = readWorkflows(join(folder, 'flows.arazzo.json'));

  it.each(workflows.map((workflow) => [workflow.workflowId, workflow] as const))(
    'run from the first step to the last callback: %s',
    async (_, workflow) => {
      const nodeId = the.network.config.identities.publisher.id;
      await runWorkflow(workflow, { nodeId }, send);
      for (const { 'x-callback': callback, 'x-signed-by': signer = '' } of workflow.steps)
        if (callback !== undefined) await actors[signer]?.waitFor(callback);
    },
  );
});

async function send({ source, operationId, signedBy, query, payload }: StepRequest): Promise<StepAnswer> {
  const { config, catalogUrl, discoveryUrl } = the.network;
  const to = { catalog: catalogUrl, discovery: discoveryUrl, trigger: config.triggerUrl }[source] ?? '';
  const actor = actors[signedBy ?? ''];
  if (!actor) return post(to, operationId, payload);
  const action: Action = actions[operationId as keyof typeof actions];
  const message = (payload as { message?: object } | undefined)?.message;
  return actor.send(action, message, { to, query });
}

/** Unsigned; the trigger asks for its token. */
async function post(to: string, operationId: string, payload: object | undefined): Promise<StepAnswer> {
  const path = { publishFiles: '/catalog/publish', hintCrawl: '/crawl-hints' }[operationId];
  const token = findTriggerToken(the.network.config);
  const response = await fetch(`${to}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(payload),
  });
  return { status: response.status, body: await response.json() };
}

describe('the Bruno collection', () => {
  const variables = new Map<string, string>();
  const requests = readdirSync(join(folder, 'bruno'))
    .filter((name) => name.endsWith('.bru') && name !== 'collection.bru')
    .map((name) => readBlocks(join(folder, 'bruno', name)))
    .sort((a, b) => sequenceOf(a) - sequenceOf(b));

  it.each(requests.map((blocks) => [/^name: (.*)$/m.exec(blocks.meta ?? '')?.[1], blocks] as const))(
    'has a request that the service accepts: %s',
    async (_, blocks) => {
      const { status, text } = await runRequest(blocks, variables);
      expect(text).not.toContain('NACK');
      expect([200, 202]).toContain(status);
    },
  );
});

type Blocks = Record<string, string>;

function readBlocks(file: string): Blocks {
  const blocks = readFileSync(file, 'utf8').matchAll(/^([\w:-]+) \{\n([\s\S]*?)\n\}$/gm);
  return Object.fromEntries([...blocks].map(([, name, text = '']) => [name, text.replace(/^ {2}/gm, '')]));
}

function sequenceOf({ meta = '' }: Blocks): number {
  return Number(/^seq: (\d+)$/m.exec(meta)?.[1]);
}

/** Sends a request as Bruno does: variables filled in, then the script of the collection, then the one after the answer. */
async function runRequest(blocks: Blocks, variables: Map<string, string>) {
  const { network } = the;
  const environment: Record<string, string> = {
    catalogUrl: network.catalogUrl,
    discoveryUrl: network.discoveryUrl,
    ...describeSigner('provider'),
    ...describeSigner('consumer'),
  };
  const fill = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name) => environment[name] ?? variables.get(name) ?? '');
  const method = ['get', 'post', 'delete'].find((name) => blocks[name] !== undefined) ?? '';
  const url = fill(/^url: (.*)$/m.exec(blocks[method] ?? '')?.[1] ?? '');
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  let body = blocks['body:json'] && fill(blocks['body:json']);
  const signer = /^signer: (.*)$/m.exec(blocks['vars:pre-request'] ?? '')?.[1];
  const bru = {
    getEnvVar: (name: string) => environment[name],
    getRequestVar: () => signer,
    getVar: (name: string) => variables.get(name),
    setVar: (name: string, value: string) => variables.set(name, value),
  };
  const req = {
    getMethod: () => method.toUpperCase(),
    getBody: () => body && JSON.parse(body),
    setBody: (text: string) => {
      body = text;
    },
    setHeader: (name: string, value: string) => {
      headers[name] = value;
    },
  };
  runScript(readBlocks(join(folder, 'bruno', 'collection.bru'))['script:pre-request'] ?? '', { bru, req });
  if (method !== 'post') delete headers['content-type'];
  const response = await fetch(url, { method: method.toUpperCase(), headers, body });
  const text = await response.text();
  runScript(blocks['script:post-response'] ?? '', { bru, res: { getBody: () => JSON.parse(text) } });
  return { status: response.status, text };
}

function describeSigner(name: string): Record<string, string> {
  const actor = actors[name];
  if (!actor) throw new Error(`there is no ${name}`);
  const { d = '' } = actor.key.privateKey.export({ format: 'jwk' });
  return {
    [`${name}Id`]: actor.id,
    [`${name}Uri`]: actor.url,
    [`${name}KeyId`]: actor.key.recordId,
    [`${name}Seed`]: Buffer.from(d, 'base64url').toString('base64'),
  };
}

function runScript(script: string, scope: Record<string, object>): void {
  const names = ['require', ...Object.keys(scope)];
  new Function(...names, script)(createRequire(import.meta.url), ...Object.values(scope));
}
