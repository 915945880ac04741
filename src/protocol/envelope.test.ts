import { describe, expect, it } from 'vitest';
import {
  sampleContext,
  sampleNow,
  samplePublishMessage,
} from '../../tests/support/catalogs/sample-messages.ts';
import { changed, without } from '../../tests/support/values/changed.ts';
import { type Action, actions } from './actions.ts';
import { parseEnvelope } from './envelope.ts';
import { ProtocolError } from './errors.ts';
import type { Segments } from './fault.ts';
import { jsonPath } from './json.ts';
import { findMessageId } from './message-id.ts';

const body = { context: sampleContext(actions.publish), message: samplePublishMessage() };
const reading =
  (value: unknown, action: Action = actions.publish, now = sampleNow) =>
  () =>
    parseEnvelope(value, action, now);
const fault = (code: string, at: Segments) => expect.objectContaining({ code, path: jsonPath(at) });

describe('a body', () => {
  it('is read from its bytes', () => {
    expect(parseEnvelope(Buffer.from(JSON.stringify(body)), actions.publish, sampleNow)).toEqual(body);
  });

  it('that is not JSON is SCH_INVALID_JSON', () => {
    expect(reading(Buffer.from('{"context":'))).toThrow(
      expect.objectContaining({ code: 'SCH_INVALID_JSON' }),
    );
    expect(reading(Buffer.from('{"context":{},"context":{}}'))).toThrow(
      expect.objectContaining({ code: 'SCH_INVALID_JSON' }),
    );
  });

  it.each([[[]], ['text'], [7], [null]])('that is no object is SCH_SCHEMA_VALIDATION_FAILED: %j', (value) => {
    expect(reading(value)).toThrow(fault('SCH_SCHEMA_VALIDATION_FAILED', []));
  });

  it('without context is CTX_MISSING_FIELD, without message SCH_REQUIRED_FIELD_MISSING', () => {
    expect(reading({ message: {} })).toThrow(fault('CTX_MISSING_FIELD', ['context']));
    expect(reading({ context: body.context })).toThrow(fault('SCH_REQUIRED_FIELD_MISSING', ['message']));
  });

  it('is refused for its context before anything else that is wrong with it', () => {
    const context = { ...body.context, action: 'catalog/search' };
    expect(reading({ context })).toThrow(fault('CTX_ACTION_MISMATCH', ['context', 'action']));
    expect(reading({ extra: 1, context: {} })).toThrow(fault('CTX_MISSING_FIELD', ['context', 'version']));
  });

  it('with a third member is SCH_FIELD_NOT_ALLOWED', () => {
    expect(reading({ ...body, extra: 1 })).toThrow(fault('SCH_FIELD_NOT_ALLOWED', ['extra']));
  });
});

