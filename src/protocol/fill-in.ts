import { randomUUID } from 'node:crypto';
import { type Endpoint, protocolVersion } from './endpoints.ts';
import { isJsonObject, type JsonObject } from './json.ts';

interface Filled {
  context: JsonObject & Record<'messageId' | 'transactionId', string>;
}

/** The document with a context for this request, by its signer's identity. A callback keeps its messageId; the transaction continues if the file names one. */
export function fillIn<D extends { context?: unknown }>(
  document: D,
  { action, id, uri, now }: { action: Endpoint; id: string; uri: string; now: Date },
): D & Filled {
  const given = isJsonObject(document.context) ? document.context : {};
  const side = sideOf(action, given);
  return {
    ...document,
    context: {
      ...given,
      version: protocolVersion,
      action: action.name,
      messageId: (action.kind === 'callback' && given.messageId) || randomUUID(),
      transactionId: given.transactionId ?? randomUUID(),
      timestamp: now.toISOString(),
      ...(side && { [`${side}Id`]: id, [`${side}Uri`]: uri }),
    },
  } as D & Filled;
}

/** Which pair of context members names the caller. If the action needs none, a given one must still be ours. */
function sideOf(action: Endpoint, given: JsonObject): 'bap' | 'bpp' | undefined {
  if (action.caller || action.kind === 'callback') return action.caller;
  return (['bap', 'bpp'] as const).find((side) => `${side}Id` in given || `${side}Uri` in given);
}
