import { findEditDistance } from '../../rules/text/typing-errors.ts';

/** How many known paths are named beside an unknown one. */
const maxNamed = 3;

/** The known paths that come closest to a target that nothing is indexed under: most of their names in common, then the best spelling. */
export function closePaths(target: string, known: readonly string[]): string[] {
  const names = new Set(namesOf(target));
  return known
    .map((path) => {
      const others = namesOf(path);
      const shared = others.filter((name) => names.has(name)).length / Math.max(others.length, names.size);
      const spelling = findEditDistance(path, target, path.length) ?? path.length;
      return { path, shared, spelling };
    })
    .sort((a, b) => b.shared - a.shared || a.spelling - b.spelling || (a.path < b.path ? -1 : 1))
    .slice(0, maxNamed)
    .map(({ path }) => path);
}

function namesOf(path: string): string[] {
  return path.match(/[^.[\]'"$*]+/g) ?? [];
}
