// What usually happens to a body between signing and verifying: somebody parses it and writes it again, or an editor touches its line ends.

export interface FoundBody {
  bytes: Buffer;
  /** What was done to it, in words; none: nothing. */
  change?: string;
}

/** The first variant of a body that holds, itself first. */
export function findBody(body: string, holds: (bytes: Buffer) => boolean): FoundBody | undefined {
  for (const [text, change] of variantsOf(body)) {
    const bytes = Buffer.from(text);
    if (holds(bytes)) return { bytes, ...(change !== undefined && { change }) };
  }
  return undefined;
}

/** Each with what was done to the signed one to make `body` of it. */
function* variantsOf(body: string): Generator<[string, string | undefined]> {
  yield [body, undefined];
  yield [body.replace(/\r?\n$/, ''), 'a line end was added at its end'];
  yield [`${body}\n`, 'the line end at its end was taken away'];
  yield [body.trim(), 'white space was added around it'];
  yield [body.replace(/^\uFEFF/, ''), 'a byte order mark was added'];
  yield [body.replaceAll('\r\n', '\n'), 'its line ends became CRLF'];
  yield [body.replace(/\r?\n/g, '\r\n'), 'its line ends were CRLF'];
  yield ['', 'the signature is that of a request without a body'];
  const value = parse(body);
  if (value === undefined) return;
  const compact = JSON.stringify(value);
  yield [compact, 'it was written again with indentation or spaces'];
  for (const indent of [2, 4, '\t']) {
    const indented = JSON.stringify(value, null, indent);
    yield [indented, 'it was written again without its indentation'];
    yield [`${indented}\n`, 'it was written again without its indentation'];
  }
  // As Python's json.dumps writes it.
  yield [compactWithSpaces(body), 'it was written again without the spaces after commas and colons'];
  yield [escapeNonAscii(compact), 'its \\u escapes were written as characters'];
  yield [JSON.stringify(sortMembers(value)), 'its members were put into another order'];
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function compactWithSpaces(body: string): string {
  const compact = JSON.stringify(JSON.parse(body));
  return compact.replace(/("(?:[^"\\]|\\.)*")|([,:])/g, (_, text, mark) => text ?? `${mark} `);
}

function escapeNonAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]));
}
