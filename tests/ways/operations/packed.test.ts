import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { patienceMs } from '../../support/patience.ts';
import { type InstalledProject, installPackages } from '../../support/processes/installed-project.ts';
import { startUp, type UpProcess } from '../../support/processes/up-process.ts';
import { until } from '../../support/time.ts';

// The packed package starts, accepts a catalog and finds it. tests/package/package.test.ts walks every way through it.

let project: InstalledProject;
let up: UpProcess | undefined;
let banner = '';

beforeAll(async () => {
  project = await installPackages();
});
afterAll(async () => {
  up?.signal('SIGTERM');
  await up?.ended;
  await project?.remove();
});

it('starts everything with signpost up', async () => {
  const command = join(project.directory, 'node_modules/.bin/signpost');
  up = startUp('.signpost', project.settings, { command, cwd: project.directory });
  banner = await up.saying('Ctrl-C stops everything.', patienceMs);
});

it('publishes and finds by the commands that this suggests', async () => {
  /** Like npx, which takes half a second more. */
  const type = (name: string) => {
    const suggested = new RegExp(`npx (signpost ${name} .*?)(?: {3,}|$)`, 'm').exec(banner)?.[1];
    return project.type(`node_modules/.bin/${suggested}`);
  };
  expect(await type('send')).toContain('"status": "ACCEPTED"');
  const isFound = async () => /\d resources of \d catalog/.test(await type('discover'));
  await until(isFound, 'what was published to be found');
});
