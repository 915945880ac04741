import { readdirSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';

export const bundledMappings = fileURLToPath(new URL('../../../mappings/', import.meta.url));

export function listBundledMappings(): string[] {
  return readdirSync(bundledMappings).map((file) => basename(file, extname(file)));
}
