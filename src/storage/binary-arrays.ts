// Long arrays for PostgreSQL in its binary form. The driver's own form, one text with every element, costs more than storing the elements in the
// database.

const headBytes = 20;
const lengthBytes = 4;
const nullLength = -1;
/** PostgreSQL's identifiers of the element types. */
const types = { bytea: 17, bigint: 20, smallint: 21, integer: 23, text: 25, double: 701 } as const;

/** For a parameter that is cast to text[]. */
export const textArray = itemsArray(
  types.text,
  (text: string) => Buffer.byteLength(text),
  (text, array, at) => array.write(text, at),
);

/** bytea[] */
export const bytesArray = itemsArray(
  types.bytea,
  (bytes: Uint8Array) => bytes.length,
  (bytes, array, at) => array.set(bytes, at),
);

/** bigint[]; only for numbers up to 2^53. */
export const bigintArray = numbersArray(types.bigint, 8, (number, array, at) => {
  const high = Math.floor(number / 2 ** 32);
  array.writeInt32BE(high, at);
  array.writeUInt32BE(number - high * 2 ** 32, at + 4);
});

export const integerArray = numbersArray(types.integer, 4, (number, array, at) =>
  array.writeInt32BE(number, at),
);
export const smallintArray = numbersArray(types.smallint, 2, (number, array, at) =>
  array.writeInt16BE(number, at),
);
export const doubleArray = numbersArray(types.double, 8, (number, array, at) =>
  array.writeDoubleBE(number, at),
);

/** One array per named member of the records, in that order. */
export function arraysOf<T extends object>(
  records: readonly T[],
  members: { [Name in keyof T]?: (values: T[Name][]) => Buffer },
): Buffer[] {
  const named = Object.entries(members) as [keyof T, (values: unknown[]) => Buffer][];
  return named.map(([name, write]) => write(records.map((record) => record[name])));
}

function itemsArray<T>(
  type: number,
  lengthOf: (item: T) => number,
  write: (item: T, array: Buffer, at: number) => void,
) {
  return (items: readonly (T | null)[]): Buffer => {
    const lengths = items.map((item) => (item === null ? nullLength : lengthOf(item)));
    const bytes = lengths.reduce((sum, length) => sum + lengthBytes + Math.max(length, 0), headBytes);
    const array = Buffer.allocUnsafe(bytes);
    let at = writeHead(array, type, items.length, items.includes(null));
    for (const [index, item] of items.entries()) {
      const length = lengths[index] ?? nullLength;
      at = array.writeInt32BE(length, at);
      if (item === null) continue;
      write(item, array, at);
      at += length;
    }
    return array;
  };
}

function numbersArray(
  type: number,
  length: number,
  write: (number: number, array: Buffer, at: number) => void,
) {
  return (numbers: ArrayLike<number>): Buffer => {
    const array = Buffer.allocUnsafe(headBytes + numbers.length * (lengthBytes + length));
    let at = writeHead(array, type, numbers.length, false);
    for (let index = 0; index < numbers.length; index++) {
      at = array.writeInt32BE(length, at);
      write(numbers[index] as number, array, at);
      at += length;
    }
    return array;
  };
}

/** One dimension, indexed from 1. */
function writeHead(array: Buffer, type: number, count: number, hasNulls: boolean): number {
  let at = 0;
  for (const number of [1, hasNulls ? 1 : 0, type, count, 1]) at = array.writeInt32BE(number, at);
  return at;
}
