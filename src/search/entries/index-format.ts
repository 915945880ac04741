import type { Geometry } from '../../protocol/geojson.ts';
import type { Json } from '../../protocol/json.ts';
import { type SphereBox, sphereBox } from '../../rules/geometry/sphere-box.ts';
import { indexKeys, queryKeys } from '../../rules/text/typing-errors.ts';
import { catalogWords, offerWords, resourceWords } from '../../rules/text/word-weights.ts';
import { indexedWords, queryWords, type Tokenizer } from '../../rules/text/words.ts';
import {
  type AttributeEntries,
  attributeEntries,
  hash53,
  type Level,
  lookupOf,
  maxFactText,
  numberPath,
  presenceFact,
  valueFact,
} from './attributes.ts';
import { type FoundGeometry, findTargetPath, geometriesOf } from './geometry-paths.ts';

// What turns documents into entries of the index, and questions into lookups. A change of any of it makes entries that older lookups do not find: so it becomes a new version, for which another generation of
// the index is built beside the one in use (generations/). Until then, a program reads and writes both: the version before stays in the code for one release.

export interface IndexFormat {
  /** As generations store it. */
  version: number;
  tokenizer: Tokenizer;
  weights: FieldWeights;
  typing: TypingKeys;
  attributes: AttributeFormat;
  geometries: GeometryFormat;
}

/** Which texts of a document are searched, and what the words of each count. */
interface FieldWeights {
  catalog: typeof catalogWords;
  resource: typeof resourceWords;
  offer: typeof offerWords;
}

/** The keys under which a word is found in spite of typing errors. */
interface TypingKeys {
  index(word: string): number[];
  query(word: string): number[];
}

export interface AttributeFormat {
  entries(document: Json, level: Level): AttributeEntries;
  lookupOf: typeof lookupOf;
  numberPath: typeof numberPath;
  valueFact: typeof valueFact;
  presenceFact: typeof presenceFact;
  /** Longer texts have no fact. */
  maxFactText: number;
}

interface GeometryFormat {
  find(document: Json, root: string): FoundGeometry[];
  targetPath(target: string): string | undefined;
  /** Surely contains the geometry. */
  boxOf(geometry: Geometry): SphereBox;
}

/** The formats that a process can read and write, the newest one last. */
export type IndexFormats = readonly [...IndexFormat[], IndexFormat];

export const indexFormats: IndexFormats = [
  {
    version: 1,
    tokenizer: { index: indexedWords, query: queryWords },
    weights: { catalog: catalogWords, resource: resourceWords, offer: offerWords },
    typing: {
      index: (word) => Array.from(indexKeys(word), hash53),
      query: (word) => Array.from(queryKeys(word), hash53),
    },
    attributes: { entries: attributeEntries, lookupOf, numberPath, valueFact, presenceFact, maxFactText },
    geometries: { find: geometriesOf, targetPath: findTargetPath, boxOf: sphereBox },
  },
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
    const known = listFormat.format(formats.map((each) => `${each.version}`));
    const advice =
      version > newestOf(formats).version
        ? 'Start a program that is as new as the one that made them: an index does not go back to an older version.'
        : `Let a program that knows version ${version} and ${formats[0].version} rebuild the index first.`;
    super(`The index has entries of version ${version}; this program knows ${known}. ${advice}`);
  }
}

const listFormat = new Intl.ListFormat('en');
