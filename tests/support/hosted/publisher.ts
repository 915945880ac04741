import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenHeader } from '../../../src/cli/trigger-client.ts';
import { type Config, readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import { startProcess } from '../../../src/main.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { freePort } from '../free-port.ts';

// The publisher as `signpost serve --roles publisher` runs it, in this process: files and trigger on free ports, no database.

export interface TestPublisher {
  config: Config;
  /** The settings for commands to reach it. */
  settings: Record<string, string>;
  /** Whether the process opened a database. */
  hasDatabase: boolean;
  close(): Promise<void>;
}

export async function startPublisher(settings: Record<string, string> = {}): Promise<TestPublisher> {
  const dataDir = settings.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'signpost-publisher-'));
  const own = await publisherSettings(dataDir);
  const all = { ROLES: 'publisher', ...own, ...settings };
  const config = readConfig(all);
  const running = await startProcess(config, { logger: silentLogger() });
  return {
    config,
    settings: all,
    hasDatabase: running.database !== undefined,
    async close() {
      await running.close();
      if (settings.DATA_DIR === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Free ports, and a registry that does not exist unless a test names one. */
export async function publisherSettings(dataDir: string): Promise<Record<string, string>> {
  const [port, triggerPort] = await Promise.all([freePort(), freePort()]);
  return {
    DATA_DIR: dataDir,
    PUBLISHER_PORT: String(port),
    PUBLISHER_TRIGGER_PORT: String(triggerPort),
    REGISTRY_PORT: '1',
    LOG_LEVEL: 'silent',
  };
}

export interface HttpAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  body: any;
}

/** A request to the trigger; a text is sent unchanged. */
export async function trigger(
  config: Config,
  body: object | string,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<HttpAnswer> {
  const response = await fetch(`${config.triggerUrl}/catalog/publish${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...tokenHeader(config), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** Fetches a published file like any client. */
export async function fetchFile({ catalogBaseUrl }: Config, path: string): Promise<HttpAnswer> {
  const response = await fetch(path.startsWith('http') ? path : `${catalogBaseUrl}/${path}`);
  return { status: response.status, body: response.ok ? await response.json() : undefined };
}

export const defaultIndex = 'index/catalogs.index.json';

export function smallCatalog(id: string, names: readonly string[] = ['espresso']): Catalog {
  return {
    id,
    descriptor: { name: `Catalog ${id}` },
    provider: { id: 'p1', descriptor: { name: 'A roaster' } },
    resources: names.map((name) => ({ id: name, descriptor: { name } })),
  };
}
