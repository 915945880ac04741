import type { Config } from '../config.ts';
import type { GuardedClient } from '../http/guarded-client.ts';
import type { Logger } from '../logger.ts';
import type { SchemaAliases } from '../rules/schema-address.ts';
import { type AttributeChecker, createAttributeChecker } from '../rules/typed-attributes.ts';
import { keepSchema, keptSchemasDirectory, readKeptSchemas } from './kept-schemas.ts';
import { createSchemaFetcher } from './schema-fetcher.ts';
import { bundledSchemas, loadSchemas } from './schema-files.ts';

/** The domain schemas of a process: bundled, the operator's own, and fetched ones. */
export interface SchemaStore {
  /** The current checker; there is a new one when a schema arrives. */
  checker(): AttributeChecker;
  close(): Promise<void>;
}

interface SchemaStoreOptions {
  logger: Logger;
  unknownContext?: 'accept' | 'reject';
  aliases?: SchemaAliases;
  /** The operator's directory; its schemas take precedence over bundled ones of the same address. */
  schemaDir?: string;
  /** Schemas of unknown contexts at these hosts are fetched in the background and kept there. */
  fetch?: { hosts: readonly string[]; client: GuardedClient; cacheDir: string };
}

export function openConfiguredSchemas(
  config: Pick<Config, 'UNKNOWN_CONTEXT' | 'SCHEMA_DIR' | 'SCHEMA_HOSTS' | 'SCHEMA_ALIASES' | 'DATA_DIR'>,
  client: GuardedClient,
  logger: Logger,
): Promise<SchemaStore> {
  const { SCHEMA_HOSTS: hosts, DATA_DIR } = config;
  const fetch = { hosts, client, cacheDir: keptSchemasDirectory(DATA_DIR) };
  return openSchemaStore({
    logger,
    unknownContext: config.UNKNOWN_CONTEXT,
    aliases: config.SCHEMA_ALIASES,
    schemaDir: config.SCHEMA_DIR,
    fetch: hosts.length > 0 ? fetch : undefined,
  });
}

export async function openSchemaStore(options: SchemaStoreOptions): Promise<SchemaStore> {
  const { logger, unknownContext, aliases, schemaDir, fetch } = options;
  const logSkipped = (files: string[]) =>
    logger.info(
      { count: files.length, files: files.slice(0, 5) },
      'skipped files of SCHEMA_DIR that are not schemas',
    );
  const local = [
    ...(await loadSchemas(bundledSchemas)),
    ...(schemaDir === undefined ? [] : await loadSchemas(schemaDir, logSkipped)),
  ];
  // Fetched schemas come first, so that local ones replace them and never the reverse.
  let fetched = fetch ? await readKeptSchemas(fetch.cacheDir, logger) : [];
  const fetcher =
    fetch &&
    createSchemaFetcher({
      ...fetch,
      logger,
      async onFetched(schemas) {
        await Promise.all(schemas.map((schema) => keepSchema(fetch.cacheDir, schema)));
        fetched = [...fetched, ...schemas];
        checker = makeChecker();
        logger.info({ schemas: schemas.map(({ address }) => address) }, 'schema fetched');
      },
    });

  function makeChecker(): AttributeChecker {
    const made = createAttributeChecker({
      schemas: [...fetched, ...local],
      // The bundled schemas are sound.
      areSound: schemaDir === undefined && fetched.length === 0,
      unknownContext,
      aliases,
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
