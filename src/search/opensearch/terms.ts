// How hashes and numbers stand in an index of OpenSearch.

/** A hash of 53 bits, or the number of a word. */
export function termOf(hash: number): string {
  return hash.toString(36);
}

const valueBits = 48n;
const pathBits = 16n;
const lastValue = (1n << valueBits) - 1n;

/** Numbers of one path, in their order: 16 bits of the path's hash, then the first 48 bits of the number. Both only widen. */
export function numberTerm(pathHash: number, value: number): string {
  return join(pathHash, orderedBits(value) >> pathBits);
}

/** All numbers of a path from one up to another, both included. */
export function numberRange(
  pathHash: number,
  { low, high }: { low?: number; high?: number },
): { gte: string; lte: string } {
  return {
    gte: low === undefined ? join(pathHash, 0n) : numberTerm(pathHash, low),
    lte: high === undefined ? join(pathHash, lastValue) : numberTerm(pathHash, high),
  };
}

function join(pathHash: number, value: bigint): string {
  const path = BigInt.asUintN(Number(pathBits), BigInt(pathHash));
  return BigInt.asIntN(64, (path << valueBits) | value).toString();
}

const view = new DataView(new ArrayBuffer(8));
const signBit = 1n << 63n;

/** The bits of a double such that a greater number has a greater value. */
function orderedBits(value: number): bigint {
  // Minus zero equals zero.
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  return bits & signBit ? BigInt.asUintN(64, ~bits) : bits | signBit;
}
