import { expect, it } from 'vitest';
import { patienceMs } from '../../tests/support/patience.ts';
import { silentLogger } from '../logger.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { createThreadPool } from '../thread-pool.ts';
import { createDeadline } from './deadline.ts';
import { evaluating } from './evaluation.ts';
import { evaluateUrl, testDocuments } from './filter/evaluate.ts';

it('SCH_INVALID_JSONPATH: a filter that selects too much is refused as well where a thread evaluates it', async () => {
  const threads = createThreadPool({ size: 1, logger: silentLogger() });
  const everything = `[${Array(20).fill('*').join()}]`;
  const row = Array(110).fill(0);
  const input = {
    expression: `$.catalogs[*].resources[?count(@.grid${everything}${everything}) > 1]`,
    acceptPostfix: false,
    list: 'resources',
    texts: [JSON.stringify({ id: 'wide', grid: Array(110).fill(row) })],
  };
  const options = { deadline: createDeadline(patienceMs), owner: 'somebody' };
  const task = { module: evaluateUrl, name: testDocuments.name, input };
  const refused = await evaluating(threads, options, ({ run }) => run('filter', task)).catch(
    (error) => error,
  );
  await threads.close();
  expect(refused).toBeInstanceOf(ProtocolError);
  expect(refused).toMatchObject({
    ...{ code: 'SCH_INVALID_JSONPATH', status: 400, path: '$.message.intent.filters.expression' },
    message: expect.stringContaining('too costly'),
  });
});
