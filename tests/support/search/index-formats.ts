import type { SphereBox } from '../../../src/rules/geometry/sphere-box.ts';
import { hash53 } from '../../../src/search/entries/attributes.ts';
import {
  type IndexFormat,
  type IndexFormats,
  indexFormats,
  newestOf,
} from '../../../src/search/entries/index-format.ts';

// Formats of later versions of the code.

const newest = newestOf(indexFormats);

/** Words lose their plural, so that other words are indexed and queried; facts have other hashes, numbers other lists, words other typing keys. */
export const laterFormat: IndexFormat = {
  version: newest.version + 1,
  tokenizer: {
    index: (text) => newest.tokenizer.index(text).map(singular),
    query: (text) => [...new Set(newest.tokenizer.query(text).map(singular))],
  },
  weights: newest.weights,
  typing: {
    index: (word) => newest.typing.index(word).map(otherHash),
    query: (word) => newest.typing.query(word).map(otherHash),
    otherScripts: (word) => newest.typing.otherScripts(word).map(otherHash),
  },
  attributes: {
    ...newest.attributes,
    entries(document, level) {
      const { facts, numbers, objects } = newest.attributes.entries(document, level);
      return {
        facts: new Set(Array.from(facts, otherHash)),
        numbers: new Map(Array.from(numbers, ([path, values]) => [otherHash(path), values])),
        objects,
      };
    },
    valueFact: (path, value) => otherHash(newest.attributes.valueFact(path, value)),
    presenceFact: (path) => otherHash(newest.attributes.presenceFact(path)),
    numberPath: (path) => otherHash(newest.attributes.numberPath(path)),
  },
  geometries: {
    ...newest.geometries,
    boxOf: (geometry) => grown(newest.geometries.boxOf(geometry), 0.001),
  },
};

export const laterFormats: IndexFormats = [...indexFormats, laterFormat];

/** A later version that differs only in that words of resources count half as much. */
export const otherWeights: IndexFormats = [
  ...indexFormats,
  {
    ...newest,
    version: newest.version + 1,
    weights: {
      ...newest.weights,
      resource: (resource, tokenize) =>
        new Map(
          Array.from(newest.weights.resource(resource, tokenize), ([word, weight]) => [word, weight / 2]),
        ),
    },
  },
];

function singular(word: string): string {
  return word.length > 2 && word.endsWith('s') ? word.slice(0, -1) : word;
}

function otherHash(hash: number): number {
  return hash53(`other ${hash}`);
}

function grown({ low: [x, y, z], high: [toX, toY, toZ] }: SphereBox, by: number): SphereBox {
  return { low: [x - by, y - by, z - by], high: [toX + by, toY + by, toZ + by] };
}
