import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GuardedClient } from '../http/guarded-client.ts';
import type { Logger } from '../logger.ts';
import { isJsonObject } from '../protocol/json.ts';
import {
  type AttributeChecker,
  createAttributeChecker,
  type DomainSchema,
} from '../rules/typed-attributes.ts';
import { createSchemaFetcher } from './schema-fetcher.ts';
import { bundledSchemas, loadSchemas, readDocument } from './schema-files.ts';

/** The domain schemas of a process: bundled, the operator's own, and those that were fetched. */
export interface SchemaStore {
  /** The checker of this moment; there is a new one when a schema arrives. */
  checker(): AttributeChecker;
  close(): Promise<void>;
}

export interface SchemaStoreOptions {
  logger: Logger;
  unknownContext?: 'accept' | 'reject';
  /** The operator's directory; its schemas stand before the bundled ones of the same address. */
  schemaDir?: string;
  /** Schemas of unknown contexts at these hosts are fetched in the background and kept. */
  fetch?: { hosts: readonly string[]; client: GuardedClient; cacheDir: string };
}

export async function openSchemaStore(options: SchemaStoreOptions): Promise<SchemaStore> {
  const { logger, unknownContext, schemaDir, fetch } = options;
  const local = [
    ...(await loadSchemas(fileURLToPath(bundledSchemas))),
    ...(schemaDir === undefined ? [] : await loadSchemas(schemaDir)),
  ];
  // What was fetched comes first, so that nobody's server can take the place of a local schema.
  let fetched = fetch ? await readCache(fetch.cacheDir, logger) : [];
  const fetcher =
    fetch &&
    createSchemaFetcher({
      ...fetch,
      logger,
      async onFetched(schemas) {
        await Promise.all(schemas.map((schema) => writeCache(fetch.cacheDir, schema)));
        fetched = [...fetched, ...schemas];
        checker = makeChecker();
        logger.info({ schemas: schemas.map(({ address }) => address) }, 'schema fetched');
      },
    });

  function makeChecker(): AttributeChecker {
    const made = createAttributeChecker({
      schemas: [...fetched, ...local],
      unknownContext,
      onUnknownContext: (context) => fetcher?.want(context),
    });
    for (const problem of made.problems) logger.warn(problem, 'schema cannot be used');
    return made;
  }

  let checker = makeChecker();
  return {
    checker: () => checker,
    close: async () => fetcher?.close(),
  };
}

// A published version of a schema does not change: what was fetched is kept until somebody removes the file.

async function readCache(directory: string, logger: Logger): Promise<DomainSchema[]> {
  await mkdir(directory, { recursive: true });
  const files = (await readdir(directory)).filter((name) => name.endsWith('.json')).sort();
  const schemas = await Promise.all(files.map((name) => readCached(join(directory, name), logger)));
  return schemas.filter((schema) => schema !== undefined);
}

async function readCached(file: string, logger: Logger): Promise<DomainSchema | undefined> {
  try {
    const { address, document } = readDocument(await readFile(file), file);
    if (typeof address === 'string' && isJsonObject(document)) return { address, document };
    throw new Error('it does not hold a schema with its address');
  } catch (error) {
    logger.warn({ err: error, file }, 'kept schema cannot be read and is left out');
    return undefined;
  }
}

/** Written beside its place and renamed, so that another process never reads half a file. */
async function writeCache(directory: string, schema: DomainSchema): Promise<void> {
  const file = join(directory, `${createHash('sha256').update(schema.address).digest('hex')}.json`);
  await writeFile(`${file}.${process.pid}`, JSON.stringify(schema));
  await rename(`${file}.${process.pid}`, file);
}
