import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { hasCode } from '../../error-code.ts';
import type { PerUnit } from '../../import/station.ts';
import type { SyncMemory } from '../../import/sync-plan.ts';
import { slugOf } from '../../import/template.ts';
import { CommandError } from '../command.ts';

// The state of a sync between two runs: a file in DATA_DIR/sync per source and target.

export interface SourceMemory extends SyncMemory {
  source: string;
  /** The base address of a catalog service; absent: publish as files. */
  target?: string;
  /** Never changes: a growing source does not change the division into catalogs. */
  per?: PerUnit;
  /** Digest of files and options, if everything in them was published; absent if work is left. */
  mark?: string;
}

const nothing = { stations: [], catalogs: {} };

export async function readMemory(config: Config, source: string, target?: string): Promise<SourceMemory> {
  const known = await readState(fileOf(config, source, target));
  return known ?? { source, ...(target !== undefined && { target }), ...nothing };
}

async function readState(file: string): Promise<SourceMemory | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new CommandError(
      `${file} cannot be read. Restore it from a backup, or remove it: then the next sync publishes everything again.`,
      error,
    );
  }
}

export async function writeMemory(config: Config, memory: SourceMemory): Promise<void> {
  const file = fileOf(config, memory.source, memory.target);
  await mkdir(directoryOf(config), { recursive: true });
  const draft = `${file}.${process.pid}.part`;
  await writeFile(draft, JSON.stringify(memory));
  await rename(draft, file);
}

export async function readOthersCatalogs(config: Config, { source, target }: SourceMemory) {
  const names = await readdir(directoryOf(config)).catch(() => []);
  const owners = new Map<string, string>();
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const other = await readState(join(directoryOf(config), name));
    if (!other || other.source === source || other.target !== target) continue;
    for (const id of Object.keys(other.catalogs)) owners.set(id, other.source);
  }
  return owners;
}

export function lockOf(config: Config, source: string, target?: string): string {
  return fileOf(config, source, target).replace(/\.json$/, '.lock');
}

/** Similar or long names get separate files. */
function fileOf(config: Config, source: string, target = 'files'): string {
  const name = `${source} ${target}`;
  const digest = hash('sha256', name).slice(0, 12);
  return join(directoryOf(config), `${slugOf(name).slice(0, 60)}-${digest}.json`);
}

function directoryOf({ DATA_DIR }: Config): string {
  return join(DATA_DIR, 'sync');
}
