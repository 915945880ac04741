import { readFileSync } from 'node:fs';
import { operatorTokenFile } from '../../src/console/operator-token.ts';
import { freePort } from './free-port.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from './network.ts';

// A network with a console, whose discovery service follows its catalog service and crawls.

export interface TestConsole {
  network: TestNetwork;
  ask(path: string, request?: { method?: string; body?: object }): Promise<ConsoleAnswer>;
}

export interface ConsoleAnswer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  body: any;
}

/** Every role but the publisher in one process; its discovery service follows its catalog service, and crawls. */
export async function startConsole(settings: Record<string, string> = {}): Promise<TestConsole> {
  const catalogPort = await freePort();
  const subscription = {
    catalogUrl: `http://127.0.0.1:${catalogPort}`,
    catalogId: 'catalog.signpost.test',
    networkIds: [defaultNetwork],
  };
  const network = await startNetwork({
    settings: {
      ...{ ROLES: 'registry,catalog,discovery,console', CATALOG_PORT: String(catalogPort) },
      CATALOG_ID: subscription.catalogId,
      DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
      DISCOVERY_SUBSCRIPTIONS: JSON.stringify([subscription]),
      ...settings,
    },
  });
  return { network, ask: (path, request) => askConsole(network, path, request) };
}

/** With the operator token, as the command line does it. */
export async function askConsole(
  { config }: TestNetwork,
  path: string,
  { method, body }: { method?: string; body?: object } = {},
): Promise<ConsoleAnswer> {
  const token = readFileSync(operatorTokenFile(config), 'utf8').trim();
  const response = await fetch(`${config.consoleUrl}${path}`, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const { status, headers } = response;
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
}
