import { sphereBox } from '../../rules/geometry/sphere-box.ts';
import { soundKeys } from '../../rules/text/sounds.ts';
import { indexKeys, queryKeys } from '../../rules/text/typing-errors.ts';
import { catalogWords, offerWords, resourceWords } from '../../rules/text/word-weights.ts';
import { indexedWords, queryWords, type Tokenizer } from '../../rules/text/words.ts';
import { attributeEntries, hash53, lookupOf, maxFactText, presenceFact, valueFact } from './attributes.ts';
import { findTargetPath, geometriesOf } from './geometry-paths.ts';

// Turns documents into entries of the index, and questions into lookups. After any change, older lookups would miss entries. So each change needs a new version, for which another generation
// of the index is built beside the one in use (generations/). Until then, a program reads and writes both: the previous version stays in the code for one release.

const format1 = {
  /** The version that generations store. */
  version: 1 as number,
  tokenizer: { index: indexedWords, query: queryWords } satisfies Tokenizer,
  /** The searched texts of a document, and the weights of their words. */
  weights: { catalog: catalogWords, resource: resourceWords, offer: offerWords },
  /** The keys that find a word despite typing errors, and in another script. */
  typing: {
    index: (word: string) => [...indexKeys(word), ...soundKeys(word).index].map(hash53),
    query: (word: string) => Array.from(queryKeys(word), hash53),
    otherScripts: (word: string) => soundKeys(word).query.map(hash53),
  },
  attributes: {
    entries: attributeEntries,
    lookupOf,
    numberPath: hash53,
    valueFact,
    presenceFact,
    maxFactText,
  },
  geometries: {
    find: geometriesOf,
    targetPath: findTargetPath,
    /** Always contains the geometry. The box of a Point, and of nothing else, is a single point: distances are measured from it. */
    boxOf: sphereBox,
  },
};

export type IndexFormat = typeof format1;

/** The formats that a process can read and write, the newest last. */
export type IndexFormats = readonly [...IndexFormat[], IndexFormat];

export const indexFormats: IndexFormats = [format1];

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
        ? 'Start the version that made them, or a later one: an index does not go back to an older version.'
        : `First rebuild the index with a program that knows versions ${version} and ${formats[0].version}.`;
    super(`The index has entries of version ${version}; this program knows ${known}. ${advice}`);
  }
}

const listFormat = new Intl.ListFormat('en');
