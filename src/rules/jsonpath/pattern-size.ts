/** Estimates the size of a regular expression in RE2, with counted repetitions expanded: `a{3}b` is four. Time and memory grow with it. Fits all grammars. */
export function patternSize(pattern: string): number {
  /** Sizes before each open parenthesis, and the size of the last atom, which a repetition multiplies. */
  const outer: number[] = [];
  let sum = 0;
  let last = 0;
  for (const [text, group] of pattern.matchAll(token)) {
    if (text === '(') {
      outer.push(sum);
      sum = 0;
      last = 0;
    } else if (text === ')') {
      last = sum + 1;
      sum = (outer.pop() ?? 0) + last;
    } else if (group !== undefined) {
      const more = last * (timesOf(group) - 1);
      sum += more;
      last += more;
    } else {
      last = 1;
      sum += 1;
    }
  }
  return outer.reduce((total, size) => total + size, sum);
}

/** A repetition, an escaped character or category, a class, or any one character. */
const token = /\{(\d+(?:,\d*)?)\}|\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|./gsu;

function timesOf(counts: string): number {
  return Math.max(1, ...counts.split(',').map(Number));
}
