import fc from 'fast-check';

// Property tests draw the same cases every time, so that a run fails only for what changed. NEW_CASES=1 draws new ones, and all of them, as the long tests do.
const isNew = process.env.NEW_CASES !== undefined;
if (!isNew) fc.configureGlobal({ seed: 20_261_115 });

/** How many of the cases of a costly property are drawn: a quarter, or all with NEW_CASES. */
export function runs(all: number): number {
  return isNew ? all : Math.ceil(all / 4);
}
