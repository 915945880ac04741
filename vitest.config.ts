import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import LongestFirst from './tests/support/longest-first.ts';

// Random choices of the fault suite: the same every time in its short form, others in each run of `npm run test:faults`. The processes of the tests inherit it.
process.env.FAULT_SEED ??= process.env.FAULTS === 'long' ? `${randomInt(1_000_000)}` : '20261117';

const longFaults = process.env.FAULTS === 'long' ? [] : ['tests/faults/long/**'];
const sources = join(import.meta.dirname, 'src/');
const built = join(import.meta.dirname, 'dist/');
const client = join(import.meta.dirname, 'packages/client/');
/** These compare the build with its sources. */
const comparisons = ['tests/package/client-built.test.ts', 'tests/package/precompiled-validators.test.ts'];

/** Users run `dist/`, and so do all tests but units: what they import from `src/`, and the client package, comes from the build. */
const onTheBuild: Plugin = {
  name: 'on-the-build',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    if (!source.startsWith('.') || !importer) return undefined;
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
    if (resolved?.id === join(client, 'src/index.ts'))
      return { id: join(client, 'dist/index.js'), external: true };
    if (!resolved?.id.startsWith(sources) || !resolved.id.endsWith('.ts')) return resolved;
    return { id: resolved.id.replace(sources, built).replace(/\.ts$/, '.js'), external: true };
  },
};

const common = {
  globalSetup: ['tests/support/fresh-build.ts', 'tests/support/database/database-server.ts'],
  setupFiles: ['tests/support/reproducible.ts'],
  // A worker loads the code once and not for each of its files, which would cost more than most of them take.
  isolate: false,
};
/** Node loads what is built by itself, as it does for users. */
const server = { deps: { external: [/\/dist\//] } };

export default defineConfig({
  test: {
    reporters: ['default', './tests/support/summary-reporter.ts', './tests/faults/fault-reporter.ts'],
    // Three workers keep two processors busy: tests wait, for disks, leases and time-outs, a fifth of their time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...common,
          ...timeouts(60),
          name: 'units',
          include: [
            ...['src/**/*.test.ts', 'packages/*/src/**/*.test.ts', 'web/src/**/*.test.ts'],
            ...comparisons,
          ],
        },
      },
      {
        plugins: [onTheBuild],
        test: {
          ...common,
          ...timeouts(60),
          name: 'ways',
          include: ['tests/ways/**/*.test.ts', 'tests/house/*.test.ts'],
          server,
        },
      },
      {
        plugins: [onTheBuild],
        test: {
          ...common,
          ...timeouts(600),
          name: 'suites',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/ways/**', 'tests/house/**', 'tests/browser/**', ...comparisons, ...longFaults],
          server,
        },
      },
    ],
  },
});

function timeouts(seconds: number) {
  return { testTimeout: seconds * 1000, hookTimeout: seconds * 1000 };
}
