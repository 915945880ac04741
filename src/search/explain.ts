import type { Context } from '../protocol/context.ts';
import { checkDiscoverMessage, type DiscoverMessage } from '../protocol/discover-messages.ts';
import type { Pagination } from '../protocol/shapes.ts';
import type { LeftOut } from '../rules/discover/page-answer.ts';
import { createDeadline } from './deadline.ts';
import { findNearMisses } from './near-misses/near-misses.ts';
import { type Evaluator, evaluateIntent } from './search.ts';
import type { TraceStep } from './trace.ts';

/** How an intent was evaluated, for the operator of the index. */
export interface Explanation {
  /** In the order in which they ended: what was asked of which index, how much was left after it, and how long it took. */
  steps: TraceStep[];
  resourceCount: number;
  /** Only where the request paged. */
  pagination?: Pagination;
  leftOut?: LeftOut;
}

/**
 * Evaluates an intent as the discovery service does, on its index, and tells how. Nothing is sent or stored. Throws a ProtocolError as
 * discover would answer it.
 */
export async function explainIntent(
  evaluator: Evaluator,
  message: DiscoverMessage,
  scope: Pick<Context, 'networkId' | 'schemaContext'>,
): Promise<Explanation> {
  checkDiscoverMessage(message);
  const deadline = createDeadline(evaluator.config.DISCOVER_TIMEOUT_MS);
  const { answer, trace } = await evaluateIntent(evaluator, message, scope, { deadline });
  if (answer.total === 0) await findNearMisses(evaluator, { message, scope, deadline, trace });
  const { resourceCount, pagination, leftOut } = answer;
  return { steps: trace.steps, resourceCount, pagination, leftOut };
}
