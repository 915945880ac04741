// Runs suites of tests one after another, and lists the results at the end: node scripts/suites.mjs [suite …]. Without names, runs all.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const all = [
  'processes',
  'package',
  'console',
  'api',
  'conform',
  'large',
  'search',
  'opensearch',
  'histories',
  'crawl',
  'browser',
  'mcp',
  'docs',
  'bench',
  'faults',
  'fuzz',
  'attack',
  'blocked',
  'long',
];

const asked = process.argv.slice(2);
const results = [];
for (const suite of asked.length > 0 ? asked : all) {
  const began = Date.now();
  const { passed, lines } = await runSuite(suite);
  results.push({ suite, passed, lines, seconds: Math.round((Date.now() - began) / 1000) });
}
for (const { suite, passed, lines } of results)
  if (!passed)
    console.log(`\nHow test:${suite} failed:\n\n${lines.slice(whereFaultsBegin(lines)).join('\n')}`);
for (const { suite, passed, seconds } of results)
  console.log(`${passed ? 'passed' : 'FAILED'}  test:${suite.padEnd(14)} ${seconds} s`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;

/** Shows the output of the suite as it comes, and keeps it: failures are repeated at the end, where people look for them. */
async function runSuite(suite) {
  const child = spawn('npm', ['run', `test:${suite}`], { stdio: ['inherit', 'pipe', 'pipe'] });
  let output = '';
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (text) => {
      process[name].write(text);
      output += text;
    });
  const [status] = await once(child, 'close');
  return { passed: status === 0, lines: output.trimEnd().split('\n') };
}

/** Vitest lists failures last; a suite that failed in another way shows the cause in its last lines. */
function whereFaultsBegin(lines) {
  const heading = lines.findIndex((line) => /Failed (Tests|Suites)|Unhandled Error/.test(line));
  return heading >= 0 ? heading : Math.max(0, lines.length - 40);
}
