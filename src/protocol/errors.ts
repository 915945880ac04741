/** The canonical ErrorCode enumeration (catalog spec: Errors) with HTTP statuses, and the error class of the protocol layer: every fault that a peer can cause. Others are shown as "internal error" only. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: ErrorCode;
  /** The code's own status, except where the spec gives one code two of them (413 for an oversized body). */
  readonly status: number;
  readonly path?: string;
  /** For 429 and 503: when the caller may try again. */
  readonly retryAfterSeconds?: number;

  constructor(code: ErrorCode, message: string, options: ProtocolErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? errorStatus[code];
    this.path = options.path;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

export function overloaded(message: string, options: ProtocolErrorOptions = {}): ProtocolError {
  return new ProtocolError('NET_OVERLOADED', message, { retryAfterSeconds: 2, ...options });
}

/** The Error shape of NACKs, 202 acknowledgements and callbacks (catalog spec: Other shapes). */
export function errorBody(error: ProtocolError): ErrorBody {
  const { code, message, path } = error;
  return path === undefined ? { code, message } : { code, message, details: { path } };
}

export const errorStatus = {
  // context or routing
  CTX_MISSING_FIELD: 400,
  CTX_INVALID_FIELD: 400,
  CTX_ACTION_MISMATCH: 400,
  CTX_VERSION_UNSUPPORTED: 400,
  CTX_TTL_EXPIRED: 400,
  CTX_MESSAGE_ID_DUPLICATE: 400,
  CTX_TRANSACTION_ID_UNKNOWN: 400,
  CTX_CALLBACK_URL_MISSING: 400,
  CTX_INVALID_BPP_URI: 400,

  // authentication or trust
  AUT_SIGNATURE_MISSING: 401,
  AUT_SIGNATURE_INVALID: 401,
  AUT_SUBSCRIBER_NOT_FOUND: 401,
  AUT_KEY_NOT_FOUND: 401,
  AUT_KEY_EXPIRED_OR_REVOKED: 401,
  AUT_UNAUTHORIZED_ACTION: 403,
  AUT_DOMAIN_NOT_ALLOWED: 403,
  AUT_REPLAY_DETECTED: 400,
  AUT_RATE_LIMITED: 429,

  // schema
  SCH_INVALID_JSON: 400,
  SCH_SCHEMA_VALIDATION_FAILED: 400,
  SCH_REQUIRED_FIELD_MISSING: 400,
  SCH_FIELD_NOT_ALLOWED: 400,
  SCH_INVALID_ENUM: 400,
  SCH_INVALID_FORMAT: 400,
  SCH_INVALID_JSONPATH: 400,
  SCH_INVALID_JSONLD_CONTEXT: 400,
  SCH_TYPE_NOT_SUPPORTED: 400,
  SCH_ATTRIBUTE_PACK_INVALID: 400,
  SCH_INVALID_ENTITY_TYPE: 400,
  SCH_SCHEMA_ADAPTATION_FAILED: 400,

  // networking or runtime
  NET_TIMEOUT: 504,
  NET_DOWNSTREAM_UNAVAILABLE: 503,
  NET_CALLBACK_FAILED: 502,
  NET_ACK_TIMEOUT: 504,
  NET_OVERLOADED: 503,
  NET_INTERNAL_ERROR: 500,
  NET_NOT_IMPLEMENTED: 400,
  NET_CATALOG_SOURCE_UNAVAILABLE: 503,
  NET_CATALOG_STALE: 503,

  // business logic
  BIZ_PROVIDER_NOT_FOUND: 400,
  BIZ_LOCATION_NOT_FOUND: 400,
  BIZ_CATEGORY_NOT_FOUND: 400,
  BIZ_ITEM_NOT_FOUND: 400,
  BIZ_OFFER_NOT_FOUND: 400,
  BIZ_ADDON_NOT_FOUND: 400,
  BIZ_ORDER_NOT_FOUND: 400,
  BIZ_QUANTITY_UNAVAILABLE: 400,
  BIZ_FULFILLMENT_UNAVAILABLE: 400,
  BIZ_QUOTE_EXPIRED_OR_CHANGED: 400,
  BIZ_PRICE_MISMATCH: 400,
  BIZ_PAYMENT_NOT_SUPPORTED: 400,
  BIZ_TRACKING_NOT_SUPPORTED: 400,
  BIZ_SUPPORT_NOT_AVAILABLE: 400,
  BIZ_PAYMENT_FAILED: 400,
  BIZ_NO_RESULTS_FOUND: 202,
  BIZ_INVALID_STATE_TRANSITION: 409,
  BIZ_ALREADY_CANCELLED: 409,
  BIZ_ALREADY_CONFIRMED: 409,
  BIZ_UPDATE_INCONSISTENT: 409,
  BIZ_INVALID_UPDATE_TARGET: 400,
  BIZ_INVALID_CANCELLATION_REASON: 400,
  BIZ_RATING_TARGET_NOT_FOUND: 400,
  BIZ_INVALID_RATING_VALUE: 400,
  BIZ_GENERIC_ERROR: 400,

  // policy
  POL_CANCELLATION_NOT_ALLOWED: 400,
  POL_UPDATE_NOT_ALLOWED: 400,
  POL_GEO_RESTRICTED: 400,
  POL_ELIGIBILITY_NOT_MET: 400,
  POL_KYC_REQUIRED: 400,
  POL_CONSENT_REQUIRED: 400,
  POL_SANCTIONED_PARTY: 400,
  POL_CALLER_TRUST_INSUFFICIENT: 403,
  POL_NP_CAPACITY_EXCEEDED: 403,
  POL_NP_DORMANT: 403,
  POL_ENGAGEMENT_REFUSED: 403,
  POL_GENERIC_ERROR: 400,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export interface ErrorBody {
  code: ErrorCode;
  message: string;
  details?: { path: string };
}

export interface ProtocolErrorOptions {
  path?: string;
  status?: number;
  retryAfterSeconds?: number;
  cause?: unknown;
}
