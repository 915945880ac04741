import pg from 'pg';
import type { Logger } from '../logger.ts';
import { connectionSettings } from './connection.ts';
import type { QueryOptions } from './database.ts';
import { plainReason } from './first-connection.ts';
import type { Position } from './freshness.ts';
import { describePooler, isFromPooler, isPooled } from './refuse-pooler.ts';
import { runStatement } from './statement.ts';

// One address of a streaming replica: its connections, how much of the primary's log the server behind each has replayed, and whether it is in use.
// Several servers may share an address (a load balancer), so facts about a server hold only for its own connections.

const connectTimeoutMs = 1_000;
const checkTimeoutMs = 1_000;
/** The pause before the position of a delayed server is read again. */
const checkAgainMs = 10;
const idleConnectionMs = 10 * 60_000;
/** The pause before a failed replica is tried again; doubles up to the longest. */
const [firstPauseMs, longestPauseMs] = [500, 30_000];

/** Identifies cluster, database and timeline of a server; `timeline` is an SQL expression. */
const identityText = (timeline: string) =>
  `concat_ws(' ', (pg_control_system()).system_identifier, (select oid from pg_database where datname = current_database()), ${timeline})`;
/** After a failover a replica may have replayed changes that the new primary never had: then its timeline is older. A role that may read statistics sees the timeline at once, others later. */
const replicaIdentity = identityText(
  'greatest((pg_control_recovery()).min_recovery_end_timeline, (select received_tli from pg_stat_wal_receiver))',
);
export const primaryIdentity = identityText(
  `('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int`,
);

export interface Primary extends Position {
  identity: string;
}

interface Server {
  isReplica: boolean;
  identity: string;
  lsn: number;
  /** Age of the newest transaction that it has replayed. */
  behindMs: number;
  checkedAt: number;
}

export interface Statement {
  text: string;
  values?: readonly unknown[];
  options: QueryOptions & { timeoutMs: number };
}

export interface ReplicaState {
  server: string;
  inUse: boolean;
  /** How many bytes of the primary's log it has not replayed, and the age of its newest transaction. */
  behindBytes?: number;
  behindMs?: number;
  problem?: string;
}

export interface ReplicaOptions {
  url: string;
  primary(): Primary | undefined;
  maxConnections: number;
  /** How soon the server ends a statement whose client is gone. */
  statementMs: number;
  logger: Logger;
}

type ReplicaAnswer<R> = { rows: R[]; rowCount: number } | 'behind' | 'failed';

export class Replica {
  readonly name: string;
  load = 0;
  private readonly options: ReplicaOptions;
  private pool: pg.Pool;
  private servers = new WeakMap<pg.PoolClient, Server>();
  /** The servers, by address and start time. */
  private readonly started = new Map<string, Server>();
  private latest: Server | undefined;
  private problem: string | undefined = 'not asked yet';
  private pauseMs = firstPauseMs;
  private retryAt = 0;

  constructor(options: ReplicaOptions) {
    this.options = options;
    this.name = new URL(options.url).host;
    this.pool = this.openPool();
  }

  get isInUse(): boolean {
    return this.problem === undefined;
  }

  async query<R extends object>(
    { text, values, options }: Statement,
    needed: Position,
  ): Promise<ReplicaAnswer<R>> {
    const { pool } = this;
    let client: pg.PoolClient | undefined;
    this.load++;
    try {
      client = await this.lend(needed);
      if (client === undefined) return 'behind';
      // This server gets half of the time. The other half is for the primary, in case this server does not answer.
      const answer = await runStatement<R>(client, text, values, {
        ...options,
        readTimeoutMs: options.timeoutMs / 2,
      });
      client.release();
      return answer;
    } catch (error) {
      // Without a connection, the server itself refused.
      const isOfStatement = client !== undefined && error instanceof pg.DatabaseError && !isRefusal(error);
      client?.release(!isOfStatement || error.severity === 'FATAL');
      if (!isOfStatement) this.fail(error, pool);
      this.options.logger.debug({ replica: this.name, err: error }, 'a replica did not answer a statement');
      return 'failed';
    } finally {
      this.load--;
    }
  }

  async hasReplayed(position: Position): Promise<boolean> {
    const { pool } = this;
    try {
      const client = await this.lend(position);
      client?.release();
      return client !== undefined;
    } catch (error) {
      this.fail(error, pool);
      return false;
    }
  }

  async look(): Promise<void> {
    const { pool } = this;
    if (performance.now() < this.retryAt) return;
    try {
      const client = await pool.connect();
      const server = await this.check(client).catch((error) => {
        client.release(true);
        throw error;
      });
      client.release();
      if (this.isInUse) this.pauseMs = firstPauseMs;
      this.note(findProblem(server, this.options.primary()));
    } catch (error) {
      this.fail(error, pool);
    }
  }

