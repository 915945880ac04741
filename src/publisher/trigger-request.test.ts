import { describe, expect, it } from 'vitest';
import { TriggerRequest } from '../protocol/trigger-messages.ts';
import { triggerSubmissionsOf } from './submission.ts';
import { parseTriggerRequest } from './trigger-request.ts';

const catalog = (id: string) => ({
  id,
  descriptor: { name: 'Coffee' },
  provider: { id: 'p', descriptor: { name: 'P' } },
  resources: [{ id: 'r' }],
});

describe('a request to the trigger', () => {
  it('may publish some catalogs and retire, pause and resume others', () => {
    const request = {
      message: { catalogs: [catalog('a'), catalog('b')] },
      retire: ['c'],
      pause: ['d'],
      resume: ['e'],
    };
    expect(parseTriggerRequest(request)).toEqual(request);
  });

  it.each([
    [{ message: { catalogs: [catalog('a')] }, retire: ['a'] }, '$.retire[0]'],
    [{ pause: ['b', 'a'], resume: ['a'] }, '$.resume[0]'],
    [{ retire: ['a', 'b', 'a'] }, '$.retire[2]'],
  ])('names no catalog twice: %j', (request, path) => {
    expect(() => parseTriggerRequest(request)).toThrow(
      expect.objectContaining({ code: 'SCH_SCHEMA_VALIDATION_FAILED', path }),
    );
  });

  it('may name the masters of other nodes, for a REGULAR catalog', () => {
    const request = (catalogType: string) => ({
      message: {
        catalogs: [catalog('a')],
        publishDirectives: [{ catalogId: 'a', catalogType, dependencies: { masters: [{ catalogId: 'm' }] } }],
      },
    });
    expect(parseTriggerRequest(request('REGULAR'))).toEqual(request('REGULAR'));
    expect(() => parseTriggerRequest(request('MASTER'))).toThrow(
      expect.objectContaining({ path: '$.message.publishDirectives[0].dependencies' }),
    );
  });

  it.each([
    [[{ catalogId: 'm', indexUrl: 'index.json' }], '[0].indexUrl'],
    [[{ catalogId: 'm' }, { catalogId: 'n', indexUrl: 'file:///etc/hosts' }], '[1].indexUrl'],
    [[{ catalogId: 'm', version: 1 }, { catalogId: 'm' }], '[1].catalogId'],
  ])('names no masters that nobody could find: %j', (masters, place) => {
    const publishDirectives = [{ catalogId: 'a', catalogType: 'REGULAR', dependencies: { masters } }];
    expect(() => parseTriggerRequest({ message: { catalogs: [catalog('a')], publishDirectives } })).toThrow(
      expect.objectContaining({
        code: 'SCH_SCHEMA_VALIDATION_FAILED',
        path: `$.message.publishDirectives[0].dependencies.masters${place}`,
      }),
    );
  });

  it('is refused for what a publish is refused for', () => {
    const repeated = { message: { catalogs: [catalog('a'), catalog('a')] } };
    expect(() => parseTriggerRequest(repeated)).toThrow(
      expect.objectContaining({ path: '$.message.catalogs[1].id' }),
    );
    expect(() => parseTriggerRequest({})).toThrow(
      expect.objectContaining({ code: 'SCH_REQUIRED_FIELD_MISSING' }),
    );
    expect(() => parseTriggerRequest({ context: { action: 'discover' }, retire: ['a'] })).toThrow(
      expect.objectContaining({ code: 'CTX_ACTION_MISMATCH' }),
    );
  });
});

describe('the schema of the trigger', () => {
  it('describes the defaults that it has', () => {
    const [submission] = triggerSubmissionsOf({ catalogs: [catalog('a')] });
    const { publishDirectives, catalogs } = TriggerRequest.properties.message.properties;
    const { updateMode, visibleTo } = publishDirectives.items.properties;
    expect(updateMode).toMatchObject({ default: submission?.updateMode });
    expect(submission?.networkIds).toBeUndefined();
    expect(visibleTo).toMatchObject({
      description: expect.stringMatching(/^Omitted: every discovery service/),
    });
    expect(catalogs.items.properties.isActive).not.toHaveProperty('default');
  });
});
