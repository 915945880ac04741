import { describe, expect, it } from 'vitest';
import { sampleContext, samplePublishMessage } from '../../tests/support/catalogs/sample-messages.ts';
import { actions } from './actions.ts';
import { TriggerAnswer, TriggerRequest } from './trigger-messages.ts';
import { validator } from './validate.ts';

const parse = validator(TriggerRequest);

describe('the local trigger', () => {
  it.each([
    [{ context: sampleContext(actions.publish), message: samplePublishMessage() }],
    [{ context: { action: 'catalog/publish' }, message: samplePublishMessage(), forceBaseline: true }],
    [{ retire: ['catalog-1'] }],
    [{ pause: ['catalog-1'], resume: ['catalog-2'] }],
    [{ pause: ['catalog-1'], forceBaseline: false }],
    [{ forceBaseline: true }],
  ])('takes catalogs to publish, or other things to do', (request) => {
    expect(parse(request)).toBe(request);
  });

  it.each([
    ['SCH_REQUIRED_FIELD_MISSING', '$', {}],
    ['SCH_REQUIRED_FIELD_MISSING', '$', { forceBaseline: false }],
    ['SCH_FIELD_NOT_ALLOWED', '$.surprise', { retire: [], surprise: 1 }],
    ['CTX_ACTION_MISMATCH', '$.context.action', { context: { action: 'discover' }, retire: ['catalog-1'] }],
    ['SCH_SCHEMA_VALIDATION_FAILED', '$.message.catalogs', { message: { catalogs: [] } }],
    ['SCH_SCHEMA_VALIDATION_FAILED', '$.retire', { retire: 'catalog-1' }],
  ])('%s at %s: %j', (code, path, request) => {
    expect(() => parse(request)).toThrow(expect.objectContaining({ code, path }));
  });

  it('answers with one result per catalog', () => {
    const answer = {
      status: 'COMPLETED',
      results: [{ catalogId: 'catalog-1', status: 'ACCEPTED', version: 1 }],
    };
    expect(validator(TriggerAnswer)(answer)).toBe(answer);
  });
});
