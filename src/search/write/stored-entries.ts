import type { Json } from '../../protocol/json.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { DocumentKind, IndexedDocument } from '../documents/documents.ts';
import type { IndexFormat } from '../format/index-format.ts';
import { numberList } from '../lists/runs.ts';
import { readDocumentWords } from '../text/dictionary.ts';
import type { AttributeEntries } from './attribute-entries.ts';
import { weighWords } from './document-entries.ts';

// The posting lists that a document stands in, as they are stored beside it. What leaves the index is read from here and never made anew: code of another
// version would make other entries, and leave behind those that it does not know.

export interface StoredEntries {
  facts: ReadonlySet<number>;
  /** Values by their lists. */
  numbers: ReadonlyMap<number, ReadonlySet<number>>;
  /** What each word counts, in hundredths, by the words' numbers. */
  words: ReadonlyMap<number, number>;
  /** Whether it is a standing offer. */
  isStanding: boolean;
}

/** Facts and numbers by their lists. */
type ListedAttributes = Pick<StoredEntries, 'facts' | 'numbers'>;

const noAttributes: ListedAttributes = { facts: new Set(), numbers: new Map() };

export function listAttributes({ facts, numbers }: AttributeEntries): ListedAttributes {
  const values = new Map<number, ReadonlySet<number>>();
  for (const [path, each] of numbers) {
    const list = numberList(path);
    const known = values.get(list);
    // Two paths may share a list.
    values.set(list, known ? new Set([...known, ...each]) : each);
  }
  // Facts are their own lists.
  return { facts, numbers: values };
}

/** The entries of a document that is in the index. */
export interface EntriesBefore extends ListedAttributes, Pick<StoredEntries, 'isStanding'> {
  /** By their numbers; by themselves where they were not stored. */
  words: StoredEntries['words'] | { unnumbered: WordWeights };
}

/** Of the catalog-level members, which have no attributes in the index. */
export function readHeadEntries(words: Buffer): EntriesBefore {
  return { ...noAttributes, words: unpackWords(words), isStanding: false };
}

/** What is stored; what version 0 did not store is made anew as it made it. */
export function readEntries(
  format: IndexFormat,
  kind: DocumentKind,
  { entries, words, isStanding }: Pick<IndexedDocument, 'entries' | 'words' | 'isStanding'>,
  parsed: object,
): EntriesBefore {
  const made = () => listAttributes(format.attributes.entries(parsed as Json));
  const listed = kind === 'offer' ? noAttributes : entries ? unpackAttributes(entries) : made();
  const weighed = () => ({ unnumbered: weighWords(format, kind, parsed) });
  return { ...listed, words: words ? unpackWords(words) : weighed(), isStanding };
}

const numberBytes = 8;

/** How many facts, the facts, then list and value of each number; the same entries are the same bytes. */
export function packAttributes({ facts, numbers }: ListedAttributes): Buffer {
  const pairs: [number, number][] = [];
  for (const [list, values] of numbers) for (const value of values) pairs.push([list, value]);
  pairs.sort(([a, x], [b, y]) => a - b || x - y);
  const bytes = Buffer.allocUnsafe((1 + facts.size + 2 * pairs.length) * numberBytes);
  let at = bytes.writeDoubleBE(facts.size);
  for (const fact of new Float64Array(facts).sort()) at = bytes.writeDoubleBE(fact, at);
  for (const [list, value] of pairs) at = bytes.writeDoubleBE(value, bytes.writeDoubleBE(list, at));
  return bytes;
}

export function unpackAttributes(bytes: Buffer): ListedAttributes {
  const facts = new Set<number>();
  const numbers = new Map<number, Set<number>>();
  const firstNumber = (1 + bytes.readDoubleBE()) * numberBytes;
  for (let at = numberBytes; at < firstNumber; at += numberBytes) facts.add(bytes.readDoubleBE(at));
  for (let at = firstNumber; at < bytes.length; at += 2 * numberBytes) {
    const [list, value] = [bytes.readDoubleBE(at), bytes.readDoubleBE(at + numberBytes)];
    numbers.set(list, (numbers.get(list) ?? new Set()).add(value));
  }
  return { facts, numbers };
}

function unpackWords(bytes: Buffer): Map<number, number> {
  const words = new Map<number, number>();
  readDocumentWords(bytes, (id, weight) => words.set(id, weight));
  return words;
}