  describe(): ReplicaState {
    const [server, primary] = [this.latest, this.options.primary()];
    const isBehind = server && primary && server.lsn < primary.lsn;
    return {
      ...{ server: this.name, inUse: this.isInUse },
      ...(server && {
        behindBytes: isBehind ? primary.lsn - server.lsn : 0,
        behindMs: isBehind ? server.behindMs : 0,
      }),
      ...(this.problem !== undefined && { problem: this.problem }),
    };
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private openPool(): pg.Pool {
    const { url, maxConnections, statementMs } = this.options;
    const pool = new pg.Pool({
      ...connectionSettings(url),
      ...{ max: maxConnections, statement_timeout: statementMs },
      ...{ connectionTimeoutMillis: connectTimeoutMs, idleTimeoutMillis: idleConnectionMs },
    });
    // Without a listener, either event ends the process. Running statements fail as well.
    pool.on('error', (error) => this.fail(error, pool));
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  }

  /** A connection to a server that has replayed enough; undefined if it has not. */
  private async lend(needed: Position): Promise<pg.PoolClient | undefined> {
    const client = await this.pool.connect();
    try {
      let server = this.servers.get(client);
      const isCurrent =
        server && (server.lsn >= needed.lsn || performance.now() - server.checkedAt < checkAgainMs);
      if (server === undefined || !isCurrent) server = await this.check(client);
      if (shows(server, needed, this.options.primary())) return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
    client.release();
    return undefined;
  }

  private async check(client: pg.PoolClient): Promise<Server> {
    const { rows } = await runStatement<Omit<Server, 'checkedAt'> & { started: string; pid: number }>(
      client,
      `select pg_backend_pid() as pid, concat_ws(' ', pg_postmaster_start_time(), inet_server_addr(), inet_server_port()) as started,
         pg_is_in_recovery() as "isReplica", ${replicaIdentity} as identity,
         coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn, 0)::float8 as lsn,
         coalesce(round(1000 * extract(epoch from now() - pg_last_xact_replay_timestamp())), 0)::float8 as "behindMs"`,
      [],
      { prepared: true, readTimeoutMs: checkTimeoutMs },
    ).catch((error) => {
      throw isSlow(error) ? new Error('it does not answer', { cause: error }) : error;
    });
    const [row] = rows;
    if (row === undefined) throw new Error('no answer');
    const { started, pid, ...found } = row;
    if (isPooled(client, pid)) throw new Error(describePooler(this.options.url));
    const server = Object.assign(this.started.get(started) ?? {}, found, { checkedAt: performance.now() });
    this.started.set(started, server);
    this.servers.set(client, server);
    this.latest = server;
    return server;
  }

  /** Closes all its connections: if the machine is gone, each of them would otherwise wait for a timeout. */
  private fail(error: unknown, pool: pg.Pool): void {
    if (pool !== this.pool || isSlow(error)) return;
    this.retryAt = performance.now() + this.pauseMs;
    this.pauseMs = Math.min(2 * this.pauseMs, longestPauseMs);
    this.note(isFromPooler(error) ? describePooler(this.options.url) : plainReason(error));
    this.pool = this.openPool();
    this.servers = new WeakMap();
    this.started.clear();
    this.latest = undefined;
    void pool.end().catch(() => undefined);
  }

  private note(problem: string | undefined): void {
    if (problem === this.problem) return;
    const { logger } = this.options;
    if (problem === undefined) logger.info(`searches read from the replica ${this.name}`);
    else logger.warn(`searches do not read from the replica ${this.name}: ${problem}`);
    this.problem = problem;
  }
}

/** Whether a server is known to have every change up to a position of the primary. */
function shows(server: Server, needed: Position, primary: Primary | undefined): boolean {
  return (
    findProblem(server, primary) === undefined &&
    needed.server === primary?.server &&
    server.lsn >= needed.lsn
  );
}

function findProblem({ isReplica, identity }: Server, primary: Primary | undefined): string | undefined {
  if (!isReplica) return 'it is not a replica, or no longer one';
  if (primary === undefined) return 'the primary cannot be reached';
  return identity === primary.identity ? undefined : 'it does not follow the database of DATABASE_URL';
}

/** The server refuses every statement, because it is shutting down, starting or out of resources. */
function isRefusal({ code = '' }: pg.DatabaseError): boolean {
  return code.startsWith('57P') || code.startsWith('08') || code.startsWith('53');
}

/** A slow statement or exhausted pool says nothing about the server. pg has no code for either. */
function isSlow(error: unknown): boolean {
  return (
    error instanceof Error &&
    ['Query read timeout', 'timeout exceeded when trying to connect'].includes(error.message)
  );
}
