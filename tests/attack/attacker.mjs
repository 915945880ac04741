// The process of an attacker: runs the attack that it is named until it is told to stop. It comes from 127.0.0.66.
import { createAttackTools } from './attack-tools.mjs';

const [name] = process.argv.slice(2);
/** An attack that does not end by itself is ended. */
const endMs = 5_000;

process.on('disconnect', () => process.exit());
process.once('message', async (scene) => {
  const stopping = new AbortController();
  process.on('message', (message) => {
    if (message !== 'stop') return;
    stopping.abort();
    setTimeout(() => process.exit(), endMs).unref();
  });
  try {
    const { attack } = await import(`./attacks/${name}.mjs`);
    const tools = await createAttackTools(scene, stopping.signal);
    await attack({ ...scene, ...tools, underWay: () => process.send('under way'), signal: stopping.signal });
    process.send({ ...tools.counts }, () => process.exit());
  } catch (error) {
    process.send({ failure: error.stack }, () => process.exit(1));
  }
});
