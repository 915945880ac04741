/**
 * One pass over the bytes of a JSON text that builds no values. It accepts exactly the grammar of RFC 8259, so that every fault has a line and a column, and refuses more than `JSON.parse` does:
 * duplicate members, lone surrogates, U+0000, numbers beyond a double, nesting deeper than 64. The file is long because its grammar rules share a position, and are fast in one class.
 */
export function scanJson(bytes: Buffer): void {
  new Scanner(bytes).text();
}

export class JsonFault extends Error {
  override readonly name = 'JsonFault';
}

const maxNesting = 64;
/** Up to this many members, an object's names are compared by hash; a Set of strings is only faster for more. */
const fewMembers = 16;
/** Shorter integers cannot exceed a double, whose largest value has 309 digits. */
const safeDigits = 308;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const END = -1;

class Scanner {
  private readonly bytes: Buffer;
  private readonly end: number;
  private at = 0;

  /** The names of all open objects, innermost last, three numbers each: hash, start and end. */
  private readonly names: number[] = [];
  /** The used length of this array, which never shrinks: growing it again for each object costs more. */
  private namesEnd = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  text(): void {
    this.space();
    if (this.at === this.end) this.fail('empty: JSON expected');
    this.value(1);
    this.space();
    if (this.at < this.end) this.fail('nothing may follow the JSON value');
  }

  private value(depth: number): void {
    const byte = this.byte();
    if (byte === QUOTE) this.string();
    else if (byte === OPEN_BRACE) this.object(depth);
    else if (byte === OPEN_BRACKET) this.array(depth);
    else if (byte === MINUS || isDigit(byte)) this.number();
    else this.literal();
  }

  private object(depth: number): void {
    const firstName = this.namesEnd;
    let manyNames: Set<string> | undefined;
    this.open(depth);
    if (this.closes(CLOSE_BRACE)) return;
    do {
      this.space();
      if (this.byte() !== QUOTE) this.fail('a member name in double quotes expected');
      manyNames = this.memberName(firstName, manyNames);
      this.space();
      if (this.byte() !== COLON) this.fail("':' expected");
      this.at++;
      this.space();
      this.value(depth + 1);
    } while (this.continues(CLOSE_BRACE, "',' or '}' expected"));
    this.namesEnd = firstName;
  }

  private array(depth: number): void {
    this.open(depth);
    if (this.closes(CLOSE_BRACKET)) return;
    do {
      this.space();
      this.value(depth + 1);
    } while (this.continues(CLOSE_BRACKET, "',' or ']' expected"));
  }

  private open(depth: number): void {
    if (depth > maxNesting) this.fail(`nested deeper than ${maxNesting} levels`);
    this.at++;
    this.space();
  }

  private closes(bracket: number): boolean {
    if (this.byte() !== bracket) return false;
    this.at++;
    return true;
  }

  private continues(bracket: number, otherwise: string): boolean {
    this.space();
    if (this.closes(bracket)) return false;
    if (this.byte() !== COMMA) this.fail(otherwise);
    this.at++;
    return true;
  }

