import type { DiscoverMessage } from '../../search/messages.ts';

/** Rows of one minute each, all processes together: the minute in seconds since 1970, then a number for each name. */
export interface Series {
  names: string[];
  rows: [number, ...(number | null)[]][];
}

/** A failure that lasts. */
export interface Trouble {
  kind: string;
  role: string;
  what: string;
  since: string;
  next: string;
}

export interface EmptySearch {
  at: string;
  networkId?: string;
  intent: DiscoverMessage['intent'];
  nearMisses?: { code: string; message: string }[];
  times: number;
}
