import { checkJson, type Json } from './json.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  endOfString,
  endOfValue,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
} from './json-bytes.ts';

// A JSON document with a long list, of which memory holds one item at a time: the text and the value of the whole take several times as much as its bytes.

export interface JsonItems extends Iterable<Json> {
  readonly length: number;
}

export function readItems(texts: readonly string[]): JsonItems {
  return itemsOf(texts, (text) => text);
}

function itemsOf<T>(sources: readonly T[], textOf: (source: T) => string): JsonItems {
  return {
    length: sources.length,
    *[Symbol.iterator]() {
      for (const source of sources) yield JSON.parse(textOf(source));
    },
  };
}

/**
 * Extracts the items of the long lists of a document.
 *
 * @param lists matches the path of a long list: the names of the members that lead to it, joined by dots; empty for the document itself
 * @returns the document with these lists empty, and their items
 */
export function parseJsonItems(bytes: Buffer, lists: RegExp): { document: Json; items: JsonItems } {
  checkJson(bytes);
  const rest: Buffer[] = [];
  const spans: Span[] = [];
  /** Member names of the open objects and lists; the last one is the name of the next value. */
  const names = [''];
  let text = '';
  let copied = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfString(bytes, at) - 1;
      text = bytes.toString('utf8', at + 1, end);
      at = end;
    } else if (byte === COLON) names[names.length - 1] = text;
    else if (byte === OPEN_BRACKET && lists.test(names.filter(Boolean).join('.'))) {
      rest.push(bytes.subarray(copied, at + 1));
      copied = cutItems(bytes, at + 1, spans);
      at = copied;
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) names.push('');
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) names.pop();
  }
  const document = JSON.parse(Buffer.concat([...rest, bytes.subarray(copied)]).toString('utf8'));
  return { document, items: itemsOf(spans, ([start, end]) => bytes.toString('utf8', start, end)) };
}

type Span = [start: number, end: number];

/** From after the opening bracket of a list to its closing bracket. */
function cutItems(bytes: Buffer, first: number, spans: Span[]): number {
  for (let start = first; ; ) {
    const end = endOfValue(bytes, start);
    if (skipSpace(bytes, start) < end) spans.push([start, end]);
    if (bytes[end] === CLOSE_BRACKET) return end;
    start = end + 1;
  }
}
