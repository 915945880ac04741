import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { register as registerImportCommand } from '../../../src/cli/import.ts';
import { register as registerSchemaCommand } from '../../../src/cli/schema.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { parseJson } from '../../../src/protocol/json.ts';
import { checkPublishMessage, PublishMessage } from '../../../src/protocol/publish-messages.ts';
import { findFaults } from '../../../src/protocol/validate.ts';
import { runCommand } from './command.ts';

// `signpost import`, with a new directory for each test.

export function useImports() {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'signpost-import-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const path = (name: string) => join(directory, name);

  function file(name: string, content: string | Buffer): string {
    writeFileSync(path(name), content);
    return path(name);
  }

  /** Imports; every output must be a valid publish body, typed attributes included. */
  async function run(args: string[], stdin = '') {
    const result = await runCommand(
      registerImportCommand,
      ['import', ...args],
      { DATA_DIR: directory },
      stdin,
    );
    const out = args.includes('--out') ? path('out.json') : undefined;
    const bytes =
      out === undefined ? Buffer.from(result.out) : existsSync(out) ? readFileSync(out) : Buffer.of();
    if (bytes.length === 0) return { ...result, catalogs: [], directives: [] };
    const { message } = parseJson(bytes) as unknown as { message: PublishMessage };
    expect(findFaults(PublishMessage)(message)).toEqual([]);
    checkPublishMessage(message);
    const schemaCheck = ['schema', 'check', '-'];
    const checked = await runCommand(
      registerSchemaCommand,
      schemaCheck,
      { DATA_DIR: directory },
      bytes.toString(),
    );
    expect(checked).toMatchObject({ exitCode: 0, out: 'publish body: no fault\n' });
    return { ...result, catalogs: message.catalogs, directives: message.publishDirectives ?? [] };
  }

  return { path, file, run };
}

export const attributesOf = ({ resources = [] }: Catalog) =>
  resources.map(({ resourceAttributes }) => resourceAttributes?.attributes);
