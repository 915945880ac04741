// The process of an attacker: runs the named attack until it is stopped. It connects from 127.0.0.66.
import { createAttackTools } from './attack-tools.mjs';

const [name] = process.argv.slice(2);
/** After this time, an attack that has not ended is ended by force. */
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
