import type { Offer } from '../../protocol/catalog.ts';
import type { Geometry } from '../../protocol/geojson.ts';
import type { Json } from '../../protocol/json.ts';
import { isStanding } from '../../rules/discover/attach-offers.ts';
import { type SphereBox, sphereBox } from '../../rules/geometry/sphere-box.ts';
import { indexKeys, queryKeys } from '../../rules/text/typing-errors.ts';
import { catalogWords, offerWords, resourceWords } from '../../rules/text/word-weights.ts';
import { indexedWords, queryWords, type Tokenizer } from '../../rules/text/words.ts';
import { type FoundGeometry, findTargetPath, geometriesOf } from '../spatial/geometry-paths.ts';
import {
  type AttributeEntries,
  attributeEntries,
  hash53,
  lookupOf,
  maxFactText,
  numberPath,
  valueFact,
} from '../write/attribute-entries.ts';

// What turns documents into entries of the index, and questions into lookups. A change of any of it makes entries that older lookups do not find: so it becomes
// a new version, beside the one before it, and the catalogs are rebuilt one by one (reindex/). A search looks for the entries of every version there is.

export interface IndexFormat {
  /** As catalogs store it. */
  version: number;
  tokenizer: Tokenizer;
  weights: FieldWeights;
  typing: TypingKeys;
  attributes: AttributeFormat;
  geometries: GeometryFormat;
  /** Which offers have their words in lists of their own (lists/runs.ts). Searches look into both kinds of lists, so versions that differ only in this look for the same. */
  isStanding(offer: Offer): boolean;
  /** Whether facts that few documents have may stand in shared runs (lists/shared-runs.ts). Searches look into those as well. */
  sharesRuns: boolean;
}

/** Which texts of a document are searched, and what the words of each count. They are stored with the entries, so a change of them is a change of version, too. */
interface FieldWeights {
  catalog: typeof catalogWords;
  resource: typeof resourceWords;
  offer: typeof offerWords;
}

/** The keys under which a word is found in spite of typing errors. */
export interface TypingKeys {
  /** Words get the keys of a new version beside the older ones. */
  version: number;
  index(word: string): number[];
  query(word: string): number[];
}

/** Facts and numbers. A list number stands for at most as much in one version as in another: what is found in the lists of several versions is checked on the documents. */
export interface AttributeFormat {
  entries(document: Json): AttributeEntries;
  lookupOf: typeof lookupOf;
  numberPath: typeof numberPath;
  valueFact: typeof valueFact;
  /** Longer texts have no fact. */
  maxFactText: number;
}

interface GeometryFormat {
  find(document: Json, root: string): FoundGeometry[];
  /** One spelling of a path never stands for two paths, in whichever versions. */
  targetPath(target: string): string | undefined;
  /** Surely contains the geometry. */
  boxOf(geometry: Geometry): SphereBox;
}

const first: IndexFormat = {
  version: 1,
  tokenizer: { index: indexedWords, query: queryWords },
  weights: { catalog: catalogWords, resource: resourceWords, offer: offerWords },
  typing: {
    version: 0,
    index: (word) => Array.from(indexKeys(word), hash53),
    query: (word) => Array.from(queryKeys(word), hash53),
  },
  attributes: { entries: attributeEntries, lookupOf, numberPath, valueFact, maxFactText },
  geometries: { find: geometriesOf, targetPath: findTargetPath, boxOf: sphereBox },
  isStanding: () => false,
  sharesRuns: false,
};

export const firstWithReach = 4;

/** The formats that a process can read and write, the newest one last. */
export type IndexFormats = readonly [...IndexFormat[], IndexFormat];

/** Version 0 made the same entries as 1, and did not store them beside the documents. Version 2 keeps standing offers apart, version 3 shares runs. Since version 4 it is written how far offers reach (write/reach.ts). */
export const indexFormats: IndexFormats = [
  { ...first, version: 0 },
  first,
  { ...first, version: 2, isStanding },
  { ...first, version: 3, isStanding, sharesRuns: true },
  { ...first, version: firstWithReach, isStanding, sharesRuns: true },
];

export function newestOf(formats: IndexFormats): IndexFormat {
  return formats.at(-1) as IndexFormat;
}

export function formatOf(formats: IndexFormats, version: number): IndexFormat {
  const format = formats.find((each) => each.version === version);
  if (format === undefined) throw new UnknownIndexVersion(version, formats);
  return format;
}

/** The index has entries that this program cannot read. */
export class UnknownIndexVersion extends Error {
  override readonly name = 'UnknownIndexVersion';

  constructor(version: number, formats: IndexFormats) {
    const isNewer = version > newestOf(formats).version;
    super(
      `The index has entries of version ${version}; this program knows ${listFormat.format(formats.map((each) => `${each.version}`))}. ${
        isNewer
          ? 'Start a program that is as new as the one that made them: an index does not go back to an older version.'
          : `Let a program that knows version ${version} and ${formats[0].version} rebuild the index first.`
      }`,
    );
  }
}

const listFormat = new Intl.ListFormat('en');
