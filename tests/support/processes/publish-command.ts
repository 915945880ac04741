import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { register as registerPublishCommand } from '../../../src/cli/publish.ts';
import { type CommandRun, runCommand } from './command.ts';

// `signpost publish`, and its input files.

export type Settings = Record<string, string>;

export const publish = (args: string[], settings: Settings, stdin = ''): Promise<CommandRun> =>
  runCommand(registerPublishCommand, ['publish', ...args], settings, stdin);

/** A directory for a test file, removed after its tests. */
export function useDirectory(): { directory: string; write(name: string, content: unknown): string } {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-publish-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return {
    directory,
    write(name, content) {
      const file = join(directory, name);
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
      return file;
    },
  };
}
