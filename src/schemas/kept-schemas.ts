import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../logger.ts';
import { isJsonObject } from '../protocol/json.ts';
import type { DomainSchema } from '../rules/typed-attributes.ts';
import { readDocument } from './schema-files.ts';

// Fetched schemas, kept below DATA_DIR. A published version of a schema does not change, so a file stays until somebody removes it.

export function keptSchemasDirectory(dataDir: string): string {
  return join(dataDir, 'schemas');
}

export async function readKeptSchemas(directory: string, logger: Logger): Promise<DomainSchema[]> {
  const names = await readdir(directory).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json')).sort();
  const schemas = await Promise.all(files.map((name) => readKept(join(directory, name), logger)));
  return schemas.filter((schema) => schema !== undefined);
}

async function readKept(file: string, logger: Logger): Promise<DomainSchema | undefined> {
  try {
    const { address, document } = readDocument(await readFile(file), file);
    if (typeof address === 'string' && isJsonObject(document)) return { address, document };
    throw new Error('it does not hold a schema with its address');
  } catch (error) {
    logger.warn({ err: error, file }, 'kept schema cannot be read and is left out');
    return undefined;
  }
}

/** Written to a temporary file and renamed, so that another process never reads half a file. */
export async function keepSchema(directory: string, schema: DomainSchema): Promise<void> {
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${createHash('sha256').update(schema.address).digest('hex')}.json`);
  await writeFile(`${file}.${process.pid}`, JSON.stringify(schema));
  await rename(`${file}.${process.pid}`, file);
}
