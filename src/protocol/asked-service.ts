import type { ParticipantRecord } from './registry-record.ts';

export interface AskedService {
  /** `namespace/registry`; undefined if only the address is known. */
  identity?: string;
  url: string;
}

/** Whether a signer is the requested service: the named one, or, for an address, a participant that the registry has at its origin. */
export function isAskedService(
  { identity, url }: AskedService,
  signer: string,
  { url: registered }: Pick<ParticipantRecord, 'url'>,
): boolean {
  if (identity !== undefined) return identity === signer;
  if (registered === undefined || !URL.canParse(registered)) return false;
  return new URL(registered).origin === new URL(url).origin;
}
