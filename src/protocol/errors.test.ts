import { describe, expect, it } from 'vitest';
import { errorBody, errorStatus, ProtocolError } from './errors.ts';

describe('error codes', () => {
  it('are the 76 of the canonical enumeration, under its six prefixes', () => {
    const codes = Object.keys(errorStatus);
    expect(codes).toHaveLength(76);
    expect(codes.filter((code) => !/^(CTX|AUT|SCH|NET|BIZ|POL)_[A-Z_]+$/.test(code))).toEqual([]);
  });

  it.each([
    ['SCH_INVALID_JSON', 400],
    ['AUT_SIGNATURE_INVALID', 401],
    ['AUT_UNAUTHORIZED_ACTION', 403],
    ['AUT_RATE_LIMITED', 429],
    ['NET_NOT_IMPLEMENTED', 400],
    ['NET_INTERNAL_ERROR', 500],
    ['NET_OVERLOADED', 503],
    ['BIZ_NO_RESULTS_FOUND', 202],
  ] as const)("%s answers with the spec's %i", (code, status) => {
    expect(new ProtocolError(code, 'x').status).toBe(status);
  });
});

describe('errorBody', () => {
  it('has details only where there is a path', () => {
    expect(
      errorBody(new ProtocolError('SCH_INVALID_ENUM', 'no such mode', { path: '$.message.mode' })),
    ).toEqual({
      code: 'SCH_INVALID_ENUM',
      message: 'no such mode',
      details: { path: '$.message.mode' },
    });
    expect(errorBody(new ProtocolError('AUT_SIGNATURE_MISSING', 'sign it'))).toEqual({
      code: 'AUT_SIGNATURE_MISSING',
      message: 'sign it',
    });
  });

  it('never shows the cause', () => {
    const error = new ProtocolError('NET_INTERNAL_ERROR', 'internal error', { cause: new Error('secret') });
    expect(JSON.stringify(errorBody(error))).not.toContain('secret');
    expect(error.cause).toBeInstanceOf(Error);
  });

  it('carries 413 on the code that the spec gives two statuses', () => {
    const error = new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', 'body too large', { status: 413 });
    expect(error).toMatchObject({ code: 'SCH_SCHEMA_VALIDATION_FAILED', status: 413 });
  });
});
