import { createRequire } from 'node:module';

/** RE2 runs any pattern in linear time. Loaded when the first pattern is compiled: most commands compile none. */
export function loadRe2(): typeof import('re2js').RE2JS {
  const { RE2JS } = require('re2js') as typeof import('re2js');
  return RE2JS;
}

const require = createRequire(import.meta.url);
