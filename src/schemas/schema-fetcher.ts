import type { GuardedClient } from '../http/guarded-client.ts';
import type { Logger } from '../logger.ts';
import type { Json, JsonObject } from '../protocol/json.ts';
import type { DomainSchema } from '../rules/typed-attributes.ts';
import { readDocument } from './schema-files.ts';

// Fetches schemas of unknown contexts from hosts that the operator trusts (SCHEMA_HOSTS), in the background, one context after the other. No request
// waits for it: the attributes that caused the fetch count as of an unknown context; later ones are checked.

interface SchemaFetcher {
  /** Requests the schema of a context, unless it was requested lately or its host is not trusted. */
  want(context: string): void;
  close(): Promise<void>;
}

interface SchemaFetcherOptions {
  hosts: readonly string[];
  client: GuardedClient;
  logger: Logger;
  /** Gets the schema with those that it refers to. */
  onFetched(schemas: DomainSchema[]): Promise<void>;
}

const fetchTimeoutMs = 10_000;
const maxSchemaBytes = 1024 * 1024;
const maxReferencedDocuments = 20;
const maxWaiting = 100;
/** Pause between two requests for a context, whatever the result. */
const askAgainMs = 10 * 60 * 1000;

export function createSchemaFetcher(options: SchemaFetcherOptions): SchemaFetcher {
  const { logger, onFetched } = options;
  const abort = new AbortController();
  const lately = new Set<string>();
  let queue: Promise<void> = Promise.resolve();

  return {
    want(context) {
      const base = schemaFolder(context);
      if (base === undefined || !isTrusted(base, options.hosts)) return;
      if (lately.has(base) || lately.size >= maxWaiting || abort.signal.aborted) return;
      lately.add(base);
      queue = queue
        .then(() => fetchSchema(base, options, abort.signal))
        .then(onFetched)
        .catch((error) => {
          if (!abort.signal.aborted) logger.warn({ err: error, context }, 'schema not fetched');
        })
        .finally(() => setTimeout(() => lately.delete(base), askAgainMs).unref());
    },
    async close() {
      abort.abort();
      await queue;
    },
  };
}

/** The folder of the context file and its schema. */
function schemaFolder(context: string): string | undefined {
  if (!URL.canParse(context)) return undefined;
  const { origin, pathname } = new URL(context);
  return `${origin}${pathname.replace(/\/[^/]*\.[a-z]+$/, '').replace(/\/+$/, '')}/`;
}

function isTrusted(address: string, hosts: readonly string[]): boolean {
  return URL.canParse(address) && hosts.includes(new URL(address).host);
}

async function fetchSchema(
  base: string,
  options: SchemaFetcherOptions,
  signal: AbortSignal,
): Promise<DomainSchema[]> {
  const first =
    (await fetchDocument(`${base}schema.json`, options, signal)) ??
    (await fetchDocument(`${base}attributes.yaml`, options, signal));
  if (first === undefined) throw new Error(`there is neither schema.json nor attributes.yaml in ${base}`);
  const fetched = new Map([[first.address, first]]);
  // The iteration of a Map includes entries added during it.
  for (const schema of fetched.values()) {
    for (const address of referencedDocuments(schema)) {
      if (fetched.has(address) || !isTrusted(address, options.hosts)) continue;
      if (fetched.size > maxReferencedDocuments) throw new Error(`${base} refers to too many documents`);
      const referenced = await fetchDocument(address, options, signal);
      if (referenced !== undefined) fetched.set(address, referenced);
      else
        options.logger.warn(
          { schema: schema.address, reference: address },
          'a schema refers to one that does not exist upstream',
        );
    }
  }
  return [...fetched.values()];
}

/** The document at an address, or undefined if there is none. It cannot claim another address. */
async function fetchDocument(
  address: string,
  { client }: SchemaFetcherOptions,
  signal: AbortSignal,
): Promise<DomainSchema | undefined> {
  const answer = await client.request(address, {
    timeoutMs: fetchTimeoutMs,
    maxBytes: maxSchemaBytes,
    signal,
  });
  if (answer.status === 404 || answer.status === 410) return undefined;
  if (answer.status !== 200) throw new Error(`${address} answered with status ${answer.status}`);
  const document: JsonObject = readDocument(answer.body, address);
  return { address, document: '$id' in document ? { ...document, $id: address } : document };
}

/** The other documents that a schema refers to. */
function referencedDocuments({ address, document }: DomainSchema): Set<string> {
  const found = new Set<string>();
  const walk = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [member, inner] of Object.entries(value)) {
      if (member !== '$ref' || typeof inner !== 'string') walk(inner);
      else if (URL.canParse(inner, address)) found.add(new URL(inner, address).href.replace(/#.*$/, ''));
    }
  };
  walk(document);
  found.delete(address);
  return found;
}
