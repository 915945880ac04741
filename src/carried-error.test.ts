import { expect, it } from 'vitest';
import { plainError, reviveError } from './carried-error.ts';
import { ProtocolError } from './protocol/errors.ts';
import { TrustFault } from './rules/self-hosted/faults.ts';
import { DatabaseUnavailable } from './storage/unavailable.ts';

/** The error as received by another thread. */
const carried = (error: unknown) => structuredClone(plainError(error));

it('gives an error of a known class back as one, with its members', () => {
  const revived = reviveError(carried(new TrustFault('index', 'malformed', 'It is no index.')), [TrustFault]);
  expect(revived).toBeInstanceOf(TrustFault);
  expect(revived).toMatchObject({ document: 'index', code: 'malformed', message: 'It is no index.' });
});

it('takes the nearest known class of an error, in whatever order they are given', () => {
  const plain = carried(new DatabaseUnavailable(new Error('refused')));
  expect(reviveError(plain, [ProtocolError, DatabaseUnavailable])).toBeInstanceOf(DatabaseUnavailable);
  const revived = reviveError(plain, [ProtocolError]);
  expect(revived).toBeInstanceOf(ProtocolError);
  expect(revived).not.toBeInstanceOf(DatabaseUnavailable);
  expect(revived).toMatchObject({ code: 'NET_DOWNSTREAM_UNAVAILABLE', status: 503, retryAfterSeconds: 5 });
});

it('gives any other error back as a plain one, with its name, code and stack', () => {
  const error = Object.assign(new TypeError('no'), { code: 'E_NO', inner: { secret: 1 } });
  const revived = reviveError(carried(error), [ProtocolError]);
  expect(Object.getPrototypeOf(revived)).toBe(Error.prototype);
  expect(revived).toMatchObject({ name: 'TypeError', message: 'no', code: 'E_NO', stack: error.stack });
  expect(revived).not.toHaveProperty('inner');
  expect(reviveError(carried('just a text')).message).toBe('just a text');
});
