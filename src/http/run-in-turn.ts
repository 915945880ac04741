import { NoTurn, type Turns } from '../fair-turns.ts';
import { overloaded } from '../protocol/errors.ts';

/** Does the work when it is its owner's turn; throws NET_OVERLOADED when that does not come in time, or too much of the owner waits already. */
export async function runInTurn<T>(
  { turns, owner, waitMs }: { turns: Turns; owner: string; waitMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const turn = await turns.take(owner, waitMs).catch(refuse);
  try {
    return await work();
  } finally {
    turn.end();
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof NoTurn)) throw error;
  throw overloaded('Too many of your requests are waiting. Try again later.', { cause: error });
}
