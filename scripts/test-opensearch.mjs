// Runs the tests of OpenSearch, and every test of discover once more with OpenSearch as the index: node scripts/test-opensearch.mjs [filter …]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findObstacle, startOpenSearch } from './opensearch.mjs';

const obstacle = process.env.OPENSEARCH_URL ? undefined : findObstacle();
if (obstacle) {
  console.error(`OpenSearch ${obstacle}.`);
  process.exitCode = 1;
} else {
  const running = process.env.OPENSEARCH_URL ? undefined : await startOpenSearch({ heapMb: 512 });
  const filters = process.argv.slice(2);
  const tests = filters.length > 0 ? filters : ['tests/opensearch/', 'tests/ways/discover/', 'tests/search/'];
  const env = {
    ...process.env,
    OPENSEARCH_URL: process.env.OPENSEARCH_URL ?? running.url,
    TEST_SEARCH_INDEX: 'opensearch',
  };
  const child = spawn('npx', ['vitest', 'run', ...tests], { stdio: 'inherit', env });
  [process.exitCode] = await once(child, 'exit');
  await running?.close();
}
