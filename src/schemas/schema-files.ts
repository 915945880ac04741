import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { isJsonObject, type JsonObject, parseJson } from '../protocol/json.ts';
import type { DomainSchema } from '../rules/typed-attributes.ts';

// Domain schemas as files: `<Type>/<version>/schema.json` (JSON Schema) or `attributes.yaml` (OpenAPI), as the public
// registry lays them out; any other .json or .yaml file needs an `$id`. Directories named `examples` are for people.

/** The schemas that ship with this package. */
export const bundledSchemas = new URL('../../schemas/', import.meta.url);

/** A file that holds no schema that we can use; the message says which and why. */
export class SchemaFileError extends Error {
  override readonly name = 'SchemaFileError';
}

/** Every schema below a directory, in the order of their paths. */
export async function loadSchemas(directory: string): Promise<DomainSchema[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && schemaFile.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(directory, file).split(sep).includes('examples'));
  return Promise.all(files.sort().map(loadSchema));
}

const schemaFile = /\.(?:json|yaml|yml)$/;

async function loadSchema(file: string): Promise<DomainSchema> {
  const document = readDocument(await readFile(file), file);
  const address = typeof document.$id === 'string' ? document.$id : addressByPlace(file);
  if (address === undefined || !URL.canParse(address)) {
    throw new SchemaFileError(
      `${file} has no address: give it an absolute $id, or put it at <Type>/<version>/schema.json or attributes.yaml.`,
    );
  }
  return { address, document };
}

/** The text of a schema as a value. YAML that stands for more than it says (aliases) is bounded by the parser. */
export function readDocument(bytes: Uint8Array, name: string): JsonObject {
  try {
    const value: unknown = name.endsWith('.json')
      ? parseJson(bytes)
      : parseYaml(Buffer.from(bytes).toString('utf8'));
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw new SchemaFileError(`${name} cannot be read: ${error instanceof Error ? error.message : error}.`, {
      cause: error,
    });
  }
  throw new SchemaFileError(`${name} holds no schema: it is not an object.`);
}

/** The public registry's address for a file that stands where the registry would have it. */
function addressByPlace(file: string): string | undefined {
  const name = basename(file);
  const version = basename(dirname(file));
  const type = basename(dirname(dirname(file)));
  if (!/^(?:schema|attributes)\./.test(name) || !/^v?\d/.test(version)) return undefined;
  return `https://schema.nfh.global/${encodeURIComponent(type)}/${version}/${name}`;
}