describe('the context', () => {
  it.each([
    'subscribe',
    'publish',
    'push',
    'pull',
    'search',
    'discover',
    'onPublish',
    'onPull',
    'onDiscover',
  ] as const)('of %s requires five fields, and no id or address: CTX_MISSING_FIELD', (name) => {
    const action = actions[name];
    const fields = [
      'version',
      'action',
      'messageId',
      'transactionId',
      'timestamp',
      'bapId',
      'bapUri',
      'bppId',
      'bppUri',
    ];
    const refused = fields.filter((field) => {
      try {
        parseEnvelope({ context: without(sampleContext(action), [field]), message: {} }, action, sampleNow);
      } catch (error) {
        return (
          error instanceof ProtocolError &&
          error.code === 'CTX_MISSING_FIELD' &&
          error.path === `$.context.${field}`
        );
      }
      return false;
    });
    expect(refused).toEqual(['version', 'action', 'messageId', 'transactionId', 'timestamp']);
  });

  it('with the placeholder of sample payloads as its own address counts as one without', () => {
    const { bppUri: _, ...context } = body.context as Record<string, unknown>;
    expect(reading(changed(body, ['context', 'bppUri'], 'PLACEHOLDER'))()).toEqual({ ...body, context });
  });

  it('with something else in the place of an address is told that its own may be omitted', () => {
    expect(reading(changed(body, ['context', 'bppUri'], 'mailto:bpp@example.org'))).toThrow(
      'context.bppUri must be an http or https address; your own may be omitted, and defaults to the url of your registry record',
    );
  });

  it.each<[Segments, unknown]>([
    [[], 'text'],
    [['version'], 2],
    [['action'], null],
    [['messageId'], ''],
    [['messageId'], 'x'.repeat(129)],
    [['transactionId'], 7],
    [['timestamp'], 'yesterday'],
    [['timestamp'], '2026-02-30T00:00:00Z'],
    [['ttl'], '30 seconds'],
    [['bppUri'], 'placeholder'],
    [['bapUri'], 'PLACEHOLDER'],
    [['bppUri'], 'mailto:bpp@example.org'],
    [['bppUri'], 'https://bpp.example.org:99999/'],
    [['bapId'], {}],
    ...['bapId', 'bapUri', 'bppId', 'bppUri'].flatMap((name): [Segments, unknown][] => [
      [[name], null],
      [[name], ''],
    ]),
    [['networkId'], []],
    [['schemaContext'], 'https://schema.example.org'],
    [['try'], 'yes'],
    [['requestDigest'], 'BLAKE-512=abc='],
    [['requestDigest'], { digest: 'sha256:00' }],
  ])('with a bad value at %j is CTX_INVALID_FIELD: %j', (at, value) => {
    const culprit = [
      'context',
      ...at,
      ...(typeof value === 'object' && value && 'digest' in value ? ['digest'] : []),
    ];
    expect(reading(changed(body, ['context', ...at], value))).toThrow(fault('CTX_INVALID_FIELD', culprit));
  });

  it('keeps members that it does not know', () => {
    const context = { ...body.context, domain: 'energy', location: { city: 'London' } };
    expect(reading({ ...body, context })()).toEqual({ ...body, context });
  });

  it('with the action of another endpoint is CTX_ACTION_MISMATCH', () => {
    expect(reading(changed(body, ['context', 'action'], 'catalog/push'))).toThrow(
      fault('CTX_ACTION_MISMATCH', ['context', 'action']),
    );
  });

  it('of any version but 2.0.0 is CTX_VERSION_UNSUPPORTED', () => {
    for (const version of ['1.1.0', '2.0', '2.0.1', '']) {
      expect(reading(changed(body, ['context', 'version'], version))).toThrow(
        fault('CTX_VERSION_UNSUPPORTED', ['context', 'version']),
      );
    }
  });

  it('whose timestamp plus ttl has elapsed is CTX_TTL_EXPIRED', () => {
    const short = changed(body, ['context', 'ttl'], 'PT30S');
    const later = (ms: number) => new Date(sampleNow.getTime() + ms);
    expect(reading(short, actions.publish, later(29_999))).not.toThrow();
    expect(reading(short, actions.publish, later(30_000))).toThrow(
      fault('CTX_TTL_EXPIRED', ['context', 'ttl']),
    );
    expect(
      reading(changed(body, ['context', 'ttl'], 'P1M'), actions.publish, later(30 * 86_400_000)),
    ).not.toThrow();
    expect(reading(body, actions.publish, later(1e12))).not.toThrow();
  });

  it('of a callback never expires: it repeats the ttl of the request that it answers', () => {
    const context = { ...sampleContext(actions.onPublish), ttl: 'PT30S' };
    const late = new Date(sampleNow.getTime() + 3_600_000);
    expect(reading({ context, message: { results: [] } }, actions.onPublish, late)).not.toThrow();
  });
});

describe('of several faults', () => {
  // Each row is repaired to give the next one: the answer has the first fault of the list.
  const faults: [Segments, unknown, string][] = [
    [['context', 'transactionId'], undefined, 'CTX_MISSING_FIELD'],
    [['context', 'timestamp'], 'yesterday', 'CTX_INVALID_FIELD'],
    [['context', 'action'], 'catalog/push', 'CTX_ACTION_MISMATCH'],
    [['context', 'version'], '1.0.0', 'CTX_VERSION_UNSUPPORTED'],
    [['context', 'ttl'], 'PT0S', 'CTX_TTL_EXPIRED'],
    [['extra'], 1, 'SCH_FIELD_NOT_ALLOWED'],
    [['message', 'catalogs', 0, 'id'], undefined, 'SCH_REQUIRED_FIELD_MISSING'],
    [['message', 'catalogs', 0, 'surprise'], 1, 'SCH_FIELD_NOT_ALLOWED'],
    [['message', 'catalogs', 0, 'isActive'], 1, 'SCH_SCHEMA_VALIDATION_FAILED'],
    [['message', 'publishDirectives', 0, 'catalogId'], 'nobody', 'SCH_SCHEMA_VALIDATION_FAILED'],
  ];

  it.each(faults.map(([, , code], index) => [code, index] as const))(
    '%s answers, as number %i',
    (code, index) => {
      const broken = faults.slice(index).reduce<unknown>((value, [at, bad]) => changed(value, at, bad), body);
      expect(reading(broken)).toThrow(fault(code, faults[index]?.[0] ?? []));
    },
  );
});

describe('the messageId', () => {
  it('is found in a body that need not be valid otherwise', () => {
    expect(findMessageId({ context: { messageId: 'm-1' } })).toBe('m-1');
    for (const odd of [
      null,
      [],
      {},
      { context: [] },
      { context: { messageId: 7 } },
      { context: { messageId: 'x'.repeat(129) } },
    ]) {
      expect(findMessageId(odd)).toBeUndefined();
    }
  });
});
