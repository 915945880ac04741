// Black-box checks of a node. A check tests one clause of the specification: it passes, fails with the actual result, or is skipped with a reason.

export type Role = 'catalog' | 'discovery' | 'tree';

/** @typeParam Scene shared by the checks of a role: the sender and earlier requests */
export interface Check<Scene> {
  name: string;
  clause: string;
  expects: string;
  /** Throws CheckFailed or CheckSkipped. */
  run(scene: Scene): Promise<void>;
}

/** The checks of one clause. A key has the name of a check and its expectation: `pull-limit: 400 when limit is 101`. */
export function clause<Scene>(text: string, checks: Record<string, Check<Scene>['run']>): Check<Scene>[] {
  return Object.entries(checks).map(([key, run]) => {
    const [name = '', expects = ''] = key.split(/: (.*)/s);
    return { name, clause: text, expects, run };
  });
}

/** The node violated the clause; the message describes the actual result. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

/** The check could not run; the message says why. */
export class CheckSkipped extends Error {
  override readonly name = 'CheckSkipped';
}

export interface CheckResult {
  name: string;
  clause: string;
  expected: string;
  verdict: 'passed' | 'failed' | 'skipped';
  actual?: string;
  milliseconds: number;
}

/** Runs the checks in order: later ones use the requests of earlier ones. */
export async function* runChecks<Scene>(checks: readonly Check<Scene>[], scene: Scene, signal: AbortSignal) {
  for (const { name, clause, expects: expected, run } of checks) {
    if (signal.aborted) return;
    const startedAt = performance.now();
    const outcome = await judge(() => run(scene));
    yield { name, clause, expected, ...outcome, milliseconds: Math.round(performance.now() - startedAt) };
  }
}

async function judge(run: () => Promise<void>): Promise<Pick<CheckResult, 'verdict' | 'actual'>> {
  try {
    await run();
    return { verdict: 'passed' };
  } catch (error) {
    if (error instanceof CheckFailed) return { verdict: 'failed', actual: error.message };
    if (error instanceof CheckSkipped) return { verdict: 'skipped', actual: error.message };
    throw error;
  }
}

/** Makes the value at the first call and returns it for later calls: several checks examine one exchange. */
export function memoize<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
