import type { Problem } from './station.ts';

/** Reports a problem with one item of the source; by default, a lost value. */
export type Report = (why: string, more?: Partial<Problem>) => void;

export function reporter(at: string, problems: Problem[]): Report {
  return (why, more) => void problems.push({ at, why, kind: 'value', ...more });
}
