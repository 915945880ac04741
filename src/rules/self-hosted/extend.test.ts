import { describe, expect, it } from 'vitest';
import { type Extender, extendTemplate, findHostedTemplate, type HostedMaster } from './extend.ts';

const extender: Extender = {
  node: 'shop/r',
  networkIds: ['a'],
  declared: new Map([['declared', 'facilitator/r']]),
};

function master(
  catalogKey: number,
  owner: string,
  catalogId: string,
  networkIds: string[] = ['a'],
): HostedMaster {
  return { id: 'bean', catalogKey, version: 1, edition: 1, bytes: 1, owner, catalogId, networkIds };
}

const declared = master(9, 'facilitator/r', 'declared');
const own = master(8, 'shop/r', 'own');
const first = master(1, 'other/r', 'other');
const second = master(2, 'another/r', 'another');
const find = (candidates: HostedMaster[], stored?: Parameters<typeof findHostedTemplate>[3]) =>
  findHostedTemplate('bean', candidates, extender, stored);
const extension = { extends: { masterResourceId: 'bean' } };

describe('the template of a crawled resource', () => {
  it('is that of a declared master, else of one of the node itself, else of the one that came first', () => {
    expect(find([first, second, own, declared])).toBe(declared);
    expect(find([first, second, own])).toBe(own);
    expect(find([first, second])).toBe(first);
    expect(find([])).toBeUndefined();
  });

  it('stays the one that the resource has, among those that are as near', () => {
    expect(find([first, second, own], { extension, template: second })).toBe(own);
    expect(find([first, second], { extension, template: second })).toBe(second);
  });

  it('is in a shared network; to name none means every one', () => {
    expect(find([master(1, 'x/r', 'x', ['b']), master(2, 'y/r', 'y', [])])?.catalogKey).toBe(2);
  });

  it('stays what it was when the master has dropped it, but only of the same master resource', () => {
    expect(find([], { extension, template: first })).toBe(first);
    expect(
      find([], { extension: { extends: { masterResourceId: 'leaf' } }, template: first }),
    ).toBeUndefined();
  });

  it('is not taken from another owner under the declared catalogId', () => {
    expect(find([master(1, 'impostor/r', 'declared'), declared])).toBe(declared);
  });
});

describe('a crawled resource under its template', () => {
  it('has the values of the template, and says which of its own they replace', () => {
    const own = coffee({ roast: 'light', origin: { country: 'ET', farm: 'Kaldi' } });
    const { assembled, overridden } = extendTemplate(
      { own, extension, template: first },
      coffee({ roast: 'dark', origin: { country: 'IN' } }),
    );
    expect(assembled).toEqual(coffee({ roast: 'dark', origin: { country: 'IN', farm: 'Kaldi' } }));
    expect(overridden).toEqual(['$.resourceAttributes.roast', '$.resourceAttributes.origin.country']);
  });
});

function coffee(attributes: object) {
  return {
    id: 'bean',
    resourceAttributes: { '@context': 'https://example.org/c', '@type': 'Coffee', ...attributes },
  };
}
