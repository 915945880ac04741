// Rows with a goal. A ratio above 1 misses the goal.

export function atMost(goal, { scenario, value, unit }) {
  const margin = goal === 0 ? (value === 0 ? 'met' : 'missed') : `margin ${percent(1 - value / goal)}`;
  return {
    scenario,
    value,
    unit,
    against: `a goal of at most ${goal.toLocaleString('en-US')} ${unit} (${margin})`,
    ratio: goal === 0 ? value : value / goal,
  };
}

export function atLeast(goal, { scenario, value, unit }) {
  return {
    scenario,
    value,
    unit,
    against: `a goal of at least ${goal.toLocaleString('en-US')} ${unit} (margin ${(value - goal).toFixed(2)} ${unit})`,
    ratio: value === 0 ? Number.POSITIVE_INFINITY : goal / value,
  };
}

function percent(part) {
  return `${Math.round(part * 100)} %`;
}
