// The quality of a ranking, by the grades of a query: nDCG (2^grade - 1, divided by the logarithm of the rank, compared with the best possible
// order), the reciprocal rank of the first hit with a grade above 0, and the share of all products with such a grade that are in the first hundred
// hits.

export function measureQuery(ids, grades) {
  const isGood = (id) => (grades.get(id) ?? 0) > 0;
  const good = [...grades.keys()].filter(isGood).length;
  const first = ids.findIndex(isGood);
  return {
    ndcg: good > 0 ? ndcgOf(ids, grades) : undefined,
    judgedNdcg:
      good > 0
        ? ndcgOf(
            ids.filter((id) => grades.has(id)),
            grades,
          )
        : undefined,
    reciprocalRank: first === -1 ? 0 : 1 / (first + 1),
    recall: good > 0 ? ids.slice(0, 100).filter(isGood).length / good : undefined,
    found: ids.length,
  };
}

function ndcgOf(ids, grades) {
  return gainOf(ids.map((id) => grades.get(id) ?? 0)) / gainOf([...grades.values()].sort((a, b) => b - a));
}

function gainOf(grades) {
  return grades.slice(0, 10).reduce((sum, grade, place) => sum + (2 ** grade - 1) / Math.log2(place + 2), 0);
}

/** Undefined values do not count. */
export function mean(values) {
  const known = values.filter((value) => value !== undefined);
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** The 95 % confidence interval of the mean (bootstrap). */
export function intervalOf(values, draws = 2_000) {
  const known = values.filter((value) => value !== undefined);
  const random = randomNumbers(1);
  const means = Array.from({ length: draws }, () =>
    mean(known.map(() => known[Math.floor(random() * known.length)])),
  );
  means.sort((a, b) => a - b);
  return [means[Math.floor(draws * 0.025)], means[Math.floor(draws * 0.975)]];
}

/** From 0 up to 1, and the same for the same seed (mulberry32). */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
