// A name server on loopback, over UDP: it answers questions for A and AAAA records as set, at once or never. Plain JavaScript, because the attack
// tests also use it, and those are not compiled.
import { createSocket } from 'node:dgram';

export async function startNameServer(zone) {
  const questions = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const { name, type, end } = readQuestion(message);
    questions.push(`${type} ${name}`);
    const records = zone(name, type);
    if (records !== 'silent')
      socket.send(answerTo(message.subarray(0, end), records, type), peer.port, peer.address);
  });
  await new Promise((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    stop: () => new Promise((resolve) => socket.close(resolve)),
  };
}

const headerBytes = 12;
const types = { 1: 'A', 28: 'AAAA' };
const responseFlags = 0x8180;
const responseCodes = { none: 0, failed: 2, unknown: 3 };
const usualTtlSeconds = 60;

function readQuestion(message) {
  const labels = [];
  let at = headerBytes;
  for (let length = message[at]; length > 0; length = message[at]) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const type = types[message.readUInt16BE(at + 1)] ?? 'other';
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

/** RFC 1035, 4.1: the repeated question, and a record for each address, which refers to the name by a pointer. */
function answerTo(question, records, type) {
  const addresses = records?.[type] ?? [];
  const code =
    records === 'failed' ? responseCodes.failed : records ? responseCodes.none : responseCodes.unknown;
  const header = Buffer.from(question.subarray(0, headerBytes));
  header.writeUInt16BE(responseFlags | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  const answers = addresses.map((address) => {
    const bytes = type === 'AAAA' ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number));
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc000 | headerBytes, 0);
    record.writeUInt16BE(type === 'AAAA' ? 28 : 1, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(records.ttlSeconds ?? usualTtlSeconds, 6);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([header, question.subarray(headerBytes), ...answers]);
}

function ipv6Bytes(address) {
  const [first, last] = `${address}::`.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array(8 - first.length - last.length).fill('0');
  return Buffer.from([...first, ...zeros, ...last].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
