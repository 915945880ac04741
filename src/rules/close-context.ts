import { schemaAddress } from './schema-address.ts';
import { findEditDistance } from './text/typing-errors.ts';

/** The known schema that an unknown context probably means: the same type in another version, or a type misspelt by a letter or two; the latest version. */
export function findCloseContext(context: string, addresses: readonly string[]): string | undefined {
  const meant = readName(context);
  if (meant === undefined) return undefined;
  const close = addresses.flatMap((address) => {
    const known = readName(address);
    const distance = known && findEditDistance(meant.type, known.type, maxEdits(meant.type));
    return known && distance !== undefined ? { ...known, address, distance } : [];
  });
  close.sort((a, b) => a.distance - b.distance || byVersion.compare(b.version, a.version));
  return close[0] && contextBeside(close[0].address);
}

const byVersion = new Intl.Collator('en', { numeric: true });

/** Types are long names; two edits turn a short one into another word. */
function maxEdits(type: string): number {
  return type.length < 6 ? 0 : 2;
}

/** `…/<Type>/<version>`, or a `<Type>` without a version. In lower case: a type that differs only in case is close. */
function readName(text: string): { type: string; version: string } | undefined {
  const address = schemaAddress(text);
  if (address === undefined || address.length > maxAddressLength) return undefined;
  const segments = new URL(address).pathname.toLowerCase().split('/').filter(Boolean);
  const hasVersion = /^v?\d/.test(segments.at(-1) ?? '');
  const version = hasVersion ? segments.pop() : '';
  const type = segments.pop();
  return type === undefined ? undefined : { type, version: version ?? '' };
}

/** Contexts come from strangers, and the cost of comparing them grows with the square of their length. */
const maxAddressLength = 256;

/** The value of `@context` for a schema whose file is known. */
function contextBeside(address: string): string {
  return address.replace(/(?:\/[^/]+\.(?:json|jsonld|yaml|yml))?\/?$/, '/context.jsonld');
}
