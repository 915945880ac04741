// npm run test:attack [-- attack…] [--smoke] [--json FILE] [--requests N] [--per-second N] [--p99-ms MS] [--callback-ms MS] [--ratio R] [--memory-mb MB]
//
// One attacker at a time (127.0.0.66) against real roles in separate processes, while an honest client (127.0.0.1) continues: at most four requests
// at once, 20 a second. Each attack has a separate copy of the database. Prints a row per attack, then all in a table; exit code 1 if a bound is
// missed. The time limits apply to a machine with two otherwise idle cores; on a busy one, relax them with these options.
import { readdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { observeAttack } from './observe-attack.mjs';
import { prepareScenes } from './scene.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    smoke: { type: 'boolean', default: false },
    json: { type: 'string' },
    requests: { type: 'string' },
    'per-second': { type: 'string' },
    'p99-ms': { type: 'string' },
    'callback-ms': { type: 'string' },
    ratio: { type: 'string' },
    'memory-mb': { type: 'string' },
  },
});

const known = readdirSync(new URL('./attacks/', import.meta.url))
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length));
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`test:attack: no attack ${unknown.join(', ')}; there are: ${known.join(', ')}`);
  process.exit(1);
}

/** The short form has no time limits, because a busy machine would miss them: honest clients are never refused, and no process dies. */
const bounds = values.smoke
  ? {
      ...{ requests: 15, perSecond: 20, p99Ms: Number.POSITIVE_INFINITY, callbackMs: 60_000 },
      ...{ ratio: Number.POSITIVE_INFINITY, memoryMb: 1024 },
    }
  : { requests: 200, perSecond: 20, p99Ms: 1_000, callbackMs: 5_000, ratio: 1.2, memoryMb: 1024 };
for (const [option, bound] of Object.entries({
  requests: 'requests',
  'per-second': 'perSecond',
  'p99-ms': 'p99Ms',
  'callback-ms': 'callbackMs',
  ratio: 'ratio',
  'memory-mb': 'memoryMb',
})) {
  if (values[option] !== undefined) bounds[bound] = Number(values[option]);
}

const rows = [];
const scenes = await prepareScenes({ inOne: values.smoke });
try {
  for (const name of positionals.length > 0 ? positionals : known) {
    const attack = await import(`./attacks/${name}.mjs`);
    const variants = attack.behindProxy && !values.smoke ? [false, true] : [false];
    for (const behindProxy of variants) {
      const row = await observeAttack(scenes, { name, attack, behindProxy, bounds });
      rows.push(row);
      console.error(`test:attack: ${row.attack}: ${row.broken.join('; ') || 'within its bounds'}`);
    }
  }
} finally {
  await scenes.close();
}
console.table(Object.fromEntries(rows.map((row) => [row.attack, shown(row)])));
console.log(
  `load of this machine: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}`,
);
for (const { attack, broken } of rows) for (const bound of broken) console.log(`BROKEN ${attack}: ${bound}`);
if (values.json) writeFileSync(values.json, `${JSON.stringify({ bounds, rows }, null, 2)}\n`);
if (rows.some(({ broken }) => broken.length > 0)) process.exitCode = 1;

function shown({ before, during, recoveryMs, memoryMb, fixed, broken }) {
  const pair = ({ p50, p99 }) => `${p50}/${p99}`;
  return {
    'before p50/p99 ms': before ? pair(before) : '',
    refused: before?.refused ?? '',
    'during p50/p99 ms': during ? pair(during) : '',
    'refused ': during?.refused ?? '',
    'callbacks p99 ms': during?.callbackP99 ?? '',
    'recovery ms': recoveryMs ?? '',
    'memory MB': memoryMb ? Object.values(memoryMb).join('/') : '',
    'searches after': fixed ? `×${fixed.p50.toFixed(2)}/×${fixed.p99.toFixed(2)}` : '',
    ok: broken.length === 0 ? 'yes' : 'BROKEN',
  };
}
