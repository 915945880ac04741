import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileStrictly } from '../support/processes/compile-strictly.ts';

// The types of the client package for importing programs. tests/package/package.test.ts compiles a program without checking the declarations.

const run = promisify(execFile);

describe('the types of the client package', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-types-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('are found in the packed package', async () => {
    const packing = ['pack', '--ignore-scripts', '--workspace', 'packages/client'];
    const { stdout } = await run('npm', [...packing, '--pack-destination', directory]);
    // A problem means exit code 1, so `run` throws. The package is ESM only: lack of require() is not a problem.
    const checking = ['--profile', 'esm-only', join(directory, stdout.trim())];
    expect((await run('node_modules/.bin/attw', checking)).stderr).toBe('');
  });

  it('compile as strictly as TypeScript can, with all declarations', async () => {
    const example = 'publish-and-discover.ts';
    await copyFile(join('packages', 'client', 'examples', example), join(directory, example));
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    await symlink(resolve('node_modules'), join(directory, 'node_modules'));
    await expect(compileStrictly(directory, example, { skipLibCheck: false })).resolves.toBeUndefined();
  });
});
