import type { Config } from '../../config.ts';
import {
  type AttributeChecker,
  createAttributeChecker,
  type DomainSchema,
} from '../../rules/typed-attributes.ts';
import { keptSchemasDirectory, readKeptSchemas } from '../../schemas/kept-schemas.ts';
import { bundledSchemas, loadSchemas } from '../../schemas/schema-files.ts';
import { silentLogger } from '../../silent-logger.ts';

export interface SchemaSource {
  name: string;
  schemas: DomainSchema[];
}

/** Schemas from outside may have faults, which appear only when they are compiled. */
function areSound(sources: readonly SchemaSource[]): boolean {
  return sources.every(({ name, schemas }) => name === 'bundled' || schemas.length === 0);
}

/** In the order of a process: of two schemas with one address, the later one counts. */
export async function readSchemaSources({ SCHEMA_DIR, DATA_DIR }: Config): Promise<SchemaSource[]> {
  return [
    { name: 'fetched', schemas: await readKeptSchemas(keptSchemasDirectory(DATA_DIR), silentLogger()) },
    { name: 'bundled', schemas: await loadSchemas(bundledSchemas) },
    { name: 'SCHEMA_DIR', schemas: SCHEMA_DIR === undefined ? [] : await loadSchemas(SCHEMA_DIR) },
  ];
}

export function createSourceChecker(
  sources: readonly SchemaSource[],
  config: Config,
  onUnknownContext?: (context: string) => void,
): AttributeChecker {
  return createAttributeChecker({
    schemas: sources.flatMap(({ schemas }) => schemas),
    areSound: areSound(sources),
    unknownContext: config.UNKNOWN_CONTEXT,
    aliases: config.SCHEMA_ALIASES,
    onUnknownContext,
  });
}
