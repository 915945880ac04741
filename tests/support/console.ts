import { readFileSync } from 'node:fs';
import { operatorTokenFile } from '../../src/console/operator-token.ts';
import type { TestNetwork } from './network.ts';

/** Asks the console of a network as its operator does. */
export function consoleOf({ config }: Pick<TestNetwork, 'config'>) {
  const token = config.OPERATOR_TOKEN ?? readFileSync(operatorTokenFile(config), 'utf8').trim();
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  const ask = async (method: string, path: string, body?: object): Promise<{ status: number; body: any }> => {
    const response = await fetch(`${config.consoleUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  return {
    get: async (path: string) => (await ask('GET', path)).body,
    ask,
    /** Every item of a list, page by page. */
    async all(path: string, limit = 200): Promise<{ items: { id: string }[]; pages: number }> {
      const items = [];
      for (let [next, pages]: [string | undefined, number] = [undefined, 1]; ; pages++) {
        const query = `${path.includes('?') ? '&' : '?'}limit=${limit}${next ? `&after=${next}` : ''}`;
        const { body }: { body: { items: { id: string }[]; next?: string } } = await ask('GET', path + query);
        items.push(...body.items);
        next = body.next;
        if (next === undefined) return { items, pages };
      }
    },
  };
}
