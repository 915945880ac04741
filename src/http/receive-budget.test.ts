import { describe, expect, it } from 'vitest';
import { createReceiveBudget, type Receipt, type Sender } from './receive-budget.ts';

const wholeBytes = 1_600;
const share = 200;
const small = 10;
const attacker = { source: '127.0.0.66', identity: 'bpp.example.org' };
const known = { source: '127.0.0.1', identity: 'bpp.example.org' };

describe('the receive budget', () => {
  it('gives each source its share, and takes back what is done', () => {
    const budget = createReceiveBudget({ wholeBytes });
    const [first, second] = [budget.open(attacker, small), budget.open(attacker, small)];
    first.take(150);
    expect(fits(second, 50)).toBe(true);
    expect(fits(second, 1)).toBe(false);
    first.close();
    first.close();
    expect(fits(second, 150)).toBe(true);
  });

  it('lets nobody spend the share of an identity who only knows its name', () => {
    const budget = createReceiveBudget({ wholeBytes });
    budget.vouch(known);
    fill(budget.open(attacker, small), share);
    expect(fits(budget.open(attacker, small), 1)).toBe(false);
    expect(fits(budget.open(known, small), share)).toBe(true);
    expect(fits(budget.open(known, small), 1)).toBe(false);
  });

  it('counts identities behind one address apart, once their signatures were verified', () => {
    const budget = createReceiveBudget({ wholeBytes });
    const behindIt = ['a', 'b', 'c'].map((identity) => ({ source: '127.0.0.1', identity }));
    for (const sender of behindIt) budget.vouch(sender);
    expect(behindIt.map((sender) => fits(budget.open(sender, small), share))).toEqual([true, true, true]);
  });

  it('keeps half of the whole for those who are known, however many addresses strangers have', () => {
    const budget = createReceiveBudget({ wholeBytes });
    budget.vouch(known);
    const strangers = Array.from({ length: 8 }, (_, index) =>
      budget.open({ source: `192.0.2.${index}` }, small),
    );
    expect(strangers.filter((receipt) => fits(receipt, share))).toHaveLength(4);
    expect(fits(budget.open(known, small), share)).toBe(true);
  });

  it('knows an identity from its last eight addresses', () => {
    const budget = createReceiveBudget({ wholeBytes });
    const from = (host: number): Required<Sender> => ({ source: `192.0.2.${host}`, identity: 'a' });
    for (let host = 0; host < 9; host += 1) budget.vouch(from(host));
    // If known, it fills the share of the identity; if unknown, that of the address.
    fill(budget.open(from(8), small), share);
    expect([0, 1].map((host) => fits(budget.open(from(host), small), share))).toEqual([true, false]);
  });

  it('has room for one body of the largest size that a route takes', () => {
    const budget = createReceiveBudget({ wholeBytes });
    expect(fits(budget.open(attacker, 500), 500)).toBe(true);
    expect(fits(budget.open(attacker, 500), 1)).toBe(false);
  });
});

function fits(receipt: Receipt, bytes: number): boolean {
  try {
    receipt.take(bytes);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'NET_OVERLOADED', retryAfterSeconds: 2 });
    return false;
  }
}

function fill(receipt: Receipt, bytes: number): void {
  expect(fits(receipt, bytes)).toBe(true);
}
