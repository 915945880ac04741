import type { Config } from '../config.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';

/** Exports traces, metrics and logs of this process if the settings say so; otherwise no module of OpenTelemetry is loaded. */
export async function startTelemetry(config: Config, metrics: Metrics, logger: Logger) {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined || config.OTEL_SDK_DISABLED) return undefined;
  const { startSdk } = await import('./sdk.ts');
  return startSdk({
    serviceName: config.OTEL_SERVICE_NAME,
    exportEveryMs: config.OTEL_METRIC_EXPORT_INTERVAL,
    metrics,
    logger,
  });
}
