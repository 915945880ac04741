/** Reads the tokens of a JSONPath query (RFC 9535). `find…` advances only if it finds something. */
export class JsonPathReader {
  protected readonly text: string;
  protected at = 0;

  constructor(text: string) {
    this.text = text;
  }

  protected sees(symbol: string): boolean {
    return this.text.startsWith(symbol, this.at);
  }

  protected takes(symbol: string): boolean {
    const seen = this.sees(symbol);
    if (seen) this.at += symbol.length;
    return seen;
  }

  /** Skips space only before something that is found. */
  protected afterSpace<T>(find: (at: number) => T | undefined): T | undefined {
    const before = this.at;
    this.space();
    const found = find(this.at);
    if (found === undefined) this.at = before;
    return found;
  }

  /** Also skips the space after the symbol. */
  protected takesAfterSpace(symbol: string): boolean {
    const isTaken = this.afterSpace(() => (this.takes(symbol) ? symbol : undefined)) !== undefined;
    if (isTaken) this.space();
    return isTaken;
  }

  protected expect(symbol: string): void {
    if (!this.takes(symbol)) this.fail(`'${symbol}' expected`);
  }

  protected match(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  protected space(): void {
    this.match(/[ \t\n\r]*/y);
  }

  protected fail(what: string, at = this.at): never {
    throw new JsonPathFault(what, at);
  }

  protected findName(): string | undefined {
    return this.match(memberName);
  }

  protected findInteger(): number | undefined {
    const start = this.at;
    const digits = this.match(/-?[0-9]+/y);
    if (digits === undefined) return undefined;
    if (!/^(?:0|-?[1-9][0-9]*)$/.test(digits)) this.fail('an index has leading zeros, or is -0', start);
    const integer = Number(digits);
    if (!Number.isSafeInteger(integer)) this.fail('an index beyond 2^53', start);
    return integer;
  }

  protected literal(): null | boolean | number | string {
    if (this.sees('"') || this.sees("'")) return this.string();
    const start = this.at;
    const number = this.match(/(?:-?[1-9][0-9]*|-?0)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y);
    if (number !== undefined) {
      return Number.isFinite(Number(number))
        ? Number(number)
        : this.fail('a number beyond the range of a double', start);
    }
    const word = this.match(/true|false|null/y);
    if (word === undefined) this.fail('a query, a literal or a function expected');
    return JSON.parse(word);
  }

  protected string(): string {
    const quote = this.text.charAt(this.at);
    this.at++;
    let read = '';
    while (!this.takes(quote)) {
      const character = this.text.charAt(this.at);
      if (character < ' ')
        this.fail(character === '' ? 'the query ends inside a string' : 'a control character');
      this.at++;
      read += character === '\\' ? this.escape(quote) : character;
    }
    return read;
  }

  private escape(quote: string): string {
    const start = this.at - 1;
    const unit = this.match(
      /u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}/y,
    );
    if (unit !== undefined) return JSON.parse(`"\\${unit}"`);
    if (this.takes(quote)) return quote;
    return JSON.parse(`"\\${this.match(/[bfnrt/\\]/y) ?? this.fail('invalid escape sequence', start)}"`);
  }
}

export class JsonPathFault extends Error {
  override readonly name = 'JsonPathFault';
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const memberName = /[A-Za-z_\u0080-\ud7ff\ue000-\u{10ffff}][A-Za-z0-9_\u0080-\ud7ff\ue000-\u{10ffff}]*/uy;
