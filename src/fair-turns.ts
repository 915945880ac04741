/**
 * A semaphore whose permits are given out by fair queueing, one queue per owner (an identity): of all that wait, the owner comes next whose
 * turns took the least time lately. Nobody waits for what another owner has asked for before:
 *
 *   - while others ask as well, one owner holds at most half of the turns;
 *   - an owner that holds none gets one beyond the size, up to twice that: a turn is not taken away from who has it.
 */
export interface Turns {
  /** Rejects with NoTurn when none comes in time, or when too many of the owner wait already. No owner: work of the process itself. */
  take(owner: string | undefined, withinMs: number): Promise<Turn>;
  /** Rejects whoever waits. */
  close(reason: Error): void;
}

export interface Turn {
  /** To be called once; a second call does nothing. */
  end(): void;
}

export class DeadlineExceeded extends Error {
  override readonly name: string = 'DeadlineExceeded';
}

/** The time was spent waiting: what was asked for has nothing to do with it. */
export class NoTurn extends DeadlineExceeded {
  override readonly name = 'NoTurn';
}

export interface TurnsOptions {
  /** Turns at a time. */
  size: number;
  /** Turns of one owner at a time, also while nobody else asks; unless given, all then, and half while others ask. */
  perOwner?: number;
  /** How many of one owner may wait. */
  maxWaiting?: number;
  /** Milliseconds of a steady clock. */
  now?: () => number;
}

/** What an owner has used counts half as much after this time. */
const halfLifeMs = 10_000;
/** Then hardly anything of it counts. */
const forgetAfterMs = 6 * halfLifeMs;

export function createTurns({
  size,
  perOwner,
  maxWaiting = Number.POSITIVE_INFINITY,
  now = () => performance.now(),
}: TurnsOptions): Turns {
  const accounts = new Map<string | undefined, Account>();
  const queues = new Set<Account>();
  let held = 0;
  let sweptAt = now();
  let closed: Error | undefined;

  function accountOf(owner: string | undefined): Account {
    const known = accounts.get(owner);
    if (known) return known;
    const account: Account = { owner, usedMs: 0, atMs: now(), startedAt: new Set(), waiting: [] };
    accounts.set(owner, account);
    return account;
  }

  function mayStart({ owner, startedAt }: Account): boolean {
    if (startedAt.size === 0) return held < size * 2;
    const isAlone = owner === undefined || accounts.size === 1;
    const most = perOwner ?? (isAlone ? size : Math.max(1, Math.floor(size / 2)));
    return held < size && startedAt.size < most;
  }

  function start(account: Account): Turn {
    const turn = { at: now() };
    account.startedAt.add(turn);
    held += 1;
    return {
      end() {
        if (!account.startedAt.delete(turn)) return;
        held -= 1;
        charge(account, turn.at);
        assign();
      },
    };
  }

  function charge(account: Account, sinceMs: number): void {
    account.usedMs = decayed(account) + now() - sinceMs;
    account.atMs = now();
  }

  function decayed({ usedMs, atMs }: Account): number {
    return usedMs * 0.5 ** ((now() - atMs) / halfLifeMs);
  }

  /** Turns that are not over yet count as well. */
  function used(account: Account): number {
    let sum = decayed(account);
    for (const { at } of account.startedAt) sum += now() - at;
    return sum;
  }

  function assign(): void {
    for (let next = findNext(); next; next = findNext()) {
      const waiter = next.waiting.shift();
      if (next.waiting.length === 0) queues.delete(next);
      waiter?.begin(start(next));
    }
  }

  function findNext(): Account | undefined {
    let [best, least] = [undefined as Account | undefined, Number.POSITIVE_INFINITY];
    for (const account of queues) {
      const ms = used(account);
      if (ms < least && mayStart(account)) [best, least] = [account, ms];
    }
    return best;
  }

  /** Rarely, so that the sweep is paid for by many. */
  function forgetIdle(): void {
    if (now() - sweptAt < halfLifeMs) return;
    sweptAt = now();
    for (const [owner, { atMs, startedAt, waiting }] of accounts)
      if (startedAt.size === 0 && waiting.length === 0 && now() - atMs > forgetAfterMs)
        accounts.delete(owner);
  }

  function wait(account: Account, withinMs: number): Promise<Turn> {
    return new Promise((resolve, reject) => {
      const leave = (reason: Error) => {
        clearTimeout(timer);
        account.waiting.splice(account.waiting.indexOf(waiter), 1);
        if (account.waiting.length === 0) queues.delete(account);
        reject(reason);
      };
      const timer = setTimeout(() => leave(new NoTurn(`no turn came within ${withinMs} ms`)), withinMs);
      const waiter: Waiter = {
        begin(turn) {
          clearTimeout(timer);
          resolve(turn);
        },
        leave,
      };
      account.waiting.push(waiter);
      queues.add(account);
    });
  }

  return {
    async take(owner, withinMs) {
      if (closed) throw closed;
      forgetIdle();
      const account = accountOf(owner);
      if (account.waiting.length === 0 && mayStart(account)) return start(account);
      if (account.waiting.length >= maxWaiting) throw new NoTurn(`${maxWaiting} wait for a turn already`);
      return await wait(account, withinMs);
    },
    close(reason) {
      closed = reason;
      for (const { waiting } of queues) for (const waiter of [...waiting]) waiter.leave(reason);
    },
  };
}

interface Account {
  owner: string | undefined;
  /** As of `atMs`. */
  usedMs: number;
  atMs: number;
  startedAt: Set<{ at: number }>;
  waiting: Waiter[];
}

interface Waiter {
  begin(turn: Turn): void;
  leave(reason: Error): void;
}
