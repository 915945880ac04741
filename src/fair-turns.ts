/**
 * A semaphore with fair queueing, one queue per owner (an identity). The next turn goes to the waiting owner whose turns took the least time in the
 * last minute. For turns in a thread, this is processor time.
 *
 * With `shortMs`, for work that can start again, long turns make way for short ones:
 *
 *   - A turn is long after `shortMs`. While an owner whose turn may be short waits, at most half of the turns may be long. A long turn beyond that half is taken from the owner that has used the
 *     most time; owners known for short turns lose theirs last.
 *   - An owner that lost a turn is known for long ones, until one of its turns is short. While others ask, such owners share half of the turns.
 *   - The last turn is kept for owners known for short ones. While others ask as well, any other owner has at most half of the turns.
 *
 * So short work waits for a short time, however many owners have long work. Without `shortMs`, an owner keeps its turn until the work is done:
 *
 *   - While others ask as well, one owner has at most half of the turns.
 *   - An owner without a turn gets one even if `size` turns are taken, up to twice as many.
 */
export interface Turns {
  /** Rejects with NoTurn if no turn comes in time, or if too many calls of the owner already wait. Without an owner, it is work of the process itself. */
  take(owner: string | undefined, withinMs: number): Promise<Turn>;
  close(reason: Error): void;
}

export interface Turn {
  /** Counts the turn by a meter of milliseconds instead of elapsed time, until the returned function is called. */
  meter(read: () => number): () => void;
  /** Ends the turn. A second call does nothing. */
  end(): void;
  /** Frees the place for others early, because the work continues elsewhere. The turn still counts for its owner. */
  leave(): void;
  /** Aborted with TurnLost when the turn is taken away. */
  readonly lost: AbortSignal;
}

export class DeadlineExceeded extends Error {
  override readonly name: string = 'DeadlineExceeded';
}

/** The time was spent waiting; the request itself is not the cause. */
export class NoTurn extends DeadlineExceeded {
  override readonly name = 'NoTurn';
}

/** The turn was taken away. Its work may start again. */
export class TurnLost extends Error {
  override readonly name = 'TurnLost';
}

export interface TurnsOptions {
  size: number;
  /** Maximum turns of one owner. Default: all, or half while others ask. */
  perOwner?: number;
  maxWaiting?: number;
  /** Turns that last longer make way for others. */
  shortMs?: number;
  /** Milliseconds of a steady clock. */
  now?: () => number;
}

