import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sourceOf } from '../http/source.ts';
import type { Logger } from '../logger.ts';
import { type Markers, readMarkers } from '../storage/console/markers.ts';
import type { Database } from '../storage/database.ts';
import type { Topic } from './answers/events.ts';
import { ConsoleError } from './errors.ts';
import { sealIn } from './operator-token.ts';
import { addRoute } from './route.ts';

// GET /api/events: server-sent events that name the changed topic; the page then reloads what it shows of it. One poll of the database per second
// serves all listeners, and only while there are any. So it sees the changes of other processes, too.

export type ConsoleEvents = ReturnType<typeof createEvents>;

const pollMs = 1_000;
const heartbeatMs = 15_000;
const reconnectMs = 3_000;
const maxStreams = 100;
/** Limit for readers without a token: other users of this machine must not block the operator. */
const maxFreeStreams = 50;
/** Limit for one reader. A browser has six connections to a host for all its tabs. */
const maxStreamsPerReader = 10;
/** A reader that reads nothing is disconnected at this many waiting bytes. */
const maxWaitingBytes = 64 * 1024;

export function addEventRoute(server: FastifyInstance, { events }: { events: ConsoleEvents }): void {
  addRoute(server, 'GET /api/events', {
    summary: 'Listen to changes (server-sent events).',
    description:
      'Events named `change`, with data as {"topic": "catalog", "at": "2026-01-01T00:00:00.000Z"}. Topics: catalog, delivery, crawl, publish, subscription, health, operator, inbox.',
    tag: 'Operator',
    answers: { 429: 'This client already has too many streams open.', 503: 'Too many streams are open.' },
    stays: true,
    async handle(_asked, request, reply) {
      events.add(reply.raw, readerOf(request));
      return reply.hijack();
    },
  });
}

/** A listener: a session, the bearer of the token, or otherwise an address. */
interface Reader {
  name: string;
  isOperator: boolean;
}

function readerOf({ operator, headers, ip }: FastifyRequest): Reader {
  const session = headers.authorization === undefined ? sealIn(headers.cookie) : undefined;
  return operator
    ? { name: session ?? `bearer ${operator.name}`, isOperator: true }
    : { name: sourceOf(ip), isOperator: false };
}

export function createEvents({ database, logger, now }: { database: Database; logger: Logger; now(): Date }) {
  const streams = new Map<ServerResponse, Reader>();
  const stop = new AbortController();
  let polling: Promise<void> | undefined;

  const write = (text: string) => {
    for (const stream of streams.keys()) {
      if (stream.writableLength > maxWaitingBytes) stream.destroy();
      else stream.write(text);
    }
  };
  const tell = (topic: Topic, id?: string) => {
    const data = { topic, ...(id !== undefined && { id }), at: now().toISOString() };
    write(`event: change\ndata: ${JSON.stringify(data)}\n\n`);
  };

  async function poll(): Promise<void> {
    let [last, beatAt]: [Markers | undefined, number] = [undefined, performance.now()];
    while (streams.size > 0 && !stop.signal.aborted) {
      const markers = await readMarkers(database).catch((error) => {
        logger.debug({ err: error }, 'the console could not find out what has changed');
        return undefined;
      });
      const changed = markers && last ? changedTopics(last, markers) : [];
      for (const topic of changed) tell(topic);
      // Pages reconnect at once; a revoked operator is then refused.
      if (changed.includes('operator'))
        for (const [stream, { isOperator }] of streams) if (isOperator) stream.end();
      last = markers ?? last;
      if (performance.now() - beatAt > heartbeatMs) {
        write(': still here\n\n');
        beatAt = performance.now();
      }
      await delay(pollMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  }

  /** Listeners that connect while the last poll ends get a new one. */
  async function pollWhileListened(): Promise<void> {
    while (streams.size > 0 && !stop.signal.aborted) await poll();
    polling = undefined;
  }

  return {
    /** Notifies the listeners of this process. Changes in the database need no call. */
    tell,
    /** Sends events until the reader disconnects. Throws if there are too many readers. */
    add(stream: ServerResponse, reader: Reader): void {
      const count = (isOne: (other: Reader) => boolean) => [...streams.values()].filter(isOne).length;
      if (count(({ name }) => name === reader.name) >= maxStreamsPerReader)
        throw new ConsoleError('AUT_RATE_LIMITED', 'You have too many pages of the console open.', busy);
      const isCrowded = !reader.isOperator && count(({ isOperator }) => !isOperator) >= maxFreeStreams;
      if (isCrowded || streams.size >= maxStreams || stop.signal.aborted)
        throw new ConsoleError('NET_OVERLOADED', 'Too many pages are already open.', busy);
      stream.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      stream.write(`retry: ${reconnectMs}\n\n`);
      streams.set(stream, reader);
      stream.on('close', () => streams.delete(stream));
      stream.on('error', () => streams.delete(stream));
      polling ??= pollWhileListened();
    },
    async close() {
      stop.abort();
      for (const stream of streams.keys()) stream.end();
      streams.clear();
      await polling;
    },
  };
}

/** The page retries after this time. */
const busy = { hint: 'Close some of them.', retryAfterSeconds: 15 };

function changedTopics(before: Markers, after: Markers): Topic[] {
  return (Object.keys(after) as (keyof Markers)[]).filter((topic) => before[topic] !== after[topic]);
}
