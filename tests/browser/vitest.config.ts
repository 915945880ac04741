import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** The journeys through the console: on one `npm start`, so never two files at once. */
export default defineConfig({
  test: {
    ...base.test,
    include: ['tests/browser/**/*.test.ts'],
    globalSetup: ['tests/support/processes/npm-start.ts'],
    fileParallelism: false,
  },
});
