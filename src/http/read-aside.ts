import { type PlainError, plainError } from '../carried-error.ts';
import { type Action, actions } from '../protocol/actions.ts';
import { parseEnvelope } from '../protocol/envelope.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type Json, parseJson } from '../protocol/json.ts';
import { splitJson } from '../protocol/json-pieces.ts';
import { findMessageId } from '../protocol/message-id.ts';
import { scanMessageId } from '../protocol/message-id-scan.ts';

// Runs in a thread for a large body: it parses and checks the body, and returns it in pieces.

export interface AsideTask {
  body: Uint8Array;
  method: string;
  path: string;
  now: Date;
}

export interface AsideResult {
  messageId?: string;
  /** Pieces of the envelope (json-pieces.ts), or the ProtocolError that refused it. */
  outcome: { pieces: string[] } | { refused: PlainError };
}

export function readAside({ body, method, path, now }: AsideTask): AsideResult {
  let json: Json | undefined;
  try {
    json = parseJson(body);
    const { context, message } = parseEnvelope(json, actionAt(method, path), now);
    const messageId = findMessageId(json);
    return { messageId, outcome: { pieces: splitJson({ context, message } as unknown as Json) } };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const messageId = findMessageId(json) ?? scanMessageId(body);
    return { messageId, outcome: { refused: plainError(error) } };
  }
}

function actionAt(method: string, path: string): Action {
  const action = Object.values(actions).find((each) => each.method === method && each.path === path);
  if (action === undefined) throw new TypeError(`there is no ${method} ${path}`);
  return action;
}

export const readAsideUrl = import.meta.url;