  /** Reads a name and compares it with the earlier ones of the same object. Returns their Set if there are many, or if one has escapes. */
  private memberName(firstName: number, manyNames: Set<string> | undefined): Set<string> | undefined {
    const quote = this.at;
    const { bytes, end } = this;
    let hash = 0;
    let at = quote + 1;
    for (; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    const plain = bytes[at] === QUOTE;
    if (plain) this.at = at + 1;
    else this.string();

    if (manyNames === undefined) {
      if (plain && this.namesEnd - firstName < 3 * fewMembers) {
        this.compareName(firstName, hash, quote);
        return undefined;
      }
      manyNames = new Set();
      for (let index = firstName; index < this.namesEnd; index += 3) manyNames.add(this.nameAt(index));
      this.namesEnd = firstName;
    }
    const name = this.nameBetween(quote, this.at);
    if (manyNames.has(name)) this.failDuplicate(name, quote);
    return manyNames.add(name);
  }

  private compareName(firstName: number, hash: number, quote: number): void {
    const { names, namesEnd } = this;
    for (let index = firstName; index < namesEnd; index += 3) {
      if (names[index] !== hash) continue;
      const name = this.nameBetween(quote, this.at);
      if (this.nameAt(index) === name) this.failDuplicate(name, quote);
    }
    names[namesEnd] = hash;
    names[namesEnd + 1] = quote;
    names[namesEnd + 2] = this.at;
    this.namesEnd += 3;
  }

  private nameAt(index: number): string {
    return this.nameBetween(this.names[index + 1] as number, this.names[index + 2] as number);
  }

  private nameBetween(openingQuote: number, end: number): string {
    const name = this.bytes.toString('utf8', openingQuote + 1, end - 1);
    return name.includes('\\') ? JSON.parse(`"${name}"`) : name;
  }

  private string(): void {
    const { bytes, end } = this;
    let at = this.at + 1;
    for (;;) {
      while (at < end) {
        const byte = bytes[at] as number;
        if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break;
        at++;
      }
      this.at = at;
      const byte = this.byte();
      if (byte === END) this.fail('the text ends inside a string');
      if (byte < SPACE) this.fail('a control character in a string must be escaped');
      if (byte === QUOTE) break;
      this.escape();
      at = this.at;
    }
    this.at++;
  }

  private escape(): void {
    const start = this.at++;
    const byte = this.byte();
    if (byte !== LOWER_U) {
      if (byte === END || !'"\\/bfnrt'.includes(String.fromCharCode(byte)))
        this.fail('invalid escape sequence', start);
      this.at++;
      return;
    }
    const unit = this.unicodeEscape(start);
    if (unit === 0) this.fail('U+0000 is not allowed', start);
    if (unit < 0xd800 || unit > 0xdfff) return;
    if (unit > 0xdbff || this.byte() !== BACKSLASH || this.bytes[this.at + 1] !== LOWER_U)
      this.fail('half of a surrogate pair', start);
    this.at++;
    const second = this.unicodeEscape(this.at - 1);
    if (second < 0xdc00 || second > 0xdfff) this.fail('half of a surrogate pair', start);
  }

  private unicodeEscape(start: number): number {
    const digits = this.bytes.toString('latin1', this.at + 1, this.at + 5);
    if (!/^[0-9A-Fa-f]{4}$/.test(digits)) this.fail('four hexadecimal digits expected', start);
    this.at += 5;
    return Number.parseInt(digits, 16);
  }

  private number(): void {
    const start = this.at;
    if (this.byte() === MINUS) this.at++;
    if (this.byte() === ZERO) {
      this.at++;
      if (isDigit(this.byte())) this.fail('a number must not have leading zeros', start);
    } else {
      this.digits();
    }
    let mayOverflow = this.at - start > safeDigits;
    if (this.byte() === DOT) {
      this.at++;
      this.digits();
    }
    if (this.byte() === LOWER_E || this.byte() === UPPER_E) {
      mayOverflow = true;
      this.at++;
      if (this.byte() === PLUS || this.byte() === MINUS) this.at++;
      this.digits();
    }
    if (mayOverflow && !Number.isFinite(Number(this.bytes.toString('latin1', start, this.at))))
      this.fail('a number beyond the range of a double', start);
  }

  private digits(): void {
    if (!isDigit(this.byte())) this.fail('a digit expected');
    while (isDigit(this.byte())) this.at++;
  }

  private literal(): void {
    for (const word of ['true', 'false', 'null']) {
      if (this.bytes.toString('latin1', this.at, this.at + word.length) === word) {
        this.at += word.length;
        return;
      }
    }
    this.fail(this.at === this.end ? 'the text ends where a value is expected' : 'a JSON value expected');
  }

  private space(): void {
    const { bytes, end } = this;
    let at = this.at;
    while (at < end) {
      const byte = bytes[at];
      if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) break;
      at++;
    }
    this.at = at;
  }

  private byte(): number {
    return this.at < this.end ? (this.bytes[this.at] as number) : END;
  }

  private failDuplicate(name: string, at: number): never {
    const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
    this.fail(`member ${JSON.stringify(shown)} given twice`, at);
  }

  /** Counts bytes without making strings: the position may be at the end of a body of many megabytes. */
  private fail(what: string, at = this.at): never {
    let line = 1;
    let column = 1;
    for (let index = 0; index < at; index++) {
      const byte = this.bytes[index] as number;
      if (byte === LINE_FEED) {
        line++;
        column = 1;
      } else if (!isContinuation(byte)) column++;
    }
    throw new JsonFault(`${what}, at line ${line}, column ${column}`);
  }
}

/** The second and further bytes of a character in UTF-8. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}
