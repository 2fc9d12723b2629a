// The tracer on OpenTelemetry's SDK. Spans wait in a bounded queue. If the receiver is unavailable, spans are
// dropped, and requests are not affected.

import {
  type Context,
  type Span as OtelSpan,
  SpanKind as OtelSpanKind,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { withTimeout } from '../../lib/concurrency/with-timeout.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Span, SpanKind, SpanStart, Tracer } from '../../lib/telemetry/tracing.ts'
import type { TracedProcess, TracingSettings } from '../../lib/telemetry/tracing-settings.ts'

/** About 2 MB of spans. */
const QUEUE_MAX = 2_048
const BATCH_MAX = 512
const SEND_EVERY_MS = 1_000
const SEND_TIMEOUT_MS = 5_000
const CLOSE_MS = 2_000
const EXPORT_SUCCESS = 0

export function createTracer(settings: TracingSettings, { version, node, part }: TracedProcess): Tracer {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': settings.serviceName,
      'service.version': version,
      'service.instance.id': node,
      'towpath.process': part,
    }),
    sampler: toSampler(settings),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: logFailures(createExporter(settings)),
        maxQueueSize: QUEUE_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: SEND_TIMEOUT_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('towpath', version)
  return {
    start: (span) => startSpan(tracer, span),
    close: () => withTimeout(provider.shutdown(), CLOSE_MS, () => undefined).catch(() => undefined),
  }
}

const createExporter = ({ url, headers }: TracingSettings): SpanExporter =>
  new OTLPTraceExporter({ url, headers, timeoutMillis: SEND_TIMEOUT_MS, concurrencyLimit: 1 })

/** One line when sending begins to fail, and one when it works again. The batch of a failure is dropped. */
function logFailures(exporter: SpanExporter): SpanExporter {
  let failing = false
  return {
    export(spans, report) {
      exporter.export(spans, ({ code, error }) => {
        const failed = code !== EXPORT_SUCCESS
        if (failed && !failing)
          log.warn('traces_not_sent', describeError(error ?? 'the receiver refused them'))
        if (!failed && failing) log.info('traces_sent_again')
        failing = failed
        report({ code: EXPORT_SUCCESS })
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}

function toSampler({ sampler, ratio }: TracingSettings): Sampler {
  const roots = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  const [, parentBased, name] = /^(parentbased_)?(.+)$/.exec(sampler) ?? []
  const root = roots[name as keyof typeof roots]()
  return parentBased ? new ParentBasedSampler({ root }) : root
}

const KINDS: Record<SpanKind, OtelSpanKind> = {
  server: OtelSpanKind.SERVER,
  client: OtelSpanKind.CLIENT,
  internal: OtelSpanKind.INTERNAL,
}

const toEpochMs = (monotonic: number | undefined) =>
  monotonic === undefined ? undefined : performance.timeOrigin + monotonic

function startSpan(tracer: OtelTracer, { name, kind, parent, link, attributes, startedAt }: SpanStart): Span {
  const linked = parseTraceparent(link)
  const options = {
    kind: KINDS[kind],
    attributes,
    startTime: toEpochMs(startedAt ?? performance.now()),
    links: linked ? [{ context: linked }] : [],
  }
  return toSpan(tracer.startSpan(name, options, toContext(parent)))
}

function toSpan(span: OtelSpan): Span {
  return {
    traceparent: toTraceparent(span.spanContext()),
    rename: (name) => span.updateName(name),
    end({ attributes, failed = false, endedAt } = {}) {
      if (attributes) span.setAttributes(attributes)
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(toEpochMs(endedAt ?? performance.now()))
    },
  }
}

function toContext(parent: string | undefined): Context {
  const context = parseTraceparent(parent)
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT
}

const toTraceparent = ({ traceId, spanId, traceFlags }: SpanContext) =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`

/** Version 00. Any other text is ignored. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
