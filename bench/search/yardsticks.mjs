// The speed of the yardsticks when they were chosen, at a million stations on two cores: p50 in ms of first-time questions. If one is much slower in
// a run, that says more about the machine, or about the set-up of the yardstick, than about us.

const figures = {
  /** Merged into one segment. */
  merged: {
    equality: 2.6,
    radius: 3.8,
    'radius + range': 3.5,
    'range + equality': 3.5,
    'text + radius + filter': 8.6,
    'rare word': 5.6,
    'common words': 22,
  },
  plain: { radius: 0.6, 'rare word': 0.8, 'unique fact': 0.3 },
};
const tolerance = 1.3;
/** The data set of these figures. */
const measuredWith = { data: 'stations', resources: 1_000_000 };

/** As sentences, one for each yardstick that is too slow; `p50` has the measured times. */
export function findSlowYardsticks({ data, resources }, p50) {
  if (data !== measuredWith.data || resources !== measuredWith.resources) return [];
  return Object.entries(figures).flatMap(([engine, kinds]) =>
    Object.entries(kinds).flatMap(([kind, figure]) => {
      const measured = p50(engine, kind);
      return measured > tolerance * figure
        ? [`${engine}, ${kind}: ${measured.toFixed(2)} ms instead of ${figure} ms`]
        : [];
    }),
  );
}
