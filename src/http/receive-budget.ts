import { LruCache } from '../lru-cache.ts';
import { overloaded } from '../protocol/errors.ts';
import { type Account, createShares } from './shares.ts';

/**
 * Memory for bodies of signed requests, from their first byte until they are answered. Bytes count when they have arrived: a declared length costs
 * its sender nothing, so it reserves nothing.
 *
 * Before its signature is verified, a body counts against:
 *
 * - the claimed identity, if a signature of that identity was recently verified from that source;
 * - otherwise the source. A sender that only knows a keyId spends the share of its own address, never that of the identity. All such strangers
 * together get half of the whole, so that many addresses do not shut out known senders.
 */
export type ReceiveBudget = ReturnType<typeof createReceiveBudget>;

export interface Sender {
  source: string;
  /** Claimed by the Authorization header. */
  identity?: string;
}

export interface Receipt {
  /** No signature of the claimed identity was recently verified from that source. */
  isOfStranger: boolean;
  /** Throws NET_OVERLOADED if the sender's share, or the whole, is used up. */
  take(bytes: number): void;
  close(): void;
}

const defaultWholeBytes = 512 * 1024 * 1024;
const strangersPart = 1 / 2;
/** Room for a few of the largest bodies at once: a catalog service pushes four catalogs at a time. */
const senderPart = 1 / 8;
const maxKnownIdentities = 10_000;
/** Known sources per identity; the least recently seen one is dropped. */
const maxKnownSources = 8;

export function createReceiveBudget({ wholeBytes = defaultWholeBytes } = {}) {
  const shares = createShares();
  const whole: Account = { name: 'whole', limit: wholeBytes };
  const strangers: Account = { name: 'strangers', limit: wholeBytes * strangersPart };
  const knownSources = new LruCache<string, readonly string[]>(maxKnownIdentities);

  function accountsOf({ source, identity }: Sender, maxBytes: number): Account[] {
    // One body of the largest size always fits, whatever the settings allow.
    const limit = Math.max(wholeBytes * senderPart, maxBytes);
    const isKnown = identity !== undefined && knownSources.find(identity)?.includes(source);
    if (isKnown) return [{ name: `identity ${identity}`, limit }, whole];
    return [{ name: `source ${source}`, limit }, strangers, whole];
  }

  return {
    /** For one body of a route that accepts up to `maxBytes`. */
    open(sender: Sender, maxBytes: number): Receipt {
      const accounts = accountsOf(sender, maxBytes);
      let taken = 0;
      return {
        isOfStranger: accounts.includes(strangers),
        take(bytes) {
          if (shares.take(accounts, bytes))
            throw overloaded('Too much is being received at once. Try again later.');
          taken += bytes;
        },
        close() {
          shares.giveBack(accounts, taken);
          taken = 0;
        },
      };
    },
    /** A signature of this identity was verified from this source. */
    vouch({ source, identity }: Required<Sender>): void {
      const sources = knownSources.find(identity) ?? [];
      if (sources.at(-1) === source) return;
      const others = sources.filter((known) => known !== source);
      knownSources.keep(identity, [...others, source].slice(-maxKnownSources));
    },
  };
}

/** Memory belongs to the process: its signed services share one budget. */
export const processReceiveBudget = createReceiveBudget();
