// The order of the folders, and the syntax of imports: tests/house/architecture.test.ts checks the order, house-picture.mjs draws it.

/** Floors of src/, lowest first. A folder imports from the folders of lower floors, never from a neighbour on its own floor. */
export const layers = [
  ['protocol'],
  ['rules'],
  ['http', 'storage'],
  ['registry'],
  ['schemas'],
  ['delivery'],
  ['search'],
  ['catalog', 'discovery', 'publisher'],
  ['import', 'demo', 'conform'],
  ['console'],
  ['housekeeping.ts', 'open-parts.ts'],
  ['main.ts'],
  ['workers', 'mcp'],
  ['cli'],
];

/** Root modules without a floor: all folders may use them, and they use only each other. */
export const leaves = [
  'attempt.ts',
  'breaks.ts',
  'carried-error.ts',
  'config.ts',
  'setting-items.ts',
  'setting-table.ts',
  'settings.ts',
  'counted.ts',
  'error-code.ts',
  'fair-turns.ts',
  'group.ts',
  'languages.ts',
  'processor-time.ts',
  'program-version.ts',
  'lru-cache.ts',
  'secret-file.ts',
  'start-or-close.ts',
  'logger.ts',
  'silent-logger.ts',
  'metrics.ts',
  'telemetry',
  'thread-pool.ts',
  'thread-entry.ts',
  'within.ts',
];

/** With names, without names, and dynamic ones. */
const formsOfImport = [
  /^\s*(?:import|export)\b[^'"]*?from\s+'([^']+)'/gm,
  /^\s*import\s+'([^']+)'/gm,
  /\bimport\(\s*'([^']+)'/g,
];

/** The imports of a module, as written there. */
export function importsIn(text) {
  return formsOfImport.flatMap((form) => [...text.matchAll(form)].map(([, target]) => target));
}
