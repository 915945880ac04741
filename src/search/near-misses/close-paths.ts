import { findEditDistance } from '../../rules/text/typing-errors.ts';

/** Of the likely ones, so many are compared letter by letter. */
const maxSpelled = 20;
/** Names differ by so many letters at most to be like each other. */
const maxNameEdits = 3;

/**
 * The known paths that come closest to one that nothing stands at: those that end like it, in whatever case; then those with most names in common;
 * then the best spelling.
 */
export function findClosePaths(asked: string, known: readonly string[], atMost: number): string[] {
  const names = new Set(namesOf(asked));
  const last = lastOf(names);
  const likely = known
    .map((path) => {
      const others = namesOf(path);
      const shared = others.filter((name) => names.has(name)).length / Math.max(others.length, names.size, 1);
      return { path, ending: compareNames(last, lastOf(others)), shared, spelling: 0 };
    })
    .sort(byLikeness)
    .slice(0, maxSpelled);
  return likely
    .map((each) => {
      const longer = Math.max(each.path.length, asked.length);
      return { ...each, spelling: findEditDistance(each.path, asked, longer) ?? longer };
    })
    .sort(byLikeness)
    .slice(0, atMost)
    .map(({ path }) => path);
}

interface Likeness {
  path: string;
  ending: number;
  shared: number;
  spelling: number;
}

function byLikeness(a: Likeness, b: Likeness): number {
  return a.ending - b.ending || b.shared - a.shared || a.spelling - b.spelling || (a.path < b.path ? -1 : 1);
}

/** 0: the same but for case. Then so many letters apart; then one within the other; then nothing alike. */
function compareNames(one: string, other: string): number {
  const most = Math.min(maxNameEdits, Math.floor(Math.min(one.length, other.length) / 2));
  const edits = findEditDistance(one, other, most);
  if (edits !== undefined) return edits;
  return one.includes(other) || other.includes(one) ? maxNameEdits + 1 : maxNameEdits + 2;
}

function lastOf(names: Iterable<string>): string {
  return ([...names].at(-1) ?? '').toLowerCase();
}

function namesOf(path: string): string[] {
  return path.match(/[^.[\]'"$*]+/g) ?? [];
}
