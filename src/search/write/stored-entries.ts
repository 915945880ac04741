import type { Json } from '../../protocol/json.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { DocumentKind, IndexedDocument } from '../documents/documents.ts';
import type { IndexFormat } from '../format/index-format.ts';
import { numberList } from '../lists/runs.ts';
import { readDocumentWords } from '../text/dictionary.ts';
import type { AttributeEntries } from './attribute-entries.ts';
import { weighWords } from './document-entries.ts';

// The posting lists that a document stands in. Its words are stored beside it, because searches rank by them. Its facts and numbers are made anew from the document by the format
// of its catalog, when they have to leave the index: so the code of a format makes the same entries for ever (format/index-format.test.ts holds it to that).

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

/** The words that are stored; version 0 did not store those of offers, which are made anew as it made them. */
export function readEntries(
  format: IndexFormat,
  kind: DocumentKind,
  { words, isStanding }: Pick<IndexedDocument, 'words' | 'isStanding'>,
  parsed: object,
): EntriesBefore {
  const listed = kind === 'offer' ? noAttributes : listAttributes(format.attributes.entries(parsed as Json));
  const weighed = () => ({ unnumbered: weighWords(format, kind, parsed) });
  return { ...listed, words: words ? unpackWords(words) : weighed(), isStanding };
}

function unpackWords(bytes: Buffer): Map<number, number> {
  const words = new Map<number, number>();
  readDocumentWords(bytes, (id, weight) => words.set(id, weight));
  return words;
}
