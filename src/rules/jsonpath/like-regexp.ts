import { RE2JS } from 're2js';

/**
 * The regular expressions of `like_regex` in SQL/JSON paths, found anywhere in a text, run by RE2 in time linear in the text.
 * Flags: i (any case), s (a dot also stands for a line end), m (anchors also at line ends), q (the pattern is plain text).
 * Undefined where RE2 cannot run it, such as for a look-ahead or a back-reference, or where a flag is another one.
 */
export function compileLikeRegexp(pattern: string, flags: string): ((text: string) => boolean) | undefined {
  if (!/^[ismq]*$/.test(flags)) return undefined;
  const source = flags.includes('q') ? RE2JS.quote(pattern) : pattern;
  const options = [...flags].reduce((bits, flag) => bits | (re2Flags[flag] ?? 0), 0);
  try {
    const compiled = RE2JS.compile(source, options);
    return (text) => compiled.test(text);
  } catch {
    return undefined;
  }
}

const re2Flags: Record<string, number> = {
  i: RE2JS.CASE_INSENSITIVE,
  s: RE2JS.DOTALL,
  m: RE2JS.MULTILINE,
};
