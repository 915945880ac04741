// Black-box checks of somebody's node. A check stands for one clause of the specification that can be seen from outside: it passes, it fails with what came
// instead, or it is skipped with the reason why it could not be made.

export const roles = ['catalog', 'discovery', 'tree'] as const;
export type Role = (typeof roles)[number];

/** @typeParam Scene what the checks of a role share: who asks, and what was asked before */
export interface Check<Scene> {
  /** Unique among the checks of a role. */
  name: string;
  /** Where the specification asks for it. */
  clause: string;
  expects: string;
  /** Throws CheckFailed or CheckSkipped. */
  run(scene: Scene): Promise<void>;
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
  /** What came instead, or why the check was skipped. */
  actual?: string;
  milliseconds: number;
}

/** One check after the other: later ones look at what earlier ones have asked for. */
export async function* runChecks<Scene>(
  checks: readonly Check<Scene>[],
  scene: Scene,
  signal: AbortSignal,
): AsyncGenerator<CheckResult> {
  for (const check of checks) {
    if (signal.aborted) return;
    const startedAt = performance.now();
    const outcome = await judge(check, scene);
    const { name, clause, expects: expected } = check;
    yield { name, clause, expected, ...outcome, milliseconds: Math.round(performance.now() - startedAt) };
  }
}

async function judge<Scene>(
  check: Check<Scene>,
  scene: Scene,
): Promise<Pick<CheckResult, 'verdict' | 'actual'>> {
  try {
    await check.run(scene);
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
