import { errorBody, type ProtocolError } from './errors.ts';
import { ErrorReport, oneOfTexts, titled } from './shapes.ts';
import { type Static, Type } from './type.ts';

export const Acknowledgement = titled('Acknowledgement', {
  message: Type.Object({
    status: oneOfTexts(['ACK', 'NACK']),
    messageId: Type.Optional(
      Type.String({
        description: "The request's, if it could be read; a new one in answers to GET and DELETE.",
      }),
    ),
    error: Type.Optional(ErrorReport),
  }),
});
export type Acknowledgement = Static<typeof Acknowledgement>;

/** With an error, something was received and is not processed (202), which is no failure. */
export function ack(messageId: string, error?: ProtocolError): Acknowledgement {
  return { message: { status: 'ACK', messageId, ...(error && { error: errorBody(error) }) } };
}

export function nack(error: ProtocolError, messageId?: string): Acknowledgement {
  return {
    message: { status: 'NACK', ...(messageId !== undefined && { messageId }), error: errorBody(error) },
  };
}
