import { nothingMatches } from '../protocol/discover-messages.ts';
import { ProtocolError, type ProtocolErrorOptions } from '../protocol/errors.ts';
import { exampleIds } from '../protocol/example-catalog.ts';
import type { Example } from '../protocol/example-messages.ts';
import { faultAt } from '../protocol/fault.ts';
import { settings } from '../setting-table.ts';
import type { Kind } from '../settings.ts';
import { errorAnswer } from './error-answer.ts';
import { tooLarge } from './read-body.ts';

// What a signed route answers when it does not accept a request (catalog spec: Errors): in words, and as examples, which are made by the same
// function as the answers of the service.

export interface DescribedRefusal {
  description: string;
  examples: Record<string, Example>;
}

/** Statuses that any signed route can answer with. */
export const refusals: Record<number, DescribedRefusal> = {
  400: {
    description:
      'The body, its context or a value in it is wrong: SCH_…, CTX_… or NET_NOT_IMPLEMENTED, with details.path.',
    examples: {
      missing: example(
        'A member is missing',
        faultAt('SCH_REQUIRED_FIELD_MISSING', ['message', 'catalogs', 0, 'id'], 'is missing'),
      ),
      late: example(
        'The ttl is over',
        faultAt('CTX_TTL_EXPIRED', ['context', 'ttl'], 'has elapsed since 2026-01-31T12:00:00Z'),
      ),
    },
  },
  401: {
    description:
      'AUT_SIGNATURE_MISSING, AUT_SIGNATURE_INVALID, AUT_KEY_NOT_FOUND, AUT_KEY_EXPIRED_OR_REVOKED or AUT_SUBSCRIBER_NOT_FOUND.',
    examples: {
      invalid: refusal(
        'The body was changed after it was signed, or the key is another',
        'AUT_SIGNATURE_INVALID',
        'the signature does not match the body and the key',
      ),
      unknown: refusal(
        'The registry does not know the key',
        'AUT_KEY_NOT_FOUND',
        'The registry has no such key of this subscriber.',
      ),
    },
  },
  403: {
    description: 'AUT_UNAUTHORIZED_ACTION or AUT_DOMAIN_NOT_ALLOWED.',
    examples: {
      others: refusal(
        'It is signed by somebody else than the context names',
        'AUT_UNAUTHORIZED_ACTION',
        'The request is signed by provider.example.org/subscribers.beckn.one, which is not grocer.example.org.',
        { path: '$.context.bppId' },
      ),
    },
  },
  413: {
    description: 'SCH_SCHEMA_VALIDATION_FAILED: the body is too large; split it across several requests.',
    examples: {
      large: example(
        'Larger than BODY_SIZE_LIMIT (its default)',
        tooLarge(defaultOf(settings.BODY_SIZE_LIMIT)),
      ),
      bulk: example(
        'A push, on_pull or on_discover larger than BULK_BODY_SIZE_LIMIT (its default)',
        tooLarge(defaultOf(settings.BULK_BODY_SIZE_LIMIT)),
      ),
    },
  },
  429: {
    description: 'AUT_RATE_LIMITED; Retry-After says when to come again.',
    examples: {
      often: refusal('Too often', 'AUT_RATE_LIMITED', 'Too many requests from provider.example.org.'),
    },
  },
  500: {
    description: 'NET_INTERNAL_ERROR.',
    examples: { internal: refusal('A fault of the service', 'NET_INTERNAL_ERROR', 'internal error') },
  },
  503: {
    description: 'NET_OVERLOADED or NET_DOWNSTREAM_UNAVAILABLE; Retry-After says when to come again.',
    examples: {
      overloaded: refusal(
        'Too much at once',
        'NET_OVERLOADED',
        'Too much is being received at once. Try again later.',
      ),
    },
  },
};

const unknownSubscription = refusal(
  'An id that the service never gave out',
  'CTX_INVALID_FIELD',
  'There is no such subscription.',
  { status: 404 },
);

/** What single actions answer beyond that. */
export const furtherAnswers: Record<string, Record<number, DescribedRefusal>> = {
  subscribe: {
    404: {
      description: 'CTX_INVALID_FIELD: there is no such subscription to update.',
      examples: { unknown: unknownSubscription },
    },
  },
  unsubscribe: {
    404: {
      description: 'CTX_INVALID_FIELD: there is no such subscription.',
      examples: { unknown: unknownSubscription },
    },
  },
  pull: {
    404: {
      description: 'CTX_INVALID_FIELD: there is no such subscription.',
      examples: { unknown: unknownSubscription },
    },
  },
  push: {
    202: {
      description:
        'BIZ_NO_RESULTS_FOUND: received, but no subscription of this service matches. Not a failure.',
      examples: {
        unwanted: received(
          'Nothing was subscribed to',
          'No active subscription with catalog.example.org matches, and none of it is held here.',
        ),
      },
    },
  },
  discover: {
    202: {
      description:
        'BIZ_NO_RESULTS_FOUND: nothing was found, and no callback follows. The message names what came close.',
      examples: { nothing: received('Nothing was found', nothingMatches) },
    },
  },
};

function refusal(
  summary: string,
  code: ProtocolError['code'],
  message: string,
  options?: ProtocolErrorOptions,
): Example {
  return example(summary, new ProtocolError(code, message, options));
}

function example(summary: string, error: ProtocolError): Example {
  return { summary, value: errorAnswer(error, { messageId: exampleIds.message }).body as object };
}

function defaultOf<T>({ parse, fallback }: Kind<T>): T {
  return parse(fallback);
}

function received(summary: string, message: string): Example {
  return example(summary, new ProtocolError('BIZ_NO_RESULTS_FOUND', message));
}
