import { type LogRecord, SeverityNumber } from '@opentelemetry/api-logs';

const severities: Record<number, { severityNumber: SeverityNumber; severityText: string }> = {
  10: { severityNumber: SeverityNumber.TRACE, severityText: 'TRACE' },
  20: { severityNumber: SeverityNumber.DEBUG, severityText: 'DEBUG' },
  30: { severityNumber: SeverityNumber.INFO, severityText: 'INFO' },
  40: { severityNumber: SeverityNumber.WARN, severityText: 'WARN' },
  50: { severityNumber: SeverityNumber.ERROR, severityText: 'ERROR' },
  60: { severityNumber: SeverityNumber.FATAL, severityText: 'FATAL' },
};

/** A line of the log as a record of OpenTelemetry. `line` is what pino writes. */
export function logRecordOf(line: string): LogRecord {
  const { level, time, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const attributes = Object.entries(rest).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : value,
  ]);
  return {
    ...severities[Number(level)],
    timestamp: new Date(String(time)),
    body: String(msg ?? ''),
    attributes: Object.fromEntries(attributes),
  };
}
