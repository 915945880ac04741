import { ProtocolError } from '../protocol/errors.ts';
import { type Json, parseJson } from '../protocol/json.ts';

// JSON in chunks, read value by value. Only brackets and quotes decide where a value ends; the value is then read as strictly as a request.

export type JsonInput = ReturnType<typeof createJsonInput>;

const [quote, backslash] = [0x22, 0x5c];
const isOpening = (byte: number) => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number) => byte === 0x7d || byte === 0x5d;
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
/** Ends a number or a literal. */
const isDelimiter = (byte: number) => isClosing(byte) || isSpace(byte) || byte === 0x2c || byte === 0x3a;

export function createJsonInput(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxValueBytes: number,
) {
  const chunks = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  let chunk: Uint8Array = new Uint8Array();
  let at = 0;

  /** False at the end of the document. */
  async function fill(): Promise<boolean> {
    while (at >= chunk.length) {
      const { value, done } = await chunks.next();
      if (done) return false;
      chunk = value;
      at = 0;
    }
    return true;
  }

  /** Returns the next byte that is not white space, as a character, without consuming it; undefined at the end. */
  async function next(): Promise<string | undefined> {
    while (await fill()) {
      const byte = chunk[at] as number;
      if (!isSpace(byte)) return String.fromCharCode(byte);
      at += 1;
    }
    return undefined;
  }

  async function take(character: string): Promise<boolean> {
    if ((await next()) !== character) return false;
    at += 1;
    return true;
  }

  /** Finds the end of a value only by brackets and quotes; its content is checked when it is read. */
  async function takeValue(keep: (bytes: Uint8Array) => void): Promise<void> {
    const first = await next();
    if (first === undefined) throw notJson('it ends too early');
    const state = { depth: 0, inString: false, escaped: false };
    for (;;) {
      const end = endOfValue(chunk, at, state);
      keep(chunk.subarray(at, end ?? chunk.length));
      at = end ?? chunk.length;
      if (end !== undefined) return;
      if (!(await fill())) {
        if (state.depth > 0 || state.inString) throw notJson('it ends too early');
        return;
      }
    }
  }

  /** Reads a whole value strictly; `bytes` is its length. */
  async function readMeasured(): Promise<{ value: Json; bytes: number }> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    await takeValue((piece) => {
      bytes += piece.length;
      if (bytes > maxValueBytes) throw notJson(`a single value has more than ${maxValueBytes} bytes`);
      pieces.push(piece);
    });
    const [only = new Uint8Array()] = pieces;
    return { value: parseJson(pieces.length > 1 ? Buffer.concat(pieces) : only), bytes };
  }

  return {
    next,
    take,
    async expect(character: string): Promise<void> {
      if (await take(character)) return;
      const found = await next();
      throw notJson(found === undefined ? 'it ends too early' : `it has ${found} instead of ${character}`);
    },
    readMeasured,
    readValue: async () => (await readMeasured()).value,
    skipValue: () => takeValue(() => {}),
  };
}

interface ScanState {
  depth: number;
  inString: boolean;
  escaped: boolean;
}

/** The position after the value within this chunk; undefined if it continues in the next one. */
function endOfValue(chunk: Uint8Array, from: number, state: ScanState): number | undefined {
  for (let index = from; index < chunk.length; index += 1) {
    const byte = chunk[index] as number;
    if (state.inString) {
      if (state.escaped) state.escaped = false;
      else if (byte === backslash) state.escaped = true;
      else if (byte === quote) {
        state.inString = false;
        if (state.depth === 0) return index + 1;
      }
    } else if (byte === quote) {
      state.inString = true;
    } else if (isOpening(byte)) {
      state.depth += 1;
    } else if (state.depth === 0) {
      if (isDelimiter(byte)) return index;
    } else if (isClosing(byte)) {
      state.depth -= 1;
      if (state.depth === 0) return index + 1;
    }
  }
  return undefined;
}

export function notJson(problem: string): ProtocolError {
  return new ProtocolError('SCH_INVALID_JSON', `The document cannot be read: ${problem}.`);
}
