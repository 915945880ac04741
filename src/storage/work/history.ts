import { raw, type Sql, sql } from '../sql.ts';

// The history of a delivery: its last requests, each with its answer, beside the row of the callback or push. A delivery that succeeded at once has none: its row has the time and
// the status, and nearly all deliveries are of that kind.

export interface Exchange {
  at: Date;
  durationMs: number;
  url: string;
  /** Undefined: no answer came. */
  status?: number;
  /** The beginning of the answer, or why none came. */
  answer: string;
  request: string;
}

export type PastExchange = Omit<Exchange, 'at'> & { at: string };

/** Maximum for each delivery. A dead receiver may have thousands of deliveries. */
const maxExchanges = 10;

/** The SQL of a history with later exchanges at its end; as it was where these are null. */
export function appendHistory(history: Sql, later: string | Sql): Sql {
  return sql`case when ${later}::jsonb is null then ${history}
    else jsonb_path_query_array(coalesce(${history}, '[]') || ${later}::jsonb, '$[last - ${raw(maxExchanges - 1)} to last]') end`;
}

export function exchangesToKeep(
  exchanges: readonly Exchange[],
  { isDelivered, failedBefore }: { isDelivered: boolean; failedBefore: boolean },
): string | undefined {
  const isWorthIt =
    failedBefore || !isDelivered || exchanges.some(({ status = 0 }) => status >= 300 || status === 0);
  return isWorthIt && exchanges.length > 0 ? JSON.stringify(exchanges.slice(-maxExchanges)) : undefined;
}
