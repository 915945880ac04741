// The size of a scenario: large enough to measure, or, with BENCH_MINIATURE=1, just enough to show that it still runs.

const isMiniature = process.env.BENCH_MINIATURE === '1';

/** Both name the same sizes. */
export function chooseSizes({ whole, miniature }) {
  return isMiniature ? miniature : whole;
}

/** A size that the environment may override. */
export function sizeFrom(variable, usual) {
  return Number(process.env[variable] ?? usual);
}
