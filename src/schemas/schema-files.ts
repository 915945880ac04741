import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type JsonObject, parseJson } from '../protocol/json.ts';
import type { DomainSchema } from '../rules/typed-attributes.ts';
import { SettingsError } from '../settings.ts';

// Domain schemas as files: `<Type>/<version>/schema.json` (JSON Schema) or `attributes.yaml` (OpenAPI), the layout of the public registry, so a
// directory may be a clone of its repository. Other .json or .yaml files without an absolute `$id` are not schemas and are skipped. Directories named
// `examples` are skipped, too.

/** The schemas that ship with this package. */
export const bundledSchemas = fileURLToPath(new URL('../../schemas/', import.meta.url));

/**
 * Every schema below a directory, ordered by path. Throws if a schema cannot be read: the operator must repair it.
 *
 * @param onSkipped called with the files that are not schemas
 */
export async function loadSchemas(
  directory: string,
  onSkipped?: (files: string[]) => void,
): Promise<DomainSchema[]> {
  const files = await schemaFilesIn(directory);
  const loaded = await Promise.all(files.map(loadSchema));
  const skipped = files.filter((_, index) => loaded[index] === undefined);
  if (skipped.length > 0) onSkipped?.(skipped);
  return loaded.filter((schema) => schema !== undefined);
}

async function schemaFilesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch((error) => {
    throw new SettingsError(`The schema directory ${directory} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
    });
  });
  return entries
    .filter((entry) => entry.isFile() && schemaFile.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(directory, file).split(sep).includes('examples'))
    .sort();
}

const schemaFile = /\.(?:json|yaml|yml)$/;

async function loadSchema(file: string): Promise<DomainSchema | undefined> {
  const place = addressByPlace(file);
  try {
    const document = readDocument(await readFile(file), file);
    const named = typeof document.$id === 'string' && URL.canParse(document.$id) ? document.$id : undefined;
    const address = named ?? place;
    return address === undefined ? undefined : { address, document };
  } catch (error) {
    if (place === undefined) return undefined;
    throw new SettingsError(`The schema ${file} cannot be used: ${reasonOf(error)}.`, { cause: error });
  }
}

/** The text of a schema as a value; JSON if the name ends in .json, otherwise YAML. */
export function readDocument(bytes: Uint8Array, name: string): JsonObject {
  const value: unknown = name.endsWith('.json')
    ? parseJson(bytes)
    : loadYaml().parse(Buffer.from(bytes).toString('utf8'));
  if (!isJsonObject(value)) throw new Error('it is not an object');
  return value;
}

/** Loaded for the first schema in YAML: the bundled ones are JSON. */
const loadYaml = () => createRequire(import.meta.url)('yaml') as typeof import('yaml');

/** The public registry's address of a file, derived from its path. */
function addressByPlace(file: string): string | undefined {
  const name = basename(file);
  const version = basename(dirname(file));
  const type = basename(dirname(dirname(file)));
  if (!/^(?:schema|attributes)\./.test(name) || !/^v?\d/.test(version)) return undefined;
  return `https://schema.nfh.global/${encodeURIComponent(type)}/${version}/${name}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
