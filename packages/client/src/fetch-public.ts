import { lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { LookupFunction } from 'node:net';
import { findLiteralRefusal, publicOnly } from '../../../src/http/public-addresses.ts';

// A GET of an address from outside: https, to a public address that is checked on connection. `fetch` cannot ensure that.

const maxRedirects = 3;
const redirectStatuses = [301, 302, 303, 307, 308];
/** The option of the constructor that allows other addresses. */
const setting = 'allowPrivateAddresses';

export interface FetchedBody {
  ok: boolean;
  status: number;
  body: AsyncIterable<Uint8Array> | null;
}

export type FetchFile = (url: string, init: { signal: AbortSignal }) => Promise<FetchedBody>;

/** The function for fetching files at addresses from outside. */
export function chooseFetch(options: { allowPrivateAddresses?: boolean; fetch: typeof fetch }): FetchFile {
  return options.allowPrivateAddresses ? options.fetch : fetchPublic;
}

/** Redirects are checked like the first address. `resolve` replaces the system's name resolution. */
export async function fetchPublic(
  address: string,
  { signal, resolve = lookup }: { signal: AbortSignal; resolve?: LookupFunction },
): Promise<FetchedBody> {
  let url = new URL(address);
  for (let redirects = 0; ; redirects += 1) {
    const answer = await get(url, signal, resolve);
    const next = findRedirect(url, answer);
    const { statusCode: status = 0 } = answer;
    const ok = status >= 200 && status < 300;
    // Nobody reads the rest, which would keep the connection open.
    if (!ok) answer.destroy();
    if (!next) return { ok, status, body: answer };
    if (redirects === maxRedirects) throw new Error(`it redirects more than ${maxRedirects} times`);
    url = next;
  }
}

function get(url: URL, signal: AbortSignal, resolve: LookupFunction): Promise<IncomingMessage> {
  if (url.protocol !== 'https:')
    throw new Error(
      `${url.origin} is not called: only https is allowed. Development networks set ${setting}.`,
    );
  const refused = findLiteralRefusal(url.hostname, setting);
  if (refused) throw refused;
  return new Promise((answered, failed) => {
    // `agent: false`: an open connection of this process was not checked.
    const options = { agent: false, lookup: publicOnly(resolve, setting), signal };
    request(url, options, answered).on('error', failed).end();
  });
}

/** The target of a redirect; undefined for a final answer. */
export function findRedirect(
  from: URL,
  { statusCode = 0, headers }: Pick<IncomingMessage, 'statusCode' | 'headers'>,
): URL | undefined {
  const { location } = headers;
  if (!redirectStatuses.includes(statusCode) || location === undefined) return undefined;
  if (!URL.canParse(location, from.href)) throw new Error('it redirects to an invalid address');
  return new URL(location, from);
}
