import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { bodyDigest } from '../protocol/digest.ts';
import { spoolBody } from './spooled-body.ts';

async function* pieces(count: number): AsyncGenerator<string> {
  for (let index = 0; index < count; index += 1) yield `piece ${index} – ünïcode;`;
}

describe('an answer that is rendered before it is sent', () => {
  it.each([
    ['memory', 1_000_000],
    ['a file', 100],
    ['a file from the first byte on', 0],
  ])('is the same, with the same digest, from %s', async (_where, memoryBytes) => {
    const whole = await buffer(Readable.from(pieces(500), { objectMode: false }));
    const spooled = await spoolBody(pieces(500), { memoryBytes });
    expect(spooled.size).toBe(whole.length);
    expect(spooled.digest).toBe(bodyDigest(whole));
    expect(whole.equals(await buffer(spooled.stream()))).toBe(true);
  });

  it('may be empty', async () => {
    const spooled = await spoolBody(pieces(0));
    expect(spooled.digest).toBe(bodyDigest(new Uint8Array()));
    expect(await buffer(spooled.stream())).toHaveLength(0);
  });

  it('fails as its source fails', async () => {
    async function* broken() {
      yield 'much';
      yield 'more';
      throw new Error('the source broke');
    }
    await expect(spoolBody(broken(), { memoryBytes: 5 })).rejects.toThrow('the source broke');
  });

  it('frees its file when it is abandoned', async () => {
    const spooled = await spoolBody(pieces(500), { memoryBytes: 0 });
    const stream = spooled.stream();
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.destroy();
    await closed;
  });
});
