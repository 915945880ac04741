import type { Config } from '../config.ts';
import type { ConnectionLimits } from './connections.ts';
import type { SignedService } from './signed-route.ts';

export function signedLimits(config: Config): SignedService['limits'] {
  return {
    clockSkewSeconds: config.CLOCK_SKEW_SECONDS,
    maxSignatureSeconds: config.MAX_SIGNATURE_SECONDS,
    requireCallbackChain: config.REQUIRE_CALLBACK_CHAIN,
    bodyBytes: config.BODY_SIZE_LIMIT,
    bulkBodyBytes: config.BULK_BODY_SIZE_LIMIT,
  };
}

export function connectionLimits(config: Config): ConnectionLimits {
  return { all: config.MAX_CONNECTIONS, perSource: config.MAX_CONNECTIONS_PER_SOURCE };
}
