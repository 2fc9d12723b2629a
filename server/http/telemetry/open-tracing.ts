// Opens OpenTelemetry: the official SDK, which sends spans to the operator's receiver as OTLP over HTTP with JSON. It is
// loaded here and nowhere else, and only where the operator names a receiver.

import { setTracer } from '../../lib/telemetry/tracing.ts'
import type { TracedProcess, TracingSettings } from '../../lib/telemetry/tracing-settings.ts'

/** Sends traces of this process to the receiver from now on. Without settings, nothing is loaded. */
export async function openTracing(
  settings: TracingSettings | undefined,
  traced: TracedProcess,
): Promise<{ close(): Promise<void> } | undefined> {
  if (!settings) return undefined
  const { createTracer } = await import('./otel-tracer.ts')
  const tracer = createTracer(settings, traced)
  setTracer(tracer)
  return {
    async close() {
      setTracer(undefined)
      await tracer.close()
    },
  }
}
