import { readFileSync } from 'node:fs';
import type { DemoNetwork } from '../../../src/config.ts';
import { operatorTokenFile } from '../../../src/console/operator-token.ts';
import { freePort } from '../free-port.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from './network.ts';

// The operator's API, used with the operator token like the command line does.

export interface ConsoleAnswer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  body: any;
}

/** POST with a body, otherwise GET, unless `method` is set. */
type Ask = (path: string, request?: { method?: string; body?: object }) => Promise<ConsoleAnswer>;

export interface TestConsole {
  network: TestNetwork;
  ask: Ask;
}

/** Every role but the publisher in one process; its discovery service follows its catalog service, and crawls. */
export async function startConsole(
  settings: Record<string, string> = {},
  demo?: DemoNetwork,
): Promise<TestConsole> {
  const catalogPort = await freePort();
  const subscription = {
    catalogUrl: `http://127.0.0.1:${catalogPort}`,
    catalogId: 'catalog.signpost.test',
    networkIds: [defaultNetwork],
  };
  const network = await startNetwork({
    demo,
    settings: {
      ...{ ROLES: 'registry,catalog,discovery,console', CATALOG_PORT: String(catalogPort) },
      CATALOG_ID: subscription.catalogId,
      DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
      DISCOVERY_SUBSCRIPTIONS: JSON.stringify([subscription]),
      ...settings,
    },
  });
  return { network, ask: consoleOf(network).ask };
}

/** Sends requests to the console of a network. */
export function consoleOf({ config }: Pick<TestNetwork, 'config'>) {
  const token = config.OPERATOR_TOKEN ?? readFileSync(operatorTokenFile(config), 'utf8').trim();
  const ask: Ask = async (path, { method, body } = {}) => {
    const response = await fetch(`${config.consoleUrl}${path}`, {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    const { status, headers } = response;
    return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  return {
    ask,
    token,
    get: async (path: string) => (await ask(path)).body,
    /** All items of a list, page by page. */
    async all(path: string, limit = 200): Promise<{ items: { id: string }[]; pages: number }> {
      const items = [];
      for (let [next, pages]: [string | undefined, number] = [undefined, 1]; ; pages++) {
        const query = `${path.includes('?') ? '&' : '?'}limit=${limit}${next ? `&after=${next}` : ''}`;
        const { body }: { body: { items: { id: string }[]; next?: string } } = await ask(path + query);
        items.push(...body.items);
        next = body.next;
        if (next === undefined) return { items, pages };
      }
    },
  };
}
