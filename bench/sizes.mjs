// How much a scenario does: as much as is worth measuring, or, with BENCH_MINIATURE=1, as little as shows that it still runs.

const isMiniature = process.env.BENCH_MINIATURE === '1';

/** Both name the same sizes. */
export function chooseSizes({ whole, miniature }) {
  return isMiniature ? miniature : whole;
}

/** A size that the environment may set. */
export function sizeFrom(variable, usual) {
  return Number(process.env[variable] ?? usual);
}
