// Runs suites of tests, one after the other, and says at the end how each went: node scripts/suites.mjs [suite …]. Without names, all of them.
import { spawnSync } from 'node:child_process';

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
  const { status } = spawnSync('npm', ['run', `test:${suite}`], { stdio: 'inherit' });
  results.push({ suite, passed: status === 0, seconds: Math.round((Date.now() - began) / 1000) });
}
for (const { suite, passed, seconds } of results)
  console.log(`${passed ? 'passed' : 'FAILED'}  test:${suite.padEnd(14)} ${seconds} s`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
