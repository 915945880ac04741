import { attempt } from '../../attempt.ts';
import { loadRe2 } from '../re2.ts';

/**
 * The patterns of `like_regex` in SQL/JSON paths, found anywhere in a text, run by RE2 in linear time. Flags: i (any case), s (a dot matches line
 * ends), m (anchors at line ends), q (plain text). Undefined if RE2 cannot run the pattern, such as a look-ahead, or if a flag is unknown.
 */
export function compileLikeRegexp(pattern: string, flags: string): ((text: string) => boolean) | undefined {
  if (!/^[ismq]*$/.test(flags)) return undefined;
  const re2 = loadRe2();
  const flagBits: Record<string, number> = { i: re2.CASE_INSENSITIVE, s: re2.DOTALL, m: re2.MULTILINE };
  const source = flags.includes('q') ? re2.quote(pattern) : pattern;
  const options = [...flags].reduce((bits, flag) => bits | (flagBits[flag] ?? 0), 0);
  const compiled = attempt(() => re2.compile(source, options));
  return compiled && ((text) => compiled.test(text));
}
