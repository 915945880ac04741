export interface Account {
  name: string;
  limit: number;
}

/** Amounts in use at once, by account. Each account has a limit, so that one party fills only its own share. The unit is the caller's. */
export function createShares() {
  const used = new Map<string, number>();
  const inUse = (name: string) => used.get(name) ?? 0;
  return {
    /** Takes from all of these accounts, or from none: then returns the first one without enough left. */
    take(accounts: readonly Account[], amount: number): Account | undefined {
      const full = accounts.find(({ name, limit }) => inUse(name) + amount > limit);
      if (full) return full;
      for (const { name } of accounts) used.set(name, inUse(name) + amount);
      return undefined;
    },
    giveBack(accounts: readonly Account[], amount: number): void {
      for (const { name } of accounts) {
        const left = inUse(name) - amount;
        if (left > 0) used.set(name, left);
        else used.delete(name);
      }
    },
  };
}
