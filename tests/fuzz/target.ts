import type fc from 'fast-check';
import type { Scene } from './scene.ts';

// A target of the suite: how its cases are drawn, and how one is tried. A case is plain JSON, so that a case that found a fault can become a fixture.

export interface Target<C = unknown> {
  name: string;
  /** Its share of all cases. */
  weight: number;
  cases: fc.Arbitrary<C> | ((scene: Scene) => Promise<fc.Arbitrary<C>>);
  /** @param id for the header X-Request-Id, which identifies log lines; throws a Fault */
  run(scene: Scene, one: C, id: string): Promise<Outcome>;
  /** How many at once. */
  concurrency?: number;
  /** Checks invariants after all of its cases; throws a Fault. */
  finish?(scene: Scene): Promise<void>;
}

/** `accepted`, or the code of the refusal. */
export type Outcome = string;

export const accepted: Outcome = 'accepted';

/** `5xx`: an undocumented 5xx answer. `crash`: a process has ended. `memory`: a process has grown above its bound. */
export type FaultKind = '5xx' | 'crash' | 'memory' | 'other';

/** Something that must never happen, for any input. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly kind: FaultKind;

  constructor(message: string, kind: FaultKind = 'other') {
    super(message);
    this.kind = kind;
  }
}