export function createTurns({
  size,
  perOwner,
  maxWaiting = Number.POSITIVE_INFINITY,
  shortMs,
  now = () => performance.now(),
}: TurnsOptions): Turns {
  const accounts = new Map<string | undefined, Account>();
  const queues = new Set<Account>();
  /** Turns that hold a place. */
  const held = new Set<HeldTurn>();
  const half = Math.max(1, Math.floor(size / 2));
  let sweptAt = now();
  let alarm: NodeJS.Timeout | undefined;
  let closed: Error | undefined;

  function accountOf(owner: string | undefined): Account {
    const known = accounts.get(owner);
    if (known) return known;
    const account: Account = { owner, spent: new Map(), turns: new Set(), waiting: [] };
    accounts.set(owner, account);
    return account;
  }

  function mayStart({ owner, turns, known }: Account): boolean {
    const isAlone = owner === undefined || accounts.size === 1;
    if (shortMs !== undefined) {
      if (isAlone || known === 'short') return held.size < size;
      const ofOthers = [...held].filter(({ account }) => account.known !== 'short');
      return (
        turns.size < half &&
        ofOthers.length < size - 1 &&
        held.size < size &&
        (known !== 'long' || findLong(shortMs).length < half)
      );
    }
    if (turns.size === 0) return held.size < size * 2;
    return held.size < size && turns.size < (perOwner ?? (isAlone ? size : half));
  }

  function start(account: Account): Turn {
    const losing = new AbortController();
    const release = () => {
      if (held.delete(turn)) charge(turn);
    };
    const lose = () => {
      account.turns.delete(turn);
      account.known = 'long';
      release();
      losing.abort(new TurnLost('the turn was taken away'));
    };
    const turn: HeldTurn = { account, at: now(), isLong: account.known === 'long', lose };
    account.turns.add(turn);
    held.add(turn);
    return {
      lost: losing.signal,
      meter(read) {
        const before = lengthOf(turn);
        const readAll = () => before + read();
        turn.read = readAll;
        return () => {
          if (turn.read === readAll) Object.assign(turn, { at: now() - readAll(), read: undefined });
        };
      },
      leave() {
        release();
        assign();
      },
      end() {
        if (account.turns.delete(turn) && lengthOf(turn) < (shortMs ?? 0)) account.known = 'short';
        release();
        assign();
      },
    };
  }

  function charge(turn: HeldTurn): void {
    const { spent } = turn.account;
    const slot = Math.floor(now() / slotMs);
    spent.set(slot, (spent.get(slot) ?? 0) + lengthOf(turn));
  }

  function lengthOf({ at, read }: HeldTurn): number {
    return read?.() ?? now() - at;
  }

  function spentBy({ spent }: Account): number {
    let sum = 0;
    for (const [slot, ms] of spent) {
      if (slot > now() / slotMs - slots) sum += ms;
      else spent.delete(slot);
    }
    return sum;
  }

  /** Unfinished turns count as well. */
  function used(account: Account): number {
    let sum = spentBy(account);
    for (const turn of account.turns) if (held.has(turn)) sum += lengthOf(turn);
    return sum;
  }

  function assign(): void {
    for (let next = findLeast(mayStart); next; next = findLeast(mayStart)) {
      const waiter = next.waiting.shift();
      if (next.waiting.length === 0) queues.delete(next);
      waiter?.begin(start(next));
    }
    if (shortMs !== undefined) giveWay(shortMs);
  }

  function findLeast(fits: (account: Account) => boolean): Account | undefined {
    let [best, least] = [undefined as Account | undefined, Number.POSITIVE_INFINITY];
    for (const account of queues) {
      const ms = used(account);
      const isLess = ms < least || (ms === least && account.turns.size < (best?.turns.size ?? 0));
      if (isLess && fits(account)) [best, least] = [account, ms];
    }
    return best;
  }

  function findLong(afterMs: number): HeldTurn[] {
    return [...held].filter((turn) => turn.isLong || lengthOf(turn) >= afterMs);
  }

  /** Takes a long turn away for a request that waits for a short one, or looks again soon. */
  function giveWay(afterMs: number): void {
    if (findLeast(({ known }) => known !== 'long') === undefined) return;
    const long = findLong(afterMs);
    const [most] = long.toSorted(
      ({ account: a, at: aAt }, { account: b, at: bAt }) =>
        Number(a.known === 'short') - Number(b.known === 'short') || spentBy(b) - spentBy(a) || bAt - aAt,
    );
    if (most !== undefined && long.length > half) {
      most.lose();
      assign();
      return;
    }
    alarm ??= setTimeout(() => {
      alarm = undefined;
      assign();
    }, afterMs / looksPerShortTurn).unref();
  }

  /** Runs rarely, so that many calls share the cost of the sweep. */
  function forgetIdle(): void {
    if (now() - sweptAt < slotMs) return;
    sweptAt = now();
    for (const [owner, account] of accounts)
      if (account.turns.size + account.waiting.length === 0 && spentBy(account) === 0) accounts.delete(owner);
  }

  function wait(account: Account, withinMs: number): Promise<Turn> {
    return new Promise((resolve, reject) => {
      const leave = (reason: Error) => {
        clearTimeout(timer);
        account.waiting = account.waiting.filter((other) => other !== waiter);
        if (account.waiting.length === 0) queues.delete(account);
        reject(reason);
        assign();
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
      assign();
    });
  }

  return {
    async take(owner, withinMs) {
      if (closed) throw closed;
      forgetIdle();
      const account = accountOf(owner);
      if (account.waiting.length === 0 && mayStart(account)) return start(account);
      if (account.waiting.length >= maxWaiting) throw new NoTurn(`${maxWaiting} already wait for a turn`);
      return await wait(account, withinMs);
    },
    close(reason) {
      closed = reason;
      clearTimeout(alarm);
      for (const { waiting } of queues) for (const waiter of [...waiting]) waiter.leave(reason);
    },
  };
}

/** While requests wait, long turns are looked for this often in the time of a short one. */
const looksPerShortTurn = 4;
/** Used time counts for a minute, in slots of ten seconds. */
const slotMs = 10_000;
const slots = 6;

interface Account {
  owner: string | undefined;
  /** Milliseconds, by the number of the slot in which a turn ended. */
  spent: Map<number, number>;
  /** Short after a short turn, long after a turn was taken away. */
  known?: 'short' | 'long';
  /** Unfinished turns, with or without a place. */
  turns: Set<HeldTurn>;
  waiting: Waiter[];
}

interface HeldTurn {
  account: Account;
  /** Time of the start. */
  at: number;
  isLong: boolean;
  /** Its length, if it is not the time since the start. */
  read?: () => number;
  lose(): void;
}

interface Waiter {
  begin(turn: Turn): void;
  leave(reason: Error): void;
}
