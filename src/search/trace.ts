export type Trace = ReturnType<typeof createTrace>;

export interface TraceStep {
  step: string;
  ms?: number;
  [detail: string]: unknown;
}

interface Phase {
  name: string;
  startedAt: number;
  endedAt: number;
}

/** A trace of one search, step by step, for the operator. */
export function createTrace() {
  const steps: TraceStep[] = [];
  const phases: Phase[] = [];
  let startedAt = performance.now();
  return {
    steps,
    /** Consecutive phases of a search, by performance.now(): plan, refresh, find. */
    phases,
    /** Ends a phase, which began at the end of the previous one. */
    endPhase(name: string): void {
      const endedAt = performance.now();
      phases.push({ name, startedAt, endedAt });
      startedAt = endedAt;
    },
    /** Notes one step. `details`: which index was used, number of candidates, number of survivors. */
    note: (step: string, details: Record<string, unknown>) => void steps.push({ step, ...details }),
    /** Runs one step and notes its duration, with the `details` of its result. */
    async time<T>(step: string, work: () => Promise<T>, details?: (result: T) => object): Promise<T> {
      const start = performance.now();
      const result = await work();
      steps.push({ step, ms: Math.round((performance.now() - start) * 100) / 100, ...details?.(result) });
      return result;
    },
  };
}
