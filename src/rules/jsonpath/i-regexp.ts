import { attempt } from '../../attempt.ts';
import { loadRe2 } from '../re2.ts';

/** I-Regexp (RFC 9485), the patterns of match() and search(), run by RE2 in linear time. Undefined where the pattern is no I-Regexp; throws where RE2 will not run it, such as for a repetition of more than 1,000. */
export function findIRegexp(pattern: string): IRegexp | undefined {
  const translated = translate(pattern);
  return translated === undefined ? undefined : loadRe2().compile(translated);
}

/** `matches` asks for the whole text, `test` for some part of it. */
export type IRegexp = Pick<ReturnType<ReturnType<typeof loadRe2>['compile']>, 'matches' | 'test'>;

/** RE2 reads every I-Regexp with the same meaning, except that "." must also not match a carriage return (RFC 9485 section 5.4). The grammar of section 4 refuses what RE2 knows beyond it. */
function translate(pattern: string): string | undefined {
  let translated = '';
  let depth = 0;
  let afterAtom = false;
  token.lastIndex = 0;
  while (token.lastIndex < pattern.length) {
    const found = token.exec(pattern);
    if (found === null) return undefined;
    const { quantifier, open, close, or } = found.groups ?? {};
    if (quantifier !== undefined && !afterAtom) return undefined;
    if (open !== undefined) depth++;
    if (close !== undefined && --depth < 0) return undefined;
    afterAtom = (quantifier ?? open ?? or) === undefined;
    translated += found[0] === '.' ? '[^\\n\\r]' : found[0];
  }
  return depth === 0 ? translated : undefined;
}

const singleCharEscape = String.raw`\\[(-+\-.?\[-^nrt{-}]`;
const category = String.raw`\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[c-fios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}`;
const classChar = String.raw`(?:[^\-\[\\\]]|${singleCharEscape})`;
const classItem = `(?:${classChar}(?:-${classChar})?|${category})`;
const atom = String.raw`[^()*+.?\[\\\]{|}]|\.|${singleCharEscape}|${category}|\[\^?(?:-|${classItem})${classItem}*-?\]`;
const token = new RegExp(
  String.raw`(?<quantifier>[*+?]|\{\d+(?:,\d*)?\})|(?<open>\()|(?<close>\))|(?<or>\|)|(?:${atom})`,
  'uy',
);

/**
 * The patterns of `like_regex` in SQL/JSON paths, found anywhere in a text, run by RE2 in linear time. Flags: i (any case), s (a dot matches line ends), m (anchors at line ends), q (plain text).
 * Undefined where RE2 cannot run the pattern, such as for a look-ahead, or where a flag is another one.
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
