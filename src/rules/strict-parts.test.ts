import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advance, maxSends, namedCatalogs, nextPart, type Parts, splitWhole } from './strict-parts.ts';

describe('the path of an error', () => {
  it.each([
    ['$.message.catalogs[2].descriptor.short_desc', [2]],
    ["$['message']['catalogs'][2]['descriptor']", [2]],
    ['$["message"]["catalogs"][2]', [2]],
    ['/message/catalogs/2/offers/7/validity', [2]],
    ['#/message/catalogs/2', [2]],
    ['message/catalogs/2/provider', [2]],
    ['message.catalogs[2].id', [2]],
    ['catalogs/2/id', [2]],
    ['message/catalogs/2/id;message/catalogs/12/id;;message/catalogs/2/provider', [2, 12]],
  ])('%s names catalogs', (path, indexes) => expect(namedCatalogs(path)).toEqual(indexes));

  it.each([
    undefined,
    '',
    '$',
    '$.message.catalogs',
    '$.message.catalogs[*].id',
    '/message/pagination',
    '$.context.catalogs[1]',
    'descriptor/short_desc',
    'properties',
  ])('%s names none', (path) => expect(namedCatalogs(path)).toEqual([]));
});

interface Receiver {
  bad: readonly number[];
  says: 'the path' | 'nothing';
}

/** The parts that a receiver accepts after it has refused the whole message twice. */
function send(of: number, { bad, says }: Receiver): { accepted: number[][]; sends: number } {
  const pathOf = (part: readonly number[]) => {
    const culprit = part.findIndex((index) => bad.includes(index));
    return says === 'nothing' ? undefined : `/message/catalogs/${culprit}/descriptor`;
  };
  const whole = Array.from({ length: of }, (_, index) => index);
  const accepted: number[][] = [];
  let parts: Parts = splitWhole(of, 2, pathOf(whole));
  for (let part = nextPart(parts); part; part = nextPart(parts)) {
    const isBad = part.some((index) => bad.includes(index));
    if (!isBad) accepted.push([...part]);
    parts = advance(parts, isBad ? { path: pathOf(part) } : 'accepted');
  }
  expect(parts.accepted).toBe(accepted.flat().length);
  return { accepted, sends: parts.sends };
}

describe('a message that is refused in strict form', () => {
  it('is sent without the catalogs that are named, one refusal after the other', () => {
    expect(send(4, { bad: [1], says: 'the path' })).toEqual({ accepted: [[0, 2, 3]], sends: 3 });
    expect(send(4, { bad: [1, 2], says: 'the path' })).toEqual({ accepted: [[0, 3]], sends: 4 });
    expect(send(1, { bad: [0], says: 'the path' })).toEqual({ accepted: [], sends: 2 });
  });

  it('is sent in halves where none is named', () => {
    expect(send(8, { bad: [7], says: 'nothing' })).toEqual({
      accepted: [
        [0, 1, 2, 3],
        [4, 5],
      ],
      sends: 6,
    });
    expect(send(2, { bad: [0], says: 'nothing' })).toEqual({ accepted: [[1]], sends: 4 });
    expect(send(1, { bad: [0], says: 'nothing' })).toEqual({ accepted: [], sends: 2 });
  });

  it('is left as it is after six sends in all, and no catalog is accepted twice', () => {
    const receiver = fc.record({
      bad: fc.array(fc.nat({ max: 40 }), { minLength: 1 }),
      says: fc.constantFrom('the path' as const, 'nothing' as const),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 41 }), receiver, (of, { bad, says }) => {
        const here = [...bad, 0].filter((index) => index < of);
        const { accepted, sends } = send(of, { bad: here, says });
        expect(sends).toBeLessThanOrEqual(maxSends);
        expect(new Set(accepted.flat()).size).toBe(accepted.flat().length);
        const isOnlyOneBad = new Set(here).size === 1;
        if (isOnlyOneBad && says === 'the path') expect(accepted.flat()).toHaveLength(of - 1);
        if (isOnlyOneBad) expect(accepted.flat().length).toBeGreaterThanOrEqual(Math.floor(of / 2));
      }),
    );
  });

  it('goes on with the other parts where one is refused for another reason', () => {
    const halves = splitWhole(4, 2, undefined);
    expect(advance(halves, 'refused')).toEqual({ of: 4, sends: 3, open: [[2, 3]], accepted: 0 });
  });
});
