import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'signpost-clones-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

it('two clean clones make the same packages and the same SBOM, byte by byte', async () => {
  const [one, other] = await Promise.all([makeRelease('one'), makeRelease('in/another place')]);
  expect(one).toMatch(/^[0-9a-f]{64} {2}signpost-[\d.]+\S*\.tgz$/m);
  expect(one.trim().split('\n')).toHaveLength(3);
  expect(other).toBe(one);
});

/** The checksums of a release from a clone of the last commit. Its dependencies are hard links to the ones installed here. */
async function makeRelease(name: string): Promise<string> {
  const [clone, output] = [join(home, name), join(home, `${name} released`)];
  await run('git', ['clone', '--quiet', '.', clone]);
  await run('cp', ['-Rl', resolve('node_modules'), clone]);
  await run(process.execPath, ['scripts/set-up.mjs', '--build-only'], { cwd: clone });
  await run(process.execPath, ['scripts/release.mjs', '--artifacts', output], { cwd: clone });
  return readFile(join(output, 'SHA256SUMS'), 'utf8');
}
