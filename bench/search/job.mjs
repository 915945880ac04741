import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Evaluates questions (evaluate.mjs) in a fresh process. */
export async function evaluate(job) {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-bench-job-'));
  try {
    const file = join(directory, 'job.json');
    writeFileSync(file, JSON.stringify(job));
    const child = fork(new URL('./evaluate.mjs', import.meta.url), [file]);
    const exited = once(child, 'exit');
    const [result] = await Promise.race([
      once(child, 'message'),
      exited.then(([code]) => Promise.reject(new Error(`the evaluating process ended with ${code}`))),
    ]);
    await exited;
    return result;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
