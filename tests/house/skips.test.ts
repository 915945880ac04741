import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const tests = `
  import { describe, expect, it } from 'vitest';
  it('runs', () => expect(1).toBe(1));
  it.skipIf(true)('reads every vector (needs the vectors)', () => {});
  describe.skipIf(true)('a register (needs the registers)', () => {
    it('is read', () => {});
    it('is read again', () => {});
  });
  it('finds out late', (context) => context.skip('needs a moon'));
  it.skipIf(true)('is silent', () => {});
`;

describe('a run of the tests', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'signpost-skips-'));
    await symlink(resolve('node_modules'), join(project, 'node_modules'));
    await writeFile(join(project, 'some.test.js'), tests);
  });
  afterAll(() => rm(project, { recursive: true }));

  it('ends with what the skipped tests needed, and names those that do not say it', async () => {
    const reporters = ['--reporter=default', `--reporter=${resolve('tests/support/summary-reporter.ts')}`];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [resolve('node_modules/vitest/vitest.mjs'), 'run', '--root', project, ...reporters],
      { cwd: project, env: { PATH: process.env.PATH, NO_COLOR: '1' } },
    );
    expect(stdout.slice(stdout.indexOf(' Skipped tests')).trimEnd().split('\n')).toEqual([
      ' Skipped tests',
      '     1  needs the vectors',
      '     2  needs the registers',
      '     1  needs a moon',
      '     1  does not say what it needs: is silent',
    ]);
  });
});
