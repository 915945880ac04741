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
  /** Throws Unmet or NotReached. */
  run(scene: Scene): Promise<void>;
}

/** The node did something else than the clause asks for; the message says what came. */
export class Unmet extends Error {
  override readonly name = 'Unmet';
}

/** The check could not be made; the message says why. */
export class NotReached extends Error {
  override readonly name = 'NotReached';
}

export interface CheckResult {
  name: string;
  clause: string;
  expected: string;
  verdict: 'passed' | 'failed' | 'skipped';
  /** What came instead, or why the check was skipped. */
  came?: string;
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
): Promise<Pick<CheckResult, 'verdict' | 'came'>> {
  try {
    await check.run(scene);
    return { verdict: 'passed' };
  } catch (error) {
    if (error instanceof Unmet) return { verdict: 'failed', came: error.message };
    if (error instanceof NotReached) return { verdict: 'skipped', came: error.message };
    throw error;
  }
}

/** Remembers what was made first: several checks look at one exchange. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
