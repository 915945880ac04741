import { attempt } from '../attempt.ts';
import { bodyDigest } from './digest.ts';

// The usual changes of a body between signing and verifying: a program parses and rewrites it, or an editor changes its line ends.

export interface BodyVariant {
  digest: string;
  /** Description of the change from the signed body to this one; none for the signed body. */
  change?: string;
}

/** The digest of a body and of its variants, the body itself first, each digest once. Memory holds one variant at a time. */
export function digestVariants(body: string): BodyVariant[] {
  const changes = new Map<string, string | undefined>();
  for (const [text, change] of variantsOf(body)) {
    const digest = bodyDigest(Buffer.from(text));
    if (!changes.has(digest)) changes.set(digest, change);
  }
  return Array.from(changes, ([digest, change]) => ({ digest, ...(change !== undefined && { change }) }));
}

/** JSON.stringify is recursive: a more deeply nested body is not rewritten. */
const maxDepth = 1000;
const maxSortedDepth = 100;
/** Indentation multiplies the size of a nested body: 1 MiB of brackets may become gigabytes. */
const maxIndentationBytes = 16 * 1024 * 1024;
const widestIndent = 4;

/** Each with the change that turned the signed body into `body`. */
function* variantsOf(body: string): Generator<[string, string | undefined]> {
  yield [body, undefined];
  yield [body.replace(/\r?\n$/, ''), 'a line end was added at its end'];
  yield [`${body}\n`, 'the line end at its end was removed'];
  yield [body.trim(), 'white space was added around it'];
  yield [body.replace(/^\uFEFF/, ''), 'a byte order mark was added'];
  yield [body.replaceAll('\r\n', '\n'), 'its line ends became CRLF'];
  yield [body.replace(/\r?\n/g, '\r\n'), 'its line ends were CRLF'];
  yield ['', 'the signature is that of a request without a body'];
  const value = attempt(() => JSON.parse(body));
  if (value === undefined) return;
  const { depth, indents } = measureNesting(body);
  if (depth > maxDepth) return;
  const compact = JSON.stringify(value);
  yield [compact, 'it was written again with indentation or spaces'];
  const isIndentable = indents * widestIndent <= maxIndentationBytes;
  for (const indent of isIndentable ? [2, widestIndent, '\t'] : []) {
    const indented = JSON.stringify(value, null, indent);
    yield [indented, 'it was written again without its indentation'];
    yield [`${indented}\n`, 'it was written again without its indentation'];
  }
  // The output of Python's json.dumps.
  yield [spaceOut(compact), 'it was written again without the spaces after commas and colons'];
  yield [escapeNonAscii(compact), 'its \\u escapes were written as characters'];
  yield [JSON.stringify(sortMembers(value)), 'its members were put into another order'];
}

/** The nesting depth of brackets, and the total number of indents in an indented form. Only for JSON: a string without an end would make the expression slow. */
function measureNesting(body: string): { depth: number; indents: number } {
  let [level, depth, indents] = [0, 0, 0];
  for (const [token] of body.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (token.startsWith('"')) continue;
    if (token === '[' || token === '{') level += 1;
    if (token === ']' || token === '}') level -= 1;
    depth = Math.max(depth, level);
    indents += level;
  }
  return { depth, indents };
}

function spaceOut(compact: string): string {
  return compact.replace(/("(?:[^"\\]|\\.)*")|([,:])/g, (_, text, mark) => text ?? `${mark} `);
}

function escapeNonAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Values deeper than the limit stay as they are. */
function sortMembers(value: unknown, depth = 0): unknown {
  if (depth >= maxSortedDepth || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => sortMembers(item, depth + 1));
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member, depth + 1)]));
}
