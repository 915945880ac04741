import type { CommandContext } from './command.ts';

const quietMs = 2_000;
const pauseMs = 5_000;

export async function withProgress<T>(context: CommandContext, what: string, work: () => Promise<T>) {
  const started = performance.now();
  const tell = () => {
    context.note(`${what}, ${Math.round((performance.now() - started) / 1_000)} s …`);
    timer = setTimeout(tell, pauseMs);
  };
  let timer = setTimeout(tell, quietMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
