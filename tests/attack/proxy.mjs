// A worker of a reverse proxy in front of a role: all requests come from its address, 127.0.0.77, and only X-Forwarded-For names the client. It
// streams bodies and buffers nothing. Runs in a separate process: started with an address, it serves that one.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as ask, createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const ownHost = '127.0.0.77';
const itself = fileURLToPath(import.meta.url);

export async function startProxy(target) {
  const child = fork(itself, [target]);
  const exited = once(child, 'exit');
  const [url] = await once(child, 'message');
  return {
    url,
    async close() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

if (process.argv[1] === itself) serve(process.argv[2]);

function serve(target) {
  const { hostname, port } = new URL(target);
  const agent = new Agent({ keepAlive: true, localAddress: ownHost });
  const server = createServer((request, response) => {
    const headers = { ...request.headers, 'x-forwarded-for': request.socket.remoteAddress };
    const { method, url: path } = request;
    const passed = ask({ hostname, port, method, path, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => response.writableFinished || passed.destroy());
    request.pipe(passed);
  });
  server.listen(0, ownHost, () => process.send(`http://${ownHost}:${server.address().port}`));
  process.on('disconnect', () => process.exit());
}
