import type { Problem } from './station.ts';

/** Reports a problem of one thing in the source; a lost value, unless it says otherwise. */
export type Report = (why: string, more?: Partial<Problem>) => void;

export function reporter(at: string, problems: Problem[]): Report {
  return (why, more) => void problems.push({ at, why, kind: 'value', ...more });
}
