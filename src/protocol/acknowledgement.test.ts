import { describe, expect, it } from 'vitest';
import { Acknowledgement, ack, nack } from './acknowledgement.ts';
import { ProtocolError } from './errors.ts';
import { readNack, readNackBytes } from './nack.ts';
import { validator } from './validate.ts';

describe('acknowledgements', () => {
  const error = new ProtocolError('SCH_INVALID_ENUM', 'no', { path: '$.message' });

  it('say ACK with the messageId', () => {
    expect(ack('m-1')).toEqual({ message: { status: 'ACK', messageId: 'm-1' } });
  });

  it('say NACK with the error, and the messageId where it is known', () => {
    const told = { code: 'SCH_INVALID_ENUM', message: 'no', details: { path: '$.message' } };
    expect(nack(error, 'm-1')).toEqual({ message: { status: 'NACK', messageId: 'm-1', error: told } });
    expect(nack(error)).toEqual({ message: { status: 'NACK', error: told } });
  });

  it('say ACK with an error for what was received and not processed', () => {
    const nothing = new ProtocolError('BIZ_NO_RESULTS_FOUND', 'nobody here subscribes to it');
    expect(ack('m-1', nothing).message).toMatchObject({
      status: 'ACK',
      error: { code: 'BIZ_NO_RESULTS_FOUND' },
    });
  });

  it('are what their schema says', () => {
    for (const answer of [ack('m-1'), nack(error), nack(error, 'm-1')]) validator(Acknowledgement)(answer);
  });
});

describe('a NACK', () => {
  it('is read as it was written', () => {
    const error = new ProtocolError('SCH_INVALID_FORMAT', 'It is no date.', { path: '$.message.at' });
    const read = { code: 'SCH_INVALID_FORMAT', message: 'It is no date.', path: '$.message.at' };
    expect(readNack(JSON.parse(JSON.stringify(nack(error))))).toEqual(read);
    expect(readNackBytes(Buffer.from(JSON.stringify(nack(error))))).toEqual(read);
  });

  it.each([
    [undefined],
    [null],
    ['text'],
    [{ message: 'text' }],
    [{ message: { error: 'text' } }],
    [{ message: { error: { code: 7, message: [], details: { path: {} } } } }],
  ])('that says nothing is read as nothing: %j', (body) => {
    expect(readNack(body as never)).toEqual({});
  });

  it('in another form than JSON says nothing', () => {
    expect(readNackBytes(Buffer.from('<html>Bad Gateway</html>'))).toEqual({});
    expect(readNackBytes(Buffer.alloc(0))).toEqual({});
  });
});
