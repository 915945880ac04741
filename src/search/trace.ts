/** A trace of one search, step by step, for the operator. */
export interface Trace {
  steps: TraceStep[];
  /** Notes one step; `details` say which index was used, how many candidates there were, how many survived. */
  note(step: string, details: Record<string, unknown>): void;
  /** Runs one step and notes how long it took, with what `details` makes of its result. */
  time<T>(step: string, work: () => Promise<T>, details?: (result: T) => Record<string, unknown>): Promise<T>;
}

export interface TraceStep {
  step: string;
  ms?: number;
  [detail: string]: unknown;
}

export function createTrace(): Trace {
  const steps: TraceStep[] = [];
  return {
    steps,
    note: (step, details) => void steps.push({ step, ...details }),
    async time(step, work, details) {
      const start = performance.now();
      const result = await work();
      steps.push({ step, ms: Math.round((performance.now() - start) * 100) / 100, ...details?.(result) });
      return result;
    },
  };
}
