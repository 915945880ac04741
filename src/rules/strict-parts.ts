// Parts of an on_discover refused even in strict form (protocol decision: envelope rules, strict form): all but the catalogs named by the error, or halves.

/** In total: as published, in strict form, in parts. */
export const maxSends = 6;

/** The progress of the parts of a message. Catalogs are named by their index in the whole message. */
export interface Parts {
  of: number;
  sends: number;
  open: number[][];
  accepted: number;
}

/** After the whole message was refused for its schema. */
export function splitWhole(of: number, sends: number, path: string | undefined): Parts {
  const whole = Array.from({ length: of }, (_, index) => index);
  return { of, sends, open: splitPart(whole, path), accepted: 0 };
}

/** After the first open part was answered; `path` is that of the error, if it was refused for its schema. */
export function advance(
  { of, sends, open, accepted }: Parts,
  answer: 'accepted' | 'refused' | { path?: string },
): Parts {
  const [part = [], ...others] = open;
  const smaller = typeof answer === 'string' ? [] : splitPart(part, answer.path);
  const more = answer === 'accepted' ? part.length : 0;
  return { of, sends: sends + 1, open: [...others, ...smaller], accepted: accepted + more };
}

/** The next part to send; undefined if there is none, or if the maximum was sent. */
export function nextPart({ open, sends }: Parts): readonly number[] | undefined {
  return sends < maxSends ? open[0] : undefined;
}

function splitPart(part: readonly number[], path: string | undefined): number[][] {
  const named = namedCatalogs(path).filter((index) => index < part.length);
  if (named.length > 0) {
    const rest = part.filter((_, index) => !named.includes(index));
    return rest.length > 0 ? [rest] : [];
  }
  const half = Math.ceil(part.length / 2);
  return part.length > 1 ? [part.slice(0, half), part.slice(half)] : [];
}

/** The indexes of the catalogs that the path of an error names: a JSONPath, a JSON Pointer (`/message/catalogs/1`) or names separated by slashes. Beckn-ONIX separates several with semicolons. */
export function namedCatalogs(path: string | undefined): number[] {
  const indexes = (path ?? '').split(';').flatMap((one) => {
    const names = one.split(/[$#./[\]'"\s]+/, 5).filter((name) => name !== '');
    if (names[0] === 'message') names.shift();
    return names[0] === 'catalogs' && /^\d{1,9}$/.test(names[1] ?? '') ? [Number(names[1])] : [];
  });
  return [...new Set(indexes)];
}
