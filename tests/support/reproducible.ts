import fc from 'fast-check';

// Property tests draw the same cases every time, so that only changes can make a run fail. NEW_CASES=1 draws new cases, and the full number, like the
// long tests.
const isNew = process.env.NEW_CASES !== undefined;
if (!isNew) fc.configureGlobal({ seed: 20_261_115 });

/** How many cases of a costly property are drawn: a quarter, or all with NEW_CASES. */
export function runs(all: number): number {
  return isNew ? all : Math.ceil(all / 4);
}
