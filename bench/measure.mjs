// Ours and the yardstick alternate in one run, so that a noisy machine affects both alike.

/**
 * Runs both `repeat` times in turn; each returns a rate. Returns the medians, and the median of the ratios of neighbours. Work that has run before,
 * or takes long, needs no warm-up.
 */
export async function sideBySide({ repeat, ours, yardstick, isWarm = false }) {
  if (!isWarm) {
    await ours();
    await yardstick();
  }
  const rounds = [];
  for (let round = 0; round < repeat; round += 1) {
    const [first, second] = round % 2 === 0 ? [ours, yardstick] : [yardstick, ours];
    const firstRate = await first();
    const secondRate = await second();
    rounds.push(
      round % 2 === 0 ? { ours: firstRate, bare: secondRate } : { ours: secondRate, bare: firstRate },
    );
  }
  return {
    value: median(rounds.map((round) => round.ours)),
    bare: median(rounds.map((round) => round.bare)),
    ratio: median(rounds.map((round) => round.ours / round.bare)),
  };
}

/** Undefined beside zero, as when OpenSearch finds none of a few misspelt words. */
export function ratioTo(value, yardstick) {
  return yardstick === 0 ? undefined : value / yardstick;
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function quantile(numbers, percentile) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percentile) / 100))];
}

/** How many times per second `work` finishes, with `concurrency` at once, for `seconds`. */
export async function ratePerSecond(work, { concurrency, seconds }) {
  const end = performance.now() + seconds * 1000;
  const start = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < end) {
        await work();
        done += 1;
      }
    }),
  );
  return (done * 1000) / (performance.now() - start);
}
