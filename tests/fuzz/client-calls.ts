import { randomUUID } from 'node:crypto';
import { actions } from '../../src/protocol/actions.ts';
import { sampleCatalog } from '../support/hosted/hosted-documents.ts';
import type { Scene } from './scene.ts';
import type { Sent } from './sink.ts';
import { Fault } from './target.ts';

// Calls of the client package that wait for a callback. A call whose callback was refused keeps waiting, and is used again.

export interface ClientCall {
  /** Context of the request that waits for its callback. */
  context: { messageId: string; transactionId: string };
  body: Buffer;
  authorization: string;
  /** Returns the call for the next case. */
  giveBack(): void;
  /** After an accepted callback: waits until the call has ended or has sent another request. */
  goOn(): Promise<void>;
}

export type CallbackName = 'onDiscover' | 'onPublish' | 'onPull';

/** How a method ended, as use-client.mjs reports it. */
export type ClientResult = Ended | { kind: 'unexpected'; stack: string };
export type Ended = { kind: 'done' } | { kind: 'refused'; code: string; message: string };

const methods: Record<CallbackName, { method: string; path: string; args: unknown[] }> = {
  onDiscover: { method: 'discover', path: actions.discover.path, args: ['tea'] },
  onPublish: { method: 'publish', path: actions.publish.path, args: [sampleCatalog] },
  onPull: { method: 'pull', path: actions.pull.path, args: ['0b6b2f6e-5b86-4a43-8a3c-0b7a6a2c1f01'] },
};

/** The maximum number of requests of one call, if every page names another. */
const maxPages = 20;

export async function awaitedCall(scene: Scene, callback: CallbackName): Promise<ClientCall> {
  const { free, requests } = stateOf(scene);
  const known = free[callback].pop();
  if (known) return known;
  const { method, path, args } = methods[callback];
  const transactionId = randomUUID();
  const arrival = () => new Promise<Sent>((resolve) => void requests.set(transactionId, resolve));
  scene.services.answer(path, (sent) => {
    requests.get(JSON.parse(sent.body.toString()).context.transactionId)?.(sent);
    return undefined;
  });
  let arriving = arrival();
  const options = { transactionId, downloadTimeoutMs: 2_000 };
  const ended = scene.client.ask({ method, args: [...args, options] }) as Promise<ClientResult>;
  let pages = 0;

  async function nextRequest(): Promise<Sent | undefined> {
    const sent = await Promise.race([arriving, ended.then(checkEnded).then(() => undefined)]);
    arriving = arrival();
    return sent;
  }

  function callOf({ body, authorization }: Sent): ClientCall {
    const call: ClientCall = {
      ...{ context: JSON.parse(body.toString()).context, body, authorization },
      giveBack: () => void free[callback].push(call),
      async goOn() {
        const next = await nextRequest();
        pages += 1;
        if (next && pages < maxPages) callOf(next).giveBack();
        else requests.delete(transactionId);
      },
    };
    return call;
  }

  const sent = await nextRequest();
  if (!sent) throw new Fault(`the client's ${method} ended before it was answered`);
  return callOf(sent);
}

/** For any input, the client package throws only its own error. */
export function checkEnded(ended: ClientResult): Ended {
  if (ended.kind === 'unexpected') throw new Fault(`the client package throws: ${ended.stack}`);
  return ended;
}

interface State {
  free: Record<CallbackName, ClientCall[]>;
  /** By transactionId: the functions that wait for the next request of a call. */
  requests: Map<string, (sent: Sent) => void>;
}

const states = new WeakMap<Scene, State>();

function stateOf(scene: Scene): State {
  const known = states.get(scene) ?? {
    ...{ free: { onDiscover: [], onPublish: [], onPull: [] }, requests: new Map() },
  };
  states.set(scene, known);
  return known;
}
