// Black-box checks of a node. A check sees one clause of the specification from outside: it passes, fails with what came instead, or is skipped with the reason.

export type Role = 'catalog' | 'discovery' | 'tree';

/** @typeParam Scene what the checks of a role share: who asks, and what was asked before */
export interface Check<Scene> {
  name: string;
  clause: string;
  expects: string;
  /** Throws CheckFailed or CheckSkipped. */
  run(scene: Scene): Promise<void>;
}

/** The checks of one clause. A key has the name of a check and what it expects: `pull-limit: 400 when limit is 101`. */
export function clause<Scene>(text: string, checks: Record<string, Check<Scene>['run']>): Check<Scene>[] {
  return Object.entries(checks).map(([key, run]) => {
    const [name = '', expects = ''] = key.split(/: (.*)/s);
    return { name, clause: text, expects, run };
  });
}

/** The node did something else than the clause asks for; the message says what came. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

/** The check could not be made; the message says why. */
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

/** One check after the other: later ones look at what earlier ones have asked for. */
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

/** Makes it at the first call and returns the same afterwards: several checks look at one exchange. */
export function memoize<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
