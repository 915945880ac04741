import { attempt } from '../attempt.ts';
import { isJsonObject, type Json, parseJson } from './json.ts';

/** A peer's reason for a refusal, as far as it is readable. No member is required. */
export interface Nack {
  code?: string;
  message?: string;
  path?: string;
}

export function readNack(body: Json | undefined): Nack {
  const message = isJsonObject(body) && isJsonObject(body.message) ? body.message : {};
  const error = isJsonObject(message.error) ? message.error : {};
  const { path } = isJsonObject(error.details) ? error.details : {};
  return {
    ...(typeof error.code === 'string' && { code: error.code }),
    ...(typeof error.message === 'string' && { message: error.message }),
    ...(typeof path === 'string' && { path }),
  };
}

/** The same for bytes, which may be anything: a proxy on the way answers in HTML. */
export function readNackBytes(body: Uint8Array): Nack {
  return readNack(attempt(() => parseJson(body)));
}
