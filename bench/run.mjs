// npm run bench [-- scenario…] [--json FILE] [--repeat N] [--size RESOURCES] [--data stations|products|DIR] [--without-opensearch] [--without-postgresql]
// Runs the scenarios (by default all of bench/scenarios), prints each row at once and all rows as a table, and writes rows {scenario, value, unit,
// against, ratio}.
// Each scenario alternates with its yardstick in the same run; the table shows medians.
import { readdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    repeat: { type: 'string', default: '5' },
    size: { type: 'string' },
    data: { type: 'string' },
    'without-opensearch': { type: 'boolean', default: false },
    'without-postgresql': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const options = {
  repeat: Number(values.repeat),
  size: values.size && Number(values.size),
  data: values.data,
  withoutOpenSearch: values['without-opensearch'],
  withoutPostgresql: values['without-postgresql'],
};

if (values.help) {
  console.log(`npm run bench [-- SCENARIO…] [OPTIONS]

Runs benchmarks, prints each row as it comes and all of them in a table. Without a scenario, all run.

  --json FILE            write the rows {scenario, value, unit, against, ratio} as JSON
  --repeat N             rounds of each scenario; the table shows medians (5)
  --size RESOURCES       how many resources the searches have (100,000)
  --data stations|products  what they search in; for relevance, a directory with judged products
  --without-opensearch   do not compare with OpenSearch, which needs Java 17 and Maven
  --without-postgresql   do not compare with plain PostgreSQL, which takes a minute for a text in five million resources

Scenarios: ${readdirSync(new URL('./scenarios/', import.meta.url))
    .map((file) => file.replace('.mjs', ''))
    .join(', ')}`);
  process.exit(0);
}

const known = readdirSync(new URL('./scenarios/', import.meta.url))
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length));
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`bench: no scenario ${unknown.join(', ')}; there are: ${known.join(', ')}`);
  process.exit(1);
}

const rows = [];
for (const name of positionals.length > 0 ? positionals : known) {
  console.error(`bench: ${name} …`);
  try {
    const { run } = await import(`./scenarios/${name}.mjs`);
    for await (const row of await run(options)) {
      rows.push(row);
      console.error(`bench: ${row.scenario}: ${format(row.value)} ${row.unit}, ${ratioText(row)}`);
    }
  } catch (error) {
    // The results of the other scenarios are still useful.
    console.error(`bench: ${name} failed:`, error);
    process.exitCode = 1;
  }
}
console.table(
  rows.map(({ scenario, value, unit, against, ratio }) => ({
    scenario,
    value: format(value),
    unit,
    against: against ?? '',
    ratio: ratio === undefined ? '' : ratio.toFixed(2),
  })),
);
if (values.json) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);

function format(value) {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 1 ? 3 : value < 100 ? 2 : 0 });
}

function ratioText({ ratio, against }) {
  return ratio === undefined ? (against ?? 'nothing to compare with') : `${ratio.toFixed(2)} of ${against}`;
}
