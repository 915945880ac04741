import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/support/database-server.ts'],
    reporters: ['default', './tests/support/skip-reporter.ts'],
    setupFiles: ['tests/support/reproducible.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two workers: each test file brings up real servers, and a small machine gains nothing from more.
    maxWorkers: 2,
    // A worker loads the code once and not for each of its files, which would cost more than most of them take.
    isolate: false,
  },
});
