import type { LookupFunction } from 'node:net';
import type { Agent } from './undici.ts';

/** The part of an agent that an exchange needs, on Node's own client, for commands: the parser of undici takes 0.2 s for its first answer. */
export function createFewCalls(lookup: LookupFunction): Pick<Agent, 'dispatch'> {
  return {
    dispatch(options, handler) {
      start(lookup, options, handler).catch((error) => handler.onResponseError?.(neverStarted, error));
      return true;
    },
  };
}

type Options = Parameters<Agent['dispatch']>[0];
type Handler = Parameters<Agent['dispatch']>[1];
type Controller = Parameters<NonNullable<Handler['onResponseError']>>[0];

const neverStarted = {} as Controller;

async function start(
  lookup: LookupFunction,
  { origin = '', path, method, headers, body }: Options,
  handler: Handler,
): Promise<void> {
  const url = new URL(path, origin);
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const asking = request(url, { method, headers: headers as Record<string, string>, lookup, agent: false });
  const controller = { abort: (reason: Error) => fail(reason) } as Controller;
  const fail = (error: Error) => {
    handler.onResponseError?.(controller, error);
    asking.destroy();
  };
  /** An error of the handler ends the call. */
  const tell = (act: () => void) => {
    try {
      act();
    } catch (error) {
      fail(error as Error);
    }
  };
  asking.on('error', fail);
  asking.on('response', (response) => {
    const { statusCode = 0, statusMessage } = response;
    tell(() => handler.onResponseStart?.(controller, statusCode, response.headers, statusMessage));
    response.on('data', (chunk: Buffer) => tell(() => handler.onResponseData?.(controller, chunk)));
    response.on('end', () => handler.onResponseEnd?.(controller, {}));
    response.on('error', fail);
  });
  handler.onRequestStart?.(controller, undefined);
  if (Array.isArray(body)) for (const piece of body) asking.write(piece);
  asking.end(Array.isArray(body) ? undefined : body);
}
