import { writeSync } from 'node:fs';
import { createRequire, register } from 'node:module';

// Given to node by --import, it has every module that is loaded named on standard error, one line each.

register('./list-modules-hook.mjs', import.meta.url);

// Modules required by name pass no hook.
const { cache } = createRequire(import.meta.url);
process.on('exit', () => {
  for (const path of Object.keys(cache)) writeSync(2, `loaded file://${path}\n`);
});
