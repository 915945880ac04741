import { describe, expect, it } from 'vitest';
import { actions } from '../protocol/actions.ts';
import { requireCallback } from './callback.ts';
import type { Answer } from './sender.ts';

const answered = (status: number, body: object) =>
  ({ action: actions.publish, status, body }) as unknown as Answer;

describe('a check that looks at a callback', () => {
  it('is skipped with the refusal of the request, where it was refused', () => {
    const refusal = { message: { error: { code: 'AUT_UNAUTHORIZED_ACTION' } } };
    expect(() => requireCallback({ answer: answered(403, refusal) })).toThrow(
      'no catalog/on_publish was due: POST /catalog/publish was answered with 403 {"message":{"error":{"code":"AUT_UNAUTHORIZED_ACTION"}}}',
    );
    expect(() => requireCallback({ answer: answered(200, {}) })).toThrow('no catalog/on_publish came');
  });
});
