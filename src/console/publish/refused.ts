import type { Nack } from '../../protocol/nack.ts';
import { ConsoleError } from '../errors.ts';

/** What a service of this network said to a publish, for the person who wrote it. */
export function refusedBy(
  who: 'catalog service' | 'publisher',
  { status, nack: { code = '', message = '', path } }: { status: number; nack: Nack },
  hint?: string,
): ConsoleError {
  const said = `The ${who} refused it, ${status} ${code}: ${message}`;
  return new ConsoleError('BIZ_GENERIC_ERROR', said, { path, hint });
}
