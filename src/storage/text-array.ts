// A long array of texts for PostgreSQL in its binary form. The driver's own way, one text with every element quoted, costs more than the
// database needs for storing the elements.

const textType = 25;
const headBytes = 20;
const lengthBytes = 4;
const nullLength = -1;

/** To be passed for a parameter that is cast to text[]. */
export function textArray(texts: readonly (string | null)[]): Buffer {
  const lengths = texts.map((text) => (text === null ? nullLength : Buffer.byteLength(text)));
  const bytes = lengths.reduce((sum, length) => sum + lengthBytes + Math.max(length, 0), headBytes);
  const array = Buffer.allocUnsafe(bytes);
  const hasNulls = texts.includes(null) ? 1 : 0;
  const firstIndex = 1;
  let at = 0;
  for (const number of [1, hasNulls, textType, texts.length, firstIndex]) at = array.writeInt32BE(number, at);
  for (const [index, text] of texts.entries()) {
    at = array.writeInt32BE(lengths[index] ?? nullLength, at);
    if (text !== null) at += array.write(text, at);
  }
  return array;
}
