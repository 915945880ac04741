import { expect, it } from 'vitest';
import type { Fetched, Fetcher } from './fetch.ts';
import { CrawlFault } from './reasons.ts';
import { createSparedHosts } from './spared-hosts.ts';

const { signal } = new AbortController();
const options = { maxBytes: 1, signal };

function makeHosts() {
  const asked: string[] = [];
  let seconds = 0;
  let isDown = true;
  const fetcher: Fetcher = {
    async fetch(url): Promise<Fetched> {
      asked.push(url);
      if (isDown) throw new CrawlFault('unreachable', 'It is down.', { url, hostFailed: true });
      return { kind: 'unchanged' };
    },
  };
  const hosts = createSparedHosts(fetcher, () => seconds * 1000);
  return {
    asked,
    fetch: (url: string) => hosts('node.example:443').fetch(url, options),
    wait(time: number) {
      seconds += time;
    },
    mend() {
      isDown = false;
    },
  };
}

it('another host that is in trouble is left in peace for a while, whatever is asked for there', async () => {
  const { asked, fetch, wait, mend } = makeHosts();
  await expect(fetch('https://files.example/1')).rejects.toMatchObject({ code: 'unreachable' });
  await expect(fetch('https://files.example/2')).rejects.toMatchObject({
    ...{ code: 'unreachable', url: 'https://files.example/2', hostFailed: true },
    retryAfterMs: expect.any(Number),
  });
  expect(asked).toEqual(['https://files.example/1']);
  wait(1);
  mend();
  await fetch('https://files.example/2');
  await fetch('https://files.example/3');
  expect(asked).toHaveLength(3);
});

it('the host itself that is worked at is asked: it rests by its lease', async () => {
  const { asked, fetch } = makeHosts();
  await expect(fetch('https://node.example/1')).rejects.toMatchObject({ code: 'unreachable' });
  await expect(fetch('https://node.example/2')).rejects.toMatchObject({ code: 'unreachable' });
  expect(asked).toHaveLength(2);
});
