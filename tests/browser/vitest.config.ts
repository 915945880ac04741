import { defineConfig } from 'vitest/config';

/** The journeys through the console share one `npm start`, so files never run in parallel. */
export default defineConfig({
  test: {
    include: ['tests/browser/**/*.test.ts'],
    globalSetup: ['tests/support/processes/npm-start.ts'],
    reporters: ['default', './tests/support/summary-reporter.ts'],
    setupFiles: ['tests/support/reproducible.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    fileParallelism: false,
    isolate: false,
  },
});
