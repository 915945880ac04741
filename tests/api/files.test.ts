import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { bruToJsonV2, collectionBruToJson } from '@usebruno/lang';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenApiDocument, Operation } from '../../src/http/openapi.ts';
import { type Action, actions } from '../../src/protocol/actions.ts';
import { findTriggerToken } from '../../src/publisher/trigger-token.ts';
import type { Actor } from '../support/network/actor.ts';
import { consoleOf, startConsole, type TestConsole } from '../support/network/console.ts';
import { readWorkflows, runWorkflow, type StepAnswer, type StepRequest } from '../support/pages/arazzo.ts';
import { type BrunoRequest, brunoSigner } from '../support/pages/bruno.ts';

// docs/api as its users run it: the flows and the collection, against a network.

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

describe('the documents', () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));

  it.each(names)('are found without fault by the linter of Redocly: %s', async (name) => {
    expect(await lintText(readFileSync(join(folder, name), 'utf8'), name)).toEqual([]);
  });

  it.each(['registry', 'console'] as const)(
    'that are served only are found without fault, too: %s',
    async (role) => {
      const { config } = the.network;
      const url = { registry: config.registryUrl, console: config.consoleUrl }[role];
      const served = await fetch(new URL('/openapi.json', url));
      expect(await lintText(await served.text(), `${role}.openapi.json`)).toEqual([]);
    },
  );

  it('say of every operation of the console how it is refused, and so it is', async () => {
    const { paths }: OpenApiDocument = (await the.ask('/openapi.json')).body;
    for (const [path, item] of Object.entries(paths))
      for (const [method, operation] of Object.entries(item)) {
        const told = Object.keys(operation.responses).map(Number);
        for (const [refused, status] of await refuseAtConsole(method.toUpperCase(), path, operation))
          expect(told, `${method} ${path}, ${refused}`).toContain(status);
      }
  });
});

/** Wrong requests to an operation of the console, each with the status of its answer. */
async function refuseAtConsole(
  method: string,
  path: string,
  { requestBody, parameters = [] }: Operation,
): Promise<[string, number][]> {
  const url = new URL(path.replace(/[{*].*/, 'x'), the.network.config.consoleUrl);
  const limited = new URL(`${url}?limit=none`);
  const ask = async (headers: Record<string, string>, { at = url, body = '' } = {}) => {
    const sent = await fetch(at, { method, headers, ...(body && { body }) });
    await sent.body?.cancel();
    return sent.status;
  };
  const json = { 'content-type': 'application/json' };
  const token = { authorization: `Bearer ${consoleOf(the.network).token}` };
  const outcomes: [string, number][] = [
    ['from another origin', await ask({ origin: 'https://elsewhere.example' })],
    ['with a wrong token', await ask({ authorization: 'Bearer wrong' })],
  ];
  if (parameters.some(({ name }) => name === 'limit'))
    outcomes.push(['with a wrong query', await ask(token, { at: limited })]);
  if (requestBody) {
    outcomes.push(['with a body that is no JSON', await ask({ ...token, ...json }, { body: '{' })]);
    outcomes.push(['with a body of another type', await ask(token, { body: 'x' })]);
  }
  return outcomes;
}

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

/** Without a signature; the trigger asks for its token. */
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

// tests/docs/bruno.test.ts runs Bruno itself. Here Bruno's own parser reads the files, and the scripts get the parts of its API that they use.
describe('the Bruno collection', () => {
  const variables = new Map<string, string>();
  const text = (name: string) => readFileSync(join(folder, 'bruno', name), 'utf8');
  const requests = readdirSync(join(folder, 'bruno'))
    .filter((name) => name.endsWith('.bru') && name !== 'collection.bru')
    .map((name) => bruToJsonV2(text(name)))
    .sort((a, b) => Number(a.meta.seq) - Number(b.meta.seq));

  it.each(requests.map((request) => [request.meta.name, request] as const))(
    'has a request that the service accepts: %s',
    async (_, request) => {
      const signing = collectionBruToJson(text('collection.bru')).script?.req ?? '';
      const { status, text: answer } = await runRequest(request, signing, variables);
      expect(answer).not.toContain('NACK');
      expect([200, 202]).toContain(status);
    },
  );
});

/** Sends a request like Bruno: fills in variables, then runs the collection's script and the script after the answer. */
async function runRequest(request: BrunoRequest, signing: string, variables: Map<string, string>) {
  const { network } = the;
  const environment: Record<string, string> = {
    catalogUrl: network.catalogUrl,
    discoveryUrl: network.discoveryUrl,
    ...describeSigner('provider'),
    ...describeSigner('consumer'),
  };
  const fill = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name) => environment[name] ?? variables.get(name) ?? '');
  const method = request.http.method.toUpperCase();
  const headers: Record<string, string> = method === 'POST' ? { 'content-type': 'application/json' } : {};
  let body = request.body && fill(request.body.json);
  const bru = {
    getEnvVar: (name: string) => environment[name],
    getRequestVar: (name: string) => request.vars.req.find((one) => one.name === name)?.value,
    getVar: (name: string) => variables.get(name),
    setVar: (name: string, value: string) => variables.set(name, value),
  };
  const req = {
    getMethod: () => method,
    getBody: () => body && JSON.parse(body),
    setBody: (text: string) => {
      body = text;
    },
    setHeader: (name: string, value: string) => {
      headers[name] = value;
    },
  };
  runScript(signing, { bru, req });
  const response = await fetch(fill(request.http.url), { method, headers, body });
  const text = await response.text();
  runScript(request.script?.res ?? '', { bru, res: { getBody: () => JSON.parse(text) } });
  return { status: response.status, text };
}

function describeSigner(name: string): Record<string, string> {
  const actor = actors[name];
  if (!actor) throw new Error(`there is no ${name}`);
  return brunoSigner(name, actor);
}

function runScript(script: string, scope: Record<string, object>): void {
  const names = ['require', ...Object.keys(scope)];
  new Function(...names, script)(createRequire(import.meta.url), ...Object.values(scope));
}

/** Findings of the linter about an OpenAPI or Arazzo document, with every recommended rule. */
async function lintText(source: string, name: string): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    // Attributes are open objects on purpose.
    rules: { 'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true } },
  });
  const problems = await lintFromString({ source, absoluteRef: `/${name}`, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer} ${message}`);
}
