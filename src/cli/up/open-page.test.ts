import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentContext } from '../../../tests/support/processes/command.ts';
import { until } from '../../../tests/support/time.ts';
import { readConfig } from '../../config.ts';
import { offerPage } from './open-page.ts';

describe('Enter on the terminal of signpost up', () => {
  let directory: string;
  let printed: string[];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-open-page-'));
    vi.stubEnv('PATH', directory);
    printed = [];
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(directory, { recursive: true, force: true });
  });

  const config = readConfig({ ROLES: 'console', CONSOLE_PORT: '4917' });

  /** Returns what a press of Enter does, and what ends the offer. */
  function offer({ isTerminal }: { isTerminal: boolean }) {
    let pressEnter: (() => void) | undefined;
    const write = (text: string) => void printed.push(text);
    const whenEnter = (act: () => void) => {
      if (!isTerminal) return undefined;
      pressEnter = act;
      return () => undefined;
    };
    const end = offerPage({ ...silentContext(), print: write, note: write, whenEnter }, config);
    return { pressEnter: () => pressEnter?.(), end };
  }

  it('opens the page of the console in a browser', async () => {
    const opened = join(directory, 'opened');
    for (const command of ['xdg-open', 'open']) {
      await writeFile(join(directory, command), `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`);
      await chmod(join(directory, command), 0o755);
    }
    const { pressEnter, end } = offer({ isTerminal: true });
    expect(printed).toEqual(['Enter opens the page in a browser.']);
    expect(end).toBeDefined();
    pressEnter();
    const read = () => readFile(opened, 'utf8').catch(() => '');
    await until(async () => (await read()) !== '', 'the browser to be started');
    expect(await read()).toBe('http://127.0.0.1:4917');
  });

  it('names the address where no browser can be started', async () => {
    offer({ isTerminal: true }).pressEnter();
    await until(() => printed.length > 1, 'the note');
    expect(printed[1]).toBe('No browser could be started here. The page is at http://127.0.0.1:4917');
  });

  it('is not offered where there is no terminal', () => {
    expect(offer({ isTerminal: false }).end).toBeUndefined();
    expect(printed).toEqual([]);
  });
});
