import { writeSync } from 'node:fs';
import { createRequire, register } from 'node:module';

// With `node --import`, prints every loaded module on standard error, one per line.

register('./list-modules-hook.mjs', import.meta.url);

// Modules that are required by name bypass hooks.
const { cache } = createRequire(import.meta.url);
process.on('exit', () => {
  for (const path of Object.keys(cache)) writeSync(2, `loaded file://${path}\n`);
});
