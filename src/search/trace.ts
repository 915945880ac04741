/** A trace of one search, step by step, for the operator. */
export interface Trace {
  steps: TraceStep[];
  /** The parts of a search one after the other, on the clock of performance.now(): plan, candidates, check. */
  phases: Phase[];
  /** A phase ends, which began when the one before ended. */
  endPhase(name: string): void;
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

export interface Phase {
  name: string;
  startedAt: number;
  endedAt: number;
}

export function createTrace(): Trace {
  const steps: TraceStep[] = [];
  const phases: Phase[] = [];
  let startedAt = performance.now();
  return {
    steps,
    phases,
    endPhase(name) {
      const endedAt = performance.now();
      phases.push({ name, startedAt, endedAt });
      startedAt = endedAt;
    },
    note: (step, details) => void steps.push({ step, ...details }),
    async time(step, work, details) {
      const start = performance.now();
      const result = await work();
      steps.push({ step, ms: Math.round((performance.now() - start) * 100) / 100, ...details?.(result) });
      return result;
    },
  };
}
