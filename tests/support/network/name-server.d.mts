export interface Records {
  A?: readonly string[];
  AAAA?: readonly string[];
  ttlSeconds?: number;
}

/** Undefined: there is no such name. 'silent': no answer ever comes. 'failed': the name server says that it cannot tell. */
export type Zone = (name: string, type: 'A' | 'AAAA' | 'other') => Records | 'silent' | 'failed' | undefined;

export interface NameServer {
  /** Address and port. */
  address: string;
  /** Every question that came: `A name` or `AAAA name`. */
  questions: string[];
  stop(): Promise<void>;
}

export function startNameServer(zone: Zone): Promise<NameServer>;
