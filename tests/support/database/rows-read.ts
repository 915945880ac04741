import type { Database, Queryable } from '../../../src/storage/database.ts';
import { createQueryable } from '../../../src/storage/statement.ts';

/** How many rows PostgreSQL reads for some work: rows that scans return, and rows that filters drop. */
export async function countRowsRead(
  database: Database,
  work: (queryable: Queryable) => Promise<unknown>,
): Promise<number> {
  let total = 0;
  const counting = createQueryable(async (text, values) => {
    const plan = await database.value<string>(`explain (analyze, timing off, format json) ${text}`, values);
    total += rowsOf(JSON.parse(plan)[0].Plan);
    return database.query(text, values);
  });
  await work(counting);
  return total;
}

interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

function rowsOf(node: PlanNode): number {
  const {
    'Actual Rows': rows,
    'Actual Loops': loops,
    'Rows Removed by Filter': removed = 0,
    Plans = [],
  } = node;
  const own = / Scan$/.test(node['Node Type']) ? (rows + removed) * loops : 0;
  return own + Plans.reduce((sum, child) => sum + rowsOf(child), 0);
}
