import fc from 'fast-check';

// Property tests draw the same cases every time, so that a run fails only for what changed. NEW_CASES=1 draws new ones, as the long tests do.
if (process.env.NEW_CASES === undefined) fc.configureGlobal({ seed: 20_261_115 });
