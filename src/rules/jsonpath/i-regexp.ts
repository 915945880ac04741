import { loadRe2 } from '../re2.ts';

/**
 * I-Regexp (RFC 9485), the regular expressions of JSONPath's match() and search(), run by RE2 in time linear in the
 * text: a pattern from a stranger can never hang us. Undefined where the pattern is no I-Regexp; throws where it is one
 * that RE2 will not run, such as a repetition of more than a thousand.
 */
export function findIRegexp(pattern: string): IRegexp | undefined {
  const translated = translate(pattern);
  if (translated === undefined) return undefined;
  const compiled = loadRe2().compile(translated);
  return {
    matches: (text) => compiled.matches(text),
    isFoundIn: (text) => compiled.test(text),
  };
}

/**
 * RE2 reads every I-Regexp with the same meaning, except that "." must also not match a carriage return (RFC 9485
 * section 5.4). What RE2 knows beyond I-Regexp, from `\d` to lazy repetition, is refused by the grammar of section 4.
 */
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

export interface IRegexp {
  /** The whole text matches. */
  matches(text: string): boolean;
  /** Some part of the text matches. */
  isFoundIn(text: string): boolean;
}
