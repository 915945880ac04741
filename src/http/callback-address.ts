import type { Config } from '../config.ts';
import type { Action } from '../protocol/actions.ts';
import type { Context } from '../protocol/context.ts';
import type { ProtocolError } from '../protocol/errors.ts';
import { faultAt } from '../protocol/fault.ts';
import type { ParticipantRecord } from '../protocol/registry-record.ts';
import { literalAddress, specialRangeOf } from '../rules/addresses.ts';
import { joinPath, originOf } from '../rules/base-address.ts';

/** The address of the callback: the caller's base address and the path of the callback's action. A wrong one must be refused at once. */
export function callbackAddress(
  request: { action: Action; context: Context; record: Pick<ParticipantRecord, 'url'> },
  callback: Pick<Action, 'path'>,
  config: Pick<Config, 'CHECK_CALLBACK_ORIGIN' | 'ALLOW_PRIVATE_ADDRESSES'>,
): string {
  const { action, context, record } = request;
  const member = action.caller === 'bpp' ? 'bppUri' : 'bapUri';
  const wrong = (problem: string): ProtocolError =>
    faultAt('CTX_INVALID_FIELD', ['context', member], problem);

  const text = context[member];
  if (text === undefined) {
    const problem = "is missing, and the caller's registry record has no url";
    throw faultAt('CTX_MISSING_FIELD', ['context', member], problem);
  }
  if (text.length > maxAddressLength) throw wrong(`must have at most ${maxAddressLength} characters`);
  // A record's address may have any scheme.
  if (!/^https?:/i.test(text) || !URL.canParse(text)) throw wrong('must be an http or https address');
  const base = new URL(text);
  if (base.username !== '' || base.password !== '') throw wrong('must not carry a user name or password');
  if (base.search !== '' || base.hash !== '')
    throw wrong('must be a base address, without query or fragment');
  if (base.hostname.length > maxHostLength)
    throw wrong(`must name a host of at most ${maxHostLength} characters`);
  if (!config.ALLOW_PRIVATE_ADDRESSES) {
    if (base.protocol !== 'https:') throw wrong('must be an https address');
    const literal = literalAddress(base.hostname);
    const range = literal === undefined ? undefined : specialRangeOf(literal);
    if (range !== undefined) throw wrong(`must be a public address, but ${base.hostname} is not (${range})`);
  }
  if (config.CHECK_CALLBACK_ORIGIN && record.url !== undefined && originOf(record.url) !== base.origin)
    throw wrong(`must have the origin of the caller's registry record, ${record.url}`);
  return joinPath(base.href, callback.path);
}

/** It is stored, and logged at each attempt. */
const maxAddressLength = 2_048;

/** Limit of a domain name (RFC 1035). URL parsers accept longer ones, but the index of callbacks by host does not. */
const maxHostLength = 253;
