import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Scene } from './scene.ts';
import { Fault } from './target.ts';

// Commands with separate files, in a process that runs them one after another.

export interface CommandOutcome {
  exitCode: number;
  out: string;
  notes: string;
  /** The error message for the user, if it failed. */
  refusal?: string;
  /** The stack that the user would see instead. */
  unexpected?: string;
}

export interface Folder {
  path: string;
  /** Writes a file, and returns its path. */
  write(name: string, bytes: Buffer | string): Promise<string>;
}

/** A directory for the files of one case, which is removed afterwards. */
export async function withFolder<T>({ dataDir }: Scene, work: (folder: Folder) => Promise<T>): Promise<T> {
  const path = join(dataDir, 'cases', randomUUID());
  await mkdir(path, { recursive: true });
  try {
    return await work({
      path,
      async write(name, bytes) {
        const file = join(path, name);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, bytes);
        return file;
      },
    });
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/** Throws a Fault if the user would see a stack, or nothing at all. */
export async function runCommand(
  { commands, settings }: Scene,
  args: readonly string[],
  env: Record<string, string>,
): Promise<CommandOutcome> {
  const { REGISTRY_URL, ALLOW_PRIVATE_ADDRESSES, DNS_SERVERS } = settings;
  const all = { REGISTRY_URL, ALLOW_PRIVATE_ADDRESSES, DNS_SERVERS, ...env };
  const outcome = (await commands.ask({ args, env: all })) as CommandOutcome;
  const { unexpected, refusal, exitCode, out, notes } = outcome;
  if (unexpected !== undefined) throw new Fault(`${args[0]} shows a stack: ${unexpected}`);
  if (exitCode !== 0 && `${refusal ?? ''}${out}${notes}`.trim() === '')
    throw new Fault(`${args[0]} fails, and does not say why`);
  return outcome;
}
